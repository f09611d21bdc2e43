// A message path with two channels: one with the program's own way of waiting (naive or poll) and one with the
// backend's. The toggle selects the channel per iteration, so iterations before and after a toggle run exactly as they
// would without a toggle. With a rival of figure 17, both channels move messages in its way (rivals/rival.h).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rivals/relay.h"
#include "rivals/rival.h"
#include "wic/channel.h"
#include "wic/runtime.h"

namespace sample {

struct LaneSpec {
  std::string
      name;  ///< at most 36 bytes; wait sites: NAME.data and NAME.room, with Way::naive NAME.naive.data and .room
  wic::End producer, consumer;
  std::uint32_t tags = 1;
  std::uint32_t max_bytes = 8;
  wic::Way way = wic::Way::poll;  ///< the program's own way; park: poll if the toggle later asks for it
  bool monitored = false;         ///< see wic::ChannelSpec
  Rival rival = Rival::none;
};

/// Any thread.
class Lane {
 public:
  /// The channel and cycle of one iteration. Passed by value; kernels take receiver() or sender(), and `cycle`.
  struct Turn {
    wic::Channel* channel;    ///< the producer's; also the consumer's if one of them is the CPU
    wic::Cycle cycle;         ///< of `channel`; the same for all tags
    std::uint32_t way_index;  ///< 0: the program's own way, 1: the backend's
    wic::Channel* arrival;    ///< the consumer's

    wic::Receiver receiver() const { return *arrival->receiver(); }  ///< valid if the consumer is a device
    wic::Sender sender() const { return *channel->sender(); }        ///< valid if the producer is a device
    /// With EffShare, for the agents on the producer's device.
    wic::Receiver agents_receiver() const { return *channel->receiver(); }
    wic::Sender agents_sender() const { return *arrival->sender(); }
  };

  /// Errors: those of wic::Channel::make().
  static wic::Result<std::unique_ptr<Lane>> make(wic::Runtime& runtime, const LaneSpec& spec);

  /// The first caller for an iteration fixes its way of waiting from the site's current mode; later callers get the
  /// same answer. Both ends pass the same iteration numbers, from 1 on. Skipped iterations consume a cycle too, so send
  /// every tag in every iteration, or count cycles in the program.
  Turn turn(std::uint32_t iteration);

  /// Starts what moves the messages of these cycles in place of the producer's blocks; with most rivals, and without
  /// one, nothing. Call before the launch of the kernels that send them. One host thread.
  wic::Result<> carry(const Turn& turn, wic::Cycle first, std::uint32_t count, std::uint64_t timeout_ns);
  wic::Result<> carry(const Turn& turn, std::uint64_t timeout_ns) { return carry(turn, turn.cycle, 1, timeout_ns); }

  const LaneSpec& spec() const { return spec_; }
  wic::SiteId data_site() const { return channels_[1]->data_site(); }  ///< without Way::naive, of both channels

 private:
  struct Assignment {
    std::uint32_t cycle, way_index;
  };
  Lane(wic::Runtime& runtime, const LaneSpec& spec) : runtime_(runtime), spec_(spec) {}
  wic::Result<> make_channels(std::unique_ptr<wic::Channel> (&channels)[2], wic::ChannelSpec channel);

  wic::Runtime& runtime_;
  const LaneSpec spec_;
  std::unique_ptr<wic::Channel> channels_[2];
  std::unique_ptr<wic::Channel> ready_[2];  // with a relay: from the producer's blocks to the agents
  std::unique_ptr<Relay> relay_;            // after the channels that its work uses
  std::mutex mutex_;
  std::vector<Assignment> assignments_;  // index: iteration - 1
  std::uint32_t cycles_[2] = {0, 0};
};

}  // namespace sample
