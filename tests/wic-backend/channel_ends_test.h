// Every pair of ends, every way, short and long messages: all arrive as sent. An end is the index of its device in the
// runtime, -1 for the CPU.
#pragma once

#include <thread>

#include "channel_test.h"

namespace wic::test {

struct EndsCase {
  int producer, consumer;
  Way way;
  std::uint32_t max_bytes;
  Path path = Path::automatic;
  bool monitored = false;
  bool together = false;  ///< the consumer requests all tags at once
};

inline std::string name_of(const EndsCase& c) {
  constexpr const char* kWays[] = {"naive", "poll", "park"};
  const auto end = [](int device) { return device < 0 ? std::string("cpu") : "dev" + std::to_string(device); };
  return end(c.producer) + "_" + end(c.consumer) + "_" + kWays[static_cast<int>(c.way)] + "_" +
         std::to_string(c.max_bytes) +
         (c.path == Path::engine   ? "_engine"
          : c.path == Path::stores ? "_stores"
                                   : "") +
         (c.monitored ? "_monitored" : "") + (c.together ? "_together" : "");
}

inline void produce_on_cpu(Channel& channel, std::uint32_t cycles) {
  const std::uint32_t tags = channel.spec().tags;
  for (std::uint32_t cycle = 1; cycle <= cycles; ++cycle) {
    for (Tag tag = 0; tag < tags; ++tag) {
      std::vector<std::byte> message(length(tag, cycle, channel.spec().max_bytes));
      fill(message, tag, cycle);
      const auto sent =
          channel.send(tag, cycle, message.data(), static_cast<std::uint32_t>(message.size()), kDeadlineNs);
      ASSERT_TRUE(sent) << sent.error().message;
      ASSERT_EQ(sent->status, wicprof::WaitStatus::satisfied) << "tag " << tag << ", cycle " << cycle;
    }
  }
}

inline void consume_on_cpu(Channel& channel, std::uint32_t cycles, bool together) {
  const std::uint32_t tags = channel.spec().tags;
  std::vector<Tag> all(tags);
  for (Tag tag = 0; tag < tags; ++tag) all[tag] = (tag * 5 + 3) % tags;
  for (std::uint32_t cycle = 1; cycle <= cycles; ++cycle) {
    if (together) {
      ASSERT_EQ(channel.receive_all(all, cycle, kDeadlineNs).status, wicprof::WaitStatus::satisfied) << cycle;
    }
    for (Tag tag = 0; tag < tags; ++tag) {
      if (!together) {
        ASSERT_EQ(channel.receive(tag, cycle, kDeadlineNs).wait.status, wicprof::WaitStatus::satisfied) << cycle;
      }
      const auto message = channel.message(tag, cycle);
      ASSERT_EQ(message.size(), length(tag, cycle, channel.spec().max_bytes)) << "tag " << tag << ", cycle " << cycle;
      ASSERT_EQ(wrong_bytes(message, tag, cycle), 0u) << "tag " << tag << ", cycle " << cycle;
      channel.release(tag, cycle);
    }
  }
}

/// `tags` must not share a divisor with 5 when the CPU consumes together.
inline void run_ends(ChannelBench& bench, const EndsCase& c, std::uint32_t tags, std::uint32_t cycles,
                     std::uint32_t threads) {
  ChannelSpec spec;
  spec.name = name_of(c);
  spec.producer = {c.producer};
  spec.consumer = {c.consumer};
  spec.tags = tags;
  spec.max_bytes = c.max_bytes;
  spec.way = c.way;
  spec.path = c.path;
  spec.monitored = c.monitored;
  auto channel = Channel::make(*bench.runtime, spec);
  ASSERT_TRUE(channel) << channel.error().message;

  const std::uint32_t received = c.consumer < 0 ? 0 : bench.count(static_cast<std::size_t>(c.consumer), kReceived);
  // All memory first: an allocation can wait for kernels that run.
  Array<std::byte> buffers;
  Array<Tag> list;
  const std::uint32_t stride = (c.max_bytes + 15) / 16 * 16;
  if (c.producer >= 0) {
    Device& device = bench.runtime->device(static_cast<std::size_t>(c.producer));
    buffers = *Array<std::byte>::make(device, std::size_t{tags} * stride, Memory::device);
  }
  if (c.consumer >= 0) {
    const auto at = static_cast<std::size_t>(c.consumer);
    list = *Array<Tag>::make(bench.runtime->device(at), tags, Memory::pinned_host);
    for (Tag tag = 0; tag < tags; ++tag) list[tag] = (tag * 5 + 3) % tags;
    const Receiver rx = *(*channel)->receiver();
    std::uint32_t* const counts = bench.counts[at].data();
    const Tag* const as = c.max_bytes % 2 == 0 ? list.data() : nullptr;
    if (c.together) {
      ASSERT_TRUE(launch(*bench.streams[at], {1, threads}, ReceiveTogether{rx, cycles, kDeadlineNs, as, counts}));
    } else {
      ASSERT_TRUE(launch(*bench.streams[at], {tags, threads}, ReceiveAll{rx, cycles, kDeadlineNs, counts}));
    }
  }
  if (c.producer >= 0) {
    const auto at = static_cast<std::size_t>(c.producer);
    ASSERT_TRUE(
        launch(*bench.streams[at], {tags, threads},
               SendAll{*(*channel)->sender(), buffers.data(), stride, cycles, kDeadlineNs, bench.counts[at].data()}));
  }
  std::thread producer;
  if (c.producer < 0) producer = std::thread([&] { produce_on_cpu(**channel, cycles); });
  if (c.consumer < 0) consume_on_cpu(**channel, cycles, c.together);
  if (producer.joinable()) producer.join();
  for (const int end : {c.producer, c.consumer}) {
    if (end < 0) continue;
    EXPECT_EQ(bench.count(static_cast<std::size_t>(end), kTimedOut), 0u);
    EXPECT_EQ(bench.count(static_cast<std::size_t>(end), kWrong), 0u);
  }
  if (c.consumer >= 0) {
    EXPECT_EQ(bench.count(static_cast<std::size_t>(c.consumer), kReceived) - received, tags * cycles);
  }
  EXPECT_EQ((*channel)->pending(), 0u);
}

}  // namespace wic::test
