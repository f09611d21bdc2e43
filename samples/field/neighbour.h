// A kernel that works on the same device beside a program whose blocks wait: what it does per second shows whom the
// waiting slows. It needs nothing of the program, and ends when the program's kernel ends.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "wic/launch.h"
#include "wic/runtime.h"

namespace sample {

/// What bounds the neighbour.
enum class NeighbourKind : std::uint8_t {
  none,
  memory,   ///< reads a large array in device memory, as the weights of a model are read
  host,     ///< reads a large array in pinned host memory in place, as rows of tables too large for the device are read
  compute,  ///< multiplies and adds in registers
};

/// For the program's kernel: counts its blocks, and ends the neighbour after the last one.
struct NeighbourStop {
  std::uint32_t* stop = nullptr;  ///< device memory; nullptr: no neighbour
  std::uint32_t* ended = nullptr;
  std::uint32_t run = 0;

  /// One thread of each block calls it, as the last thing that the block does.
  WIC_DEVICE void block_ends(const wic::Thread& thread) const {
    if (stop == nullptr) return;
    if (thread.fetch_add(ended, 1) + 1 == run * thread.block_count()) thread.store(stop, run);
  }
};

/// A kernel of one block that ends the neighbour, for programs that work in many kernels.
struct EndNeighbour {
  NeighbourStop neighbour;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (thread.index() == 0) neighbour.block_ends(thread);
  }
};

/// One host thread.
class Neighbour {
 public:
  /// The help text of a program's option, and its values.
  static constexpr const char* kHelp =
      "what works beside the waiting blocks: memory (reads device memory), host (reads host memory), compute, none";
  /// Error: an unknown word.
  static wic::Result<NeighbourKind> kind_of(const std::string& word);

  /// `sharing`: neighbours on this device. Errors: too little memory. With NeighbourKind::none, start() and finish() do
  /// nothing.
  static wic::Result<std::unique_ptr<Neighbour>> make(wic::Device& device, NeighbourKind kind, std::uint32_t sharing,
                                                      std::uint64_t timeout_ns);
  virtual ~Neighbour() = default;

  /// For a launch of the program's kernel, of as many blocks in each run. Call before start().
  virtual NeighbourStop next_run() = 0;
  /// The neighbour's kernel, for wic::check_co_resident(); its kernel refers to this object. No blocks: none.
  virtual wic::PlannedLaunch planned() const = 0;
  /// The program's blocks that wait fit the device beside it.
  virtual wic::Result<> start() = 0;
  /// Waits for the neighbour's end, which the program's kernel brings about. Error: wic::failed, a deadline passed.
  virtual wic::Result<> finish() = 0;

  /// nullptr: no neighbour.
  virtual const char* unit() const = 0;
  /// What it did since the last call.
  virtual double take_work() = 0;
};

}  // namespace sample
