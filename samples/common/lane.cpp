#include "common/lane.h"

#include <utility>

namespace sample {

wic::Result<std::unique_ptr<Lane>> Lane::make(wic::Runtime& runtime, const LaneSpec& spec) {
  std::unique_ptr<Lane> lane(new Lane(runtime, spec));
  wic::ChannelSpec channel;
  channel.name = spec.name;
  channel.producer = spec.producer;
  channel.consumer = spec.consumer;
  channel.tags = spec.tags;
  channel.max_bytes = spec.max_bytes;
  channel.monitored = spec.monitored;
  channel.way = wic::Way::park;
  auto park = wic::Channel::make(runtime, channel);
  if (!park) return park.error();
  lane->channels_[1] = *std::move(park);
  // Words polled with atomics need separate sites: a site must not mix them with other words.
  if (spec.way == wic::Way::naive) {
    channel.name = spec.name + ".naive";
    channel.way = wic::Way::naive;
  } else {
    channel.sites_of = lane->channels_[1].get();
    channel.way = wic::Way::poll;
  }
  auto own = wic::Channel::make(runtime, channel);
  if (!own) return own.error();
  lane->channels_[0] = *std::move(own);
  return wic::Result<std::unique_ptr<Lane>>(std::move(lane));
}

Lane::Turn Lane::turn(std::uint32_t iteration) {
  const std::lock_guard lock(mutex_);
  while (assignments_.size() < iteration) {
    const std::uint32_t way = runtime_.mode(channels_[1]->data_site()) == wic::Mode::park ? 1 : 0;
    assignments_.push_back({++cycles_[way], way});
  }
  const Assignment assignment = assignments_[iteration - 1];
  return {channels_[assignment.way_index].get(), {assignment.cycle, iteration}, assignment.way_index};
}

}  // namespace sample
