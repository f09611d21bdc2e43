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
  if (spec.rival == Rival::nblocking) channel.path = wic::Path::stores;
  if (spec.rival == Rival::demandcpy) channel.path = wic::Path::engine;
  if (auto made = lane->make_channels(lane->channels_, channel); !made) return made.error();
  if (spec.rival == Rival::effshare) {
    channel.name += ".push";
    channel.consumer = spec.producer;
    if (auto made = lane->make_channels(lane->ready_, channel); !made) return made.error();
    auto relay = Relay::make(runtime.device(static_cast<std::size_t>(spec.producer.device)), spec.tags);
    if (!relay) return relay.error();
    lane->relay_ = *std::move(relay);
  }
  return wic::Result<std::unique_ptr<Lane>>(std::move(lane));
}

wic::Result<> Lane::make_channels(std::unique_ptr<wic::Channel> (&channels)[2], wic::ChannelSpec channel) {
  channel.way = wic::Way::park;
  auto park = wic::Channel::make(runtime_, channel);
  if (!park) return park.error();
  channels[1] = *std::move(park);
  // Words polled with atomics need separate sites: a site must not mix them with other words.
  if (spec_.way == wic::Way::naive) {
    channel.name += ".naive";
    channel.way = wic::Way::naive;
  } else {
    channel.sites_of = channels[1].get();
    channel.way = wic::Way::poll;
  }
  auto own = wic::Channel::make(runtime_, channel);
  if (!own) return own.error();
  channels[0] = *std::move(own);
  return wic::ok();
}

Lane::Turn Lane::turn(std::uint32_t iteration) {
  const std::lock_guard lock(mutex_);
  while (assignments_.size() < iteration) {
    const std::uint32_t way = runtime_.mode(channels_[1]->data_site()) == wic::Mode::park ? 1 : 0;
    assignments_.push_back({++cycles_[way], way});
  }
  const auto [cycle, way] = assignments_[iteration - 1];
  wic::Channel* const arrival = channels_[way].get();
  return {relay_ != nullptr ? ready_[way].get() : arrival, {cycle, iteration}, way, arrival};
}

wic::Result<> Lane::carry(const Turn& turn, wic::Cycle first, std::uint32_t count, std::uint64_t timeout_ns) {
  if (relay_ == nullptr) return wic::ok();
  // The agents are on the producer's device, where the message is ready.
  return relay_->run(turn.agents_receiver(), turn.agents_sender(), first, count, timeout_ns);
}

}  // namespace sample
