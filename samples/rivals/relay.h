// EffShare (PROACT, ISCA 2021) at application level: the producer writes a message to its own memory and counts it as
// ready; agent blocks on the producer's device wait for ready messages and push them into the consumer's memory with
// coalesced stores.
#pragma once

#include <cstdint>
#include <memory>

#include "wic/channel.h"
#include "wic/device.h"
#include "wic/runtime.h"

namespace sample {

/// The agents of one lane. One host thread.
class Relay {
 public:
  /// `producer`: the device that the agents run on. `tags`: of the lane's channels. Loads the agents' kernel. Errors:
  /// no memory; a device that cannot hold the agents.
  static wic::Result<std::unique_ptr<Relay>> make(wic::Device& producer, std::uint32_t tags);

  /// Queues the agents for all tags of the cycles `first` to `first + count - 1`; `first.iteration` counts on with the
  /// cycles. Launch them before the kernels that send these cycles, so that they are on the device before those kernels
  /// fill it. After a wait that ended without a message, this and all later agents end at once; the application's
  /// own waits then miss their deadlines.
  wic::Result<> run(const wic::Receiver& ready, const wic::Sender& out, wic::Cycle first, std::uint32_t count,
                    std::uint64_t timeout_ns);

 private:
  Relay() = default;

  std::uint32_t tags_ = 0;
  wic::LaunchShape shape_;
  wic::Array<std::uint32_t> stopped_;
  std::unique_ptr<wic::Stream> stream_;  // last: destroyed first, so its work ends before the memory is freed
};

}  // namespace sample
