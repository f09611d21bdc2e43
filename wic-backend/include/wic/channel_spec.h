// Describes a channel: a path for messages from one end to another, each the CPU or a device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "wic/platform.h"

namespace wic {

class Channel;
class MessagePages;

using Tag = std::uint32_t;  ///< names a datum: 0..tags-1

/// The number of a message of its tag, from 1. Converts from a plain number. A program that counts its iterations
/// differently passes its own count as well, for the trace.
struct Cycle {
  std::uint32_t number;
  std::uint32_t iteration;

  WIC_DEVICE constexpr Cycle(std::uint32_t n) : number(n), iteration(n) {}  // NOLINT: implicit on purpose
  WIC_DEVICE constexpr Cycle(std::uint32_t n, std::uint32_t of_program) : number(n), iteration(of_program) {}
  WIC_DEVICE constexpr operator std::uint32_t() const { return number; }  // NOLINT: implicit on purpose
};

/// How a channel carries messages and how its ends wait.
enum class Way : std::uint8_t {
  naive,  ///< Algorithm 1 of the WIC paper: flags and data in managed memory, one thread polls by atomicAdd(flag, 0)
  poll,   ///< careful polling: one flag per tag on its own line, plain loads, copies or zero copy by size
  park,   ///< the WIC backend: pages and availability bits in the consumer's memory, which the producer pushes to
};

/// How messages from the CPU reach a device.
enum class Path : std::uint8_t {
  automatic,  ///< by max_bytes: see kMaxStoredBytes
  stores,     ///< stay in pinned host memory, where the device reads them
  engine,     ///< a copy engine brings them to the device's memory
};

/// One end of a channel.
struct End {
  int device = -1;  ///< its index in the Runtime; -1 = the CPU

  static constexpr End cpu() { return {}; }
  static constexpr End on(int device_index) { return {device_index}; }
  constexpr bool is_cpu() const { return device < 0; }
};

/// From the CPU to a device, channels of messages up to this size use Path::stores: the waiting kernel reads such a
/// message across the bus, without the start of a copy engine. On an H200 the engine is faster from 128 KiB on where
/// one message is in flight, and from larger sizes where several are (docs/results/channel.h200.json, rows path_*).
inline constexpr std::uint32_t kMaxStoredBytes = 64 * 1024;

struct ChannelSpec {
  std::string name;  ///< at most 42 bytes; the channel's sites are NAME.data and NAME.room
  End producer, consumer;
  std::uint32_t tags = 1;       ///< 1 to 2^24
  std::uint32_t max_bytes = 8;  ///< of a message; 1 to 2^30
  Way way = Way::park;
  Path path = Path::automatic;  ///< CPU to device, way poll or park
  /// Consumer on the CPU, way park: threads that wait for several tags sleep until an event of the producer wakes them
  /// (or nap for 50 us at a time, where its device cannot). Costs the producer one atomic add per message. Without it
  /// they wait for one tag after another.
  bool monitored = false;
  /// The channel uses the wait sites of this one instead of adding its own: two ways for one path of messages.
  const Channel* sites_of = nullptr;
  /// Memory for the messages; none = the channel allocates its own pages. Way naive has no pages.
  std::shared_ptr<MessagePages> pages = {};
};

}  // namespace wic
