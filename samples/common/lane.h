// A path of messages in two ways: the program's own (naive or poll) and the backend's. Which one an iteration takes
// follows the toggle, so that what comes before it and what comes after it are the ways as they would be alone.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "wic/channel.h"
#include "wic/runtime.h"

namespace sample {

struct LaneSpec {
  std::string name;  ///< at most 36 bytes; the wait sites are NAME.data and NAME.room, in the naive way NAME.naive.data
                     ///< and .room
  wic::End producer, consumer;
  std::uint32_t tags = 1;
  std::uint32_t max_bytes = 8;
  wic::Way way = wic::Way::poll;  ///< the program's own; park: poll, should the toggle ask for it
  bool monitored = false;         ///< see wic::ChannelSpec
};

/// Any thread.
class Lane {
 public:
  /// What an iteration sends and receives with. By value; kernels take receiver() or sender(), and `cycle`.
  struct Turn {
    wic::Channel* channel;
    wic::Cycle cycle;         ///< of the channel; the same for all tags
    std::uint32_t way_index;  ///< 0: the program's own way, 1: the backend's

    wic::Receiver receiver() const { return *channel->receiver(); }  ///< the consumer is a device
    wic::Sender sender() const { return *channel->sender(); }        ///< the producer is a device
  };

  /// Errors: those of wic::Channel::make().
  static wicprof::Result<std::unique_ptr<Lane>> make(wic::Runtime& runtime, const LaneSpec& spec);

  /// The first to ask for an iteration decides by how the site is wanted to wait just then; all others get the same.
  /// Both ends ask with the same numbers, from 1 on; an iteration that nobody asks for has its turn all the same, and
  /// its messages would be missed: each tag is sent in each iteration, or the program keeps count itself.
  Turn turn(std::uint32_t iteration);

  const LaneSpec& spec() const { return spec_; }

 private:
  struct Place {
    std::uint32_t cycle, way_index;
  };
  Lane(wic::Runtime& runtime, const LaneSpec& spec) : runtime_(runtime), spec_(spec) {}

  wic::Runtime& runtime_;
  const LaneSpec spec_;
  std::unique_ptr<wic::Channel> channels_[2];
  std::mutex mutex_;
  std::vector<Place> places_;  // of the iterations from 1 on
  std::uint32_t cycles_[2] = {0, 0};
};

}  // namespace sample
