// Messages with recognisable contents, kernels that send and check them, and a runtime for them.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "wic/channel.h"
#include "wic/launch.h"
#include "wic/runtime.h"

namespace wic::test {

inline constexpr std::uint64_t kDeadlineNs = 20'000'000'000;

/// The byte at `i` of the message (tag, cycle).
WIC_DEVICE inline std::uint8_t content(Tag tag, std::uint32_t cycle, std::uint32_t i) {
  return static_cast<std::uint8_t>((i * 2654435761u + tag * 40503u + cycle * 977u) >> 8);
}
/// The length of that message: 1 to max_bytes, pseudo-random.
WIC_DEVICE inline std::uint32_t length(Tag tag, std::uint32_t cycle, std::uint32_t max_bytes) {
  return 1 + ((tag * 7919u + cycle * 104729u) * 2654435761u >> 7) % max_bytes;
}

enum Count : std::uint32_t { kReceived, kWrong, kTimedOut, kCounts };

/// Block b sends the cycles of tag b; as many tags as blocks.
struct SendAll {
  Sender tx;
  std::byte* buffers;  ///< device memory, max_bytes per block, 16-byte aligned
  std::uint32_t stride;
  std::uint32_t cycles;
  std::uint64_t timeout_ns;
  std::uint32_t* counts;

  WIC_DEVICE void operator()(const Thread& thread) const {
    const Group group = block_group(thread);
    const Tag tag = thread.block();
    std::byte* const buffer = buffers + std::size_t{tag} * stride;
    for (std::uint32_t cycle = 1; cycle <= cycles; ++cycle) {
      const std::uint32_t bytes = length(tag, cycle, tx.box.max_bytes);
      for (std::uint32_t i = thread.index(); i < bytes; i += thread.block_size()) {
        buffer[i] = static_cast<std::byte>(content(tag, cycle, i));
      }
      thread.sync_block();
      const WaitResult sent = tx.send(thread, group, tag, cycle, buffer, bytes, timeout_ns);
      if (sent.status != wicprof::WaitStatus::satisfied) {
        thread.fetch_add(&counts[kTimedOut], 1);
        return;
      }
    }
  }
};

WIC_DEVICE inline void check_message(const Thread& thread, const Message& message, Tag tag, std::uint32_t cycle,
                                     std::uint32_t max_bytes, std::uint32_t* counts) {
  if (message.bytes != length(tag, cycle, max_bytes)) thread.fetch_add(&counts[kWrong], 1);
  for (std::uint32_t i = thread.index(); i < message.bytes && i < max_bytes; i += thread.block_size()) {
    if (static_cast<std::uint8_t>(message.data[i]) != content(tag, cycle, i)) thread.fetch_add(&counts[kWrong], 1);
    thread.step();
  }
  if (thread.index() == 0) thread.fetch_add(&counts[kReceived], 1);
}

/// Block b receives the cycles of tag b.
struct ReceiveAll {
  Receiver rx;
  std::uint32_t cycles;
  std::uint64_t timeout_ns;
  std::uint32_t* counts;

  WIC_DEVICE void operator()(const Thread& thread) const {
    const Group group = block_group(thread);
    const Tag tag = thread.block();
    for (std::uint32_t cycle = 1; cycle <= cycles; ++cycle) {
      const Message message = rx.receive(thread, group, tag, cycle, timeout_ns);
      if (message.wait.status != wicprof::WaitStatus::satisfied) {
        thread.fetch_add(&counts[kTimedOut], 1);
        return;
      }
      check_message(thread, message, tag, cycle, rx.box.max_bytes, counts);
      rx.release(thread, group, tag, cycle);
    }
  }
};

/// One block requests all tags of a cycle at once, by range or by list.
struct ReceiveTogether {
  Receiver rx;
  std::uint32_t cycles;
  std::uint64_t timeout_ns;
  const Tag* list;  ///< every tag once; nullptr = by range
  std::uint32_t* counts;

  WIC_DEVICE void operator()(const Thread& thread) const {
    const Group group = block_group(thread);
    const std::uint32_t tags = rx.box.tags;
    for (std::uint32_t cycle = 1; cycle <= cycles; ++cycle) {
      const WaitResult wait = list == nullptr ? rx.receive_range(thread, group, 0, tags, cycle, timeout_ns)
                                              : rx.receive_all(thread, group, list, tags, cycle, timeout_ns);
      if (wait.status != wicprof::WaitStatus::satisfied) {
        thread.fetch_add(&counts[kTimedOut], 1);
        return;
      }
      for (Tag tag = 0; tag < tags; ++tag) {
        check_message(thread, rx.message(wait, tag, cycle), tag, cycle, rx.box.max_bytes, counts);
      }
      for (Tag tag = 0; tag < tags; ++tag) rx.release(thread, group, tag, cycle);
    }
  }
};

/// A runtime with everything that the kernels above need.
class ChannelBench {
 public:
  /// False if there are no such devices; why() returns the reason.
  bool open(const std::string& devices, wicprof::Mode mode = wicprof::Mode::park) {
    RuntimeOptions options;
    options.devices = devices;
    options.mode = mode;
    auto made = Runtime::create(options);
    if (!made) {
      why_ = made.error().message;
      return false;
    }
    runtime = *std::move(made);
    for (std::size_t i = 0; i < runtime->device_count(); ++i) {
      streams.push_back(*runtime->device(i).make_stream());
      counts.push_back(*Array<std::uint32_t>::make(runtime->device(i), kCounts, Memory::device));
    }
    return true;
  }
  const std::string& why() const { return why_; }

  /// A counter of the kernels of that device, after they have ended.
  std::uint32_t count(std::size_t device, Count which) {
    auto host = *Array<std::uint32_t>::make(runtime->device(device), kCounts, Memory::pinned_host);
    EXPECT_TRUE(streams[device]->copy(host.data(), counts[device].data(), host.bytes()));
    const auto done = streams[device]->synchronize();
    EXPECT_TRUE(done) << done.error().message;
    return host[which];
  }

  std::unique_ptr<Runtime> runtime;
  std::vector<Array<std::uint32_t>> counts;
  std::vector<std::unique_ptr<Stream>> streams;

 private:
  std::string why_;
};

/// One block writes beside the channel and then sends a message of 8 bytes.
struct WriteThenTell {
  Sender tx;
  std::uint32_t* beside;  ///< pinned host memory: two halves, each one word per thread
  std::uint32_t* buffer;  ///< device memory, 8 bytes
  std::uint32_t cycles;

  WIC_DEVICE void operator()(const Thread& thread) const {
    const Group group = block_group(thread);
    for (std::uint32_t cycle = 1; cycle <= cycles; ++cycle) {
      if (tx.place(thread, group, 0, cycle, kDeadlineNs).data == nullptr) return;
      beside[(cycle & 1) * thread.block_size() + thread.index()] = cycle;
      if (thread.index() == 0) buffer[0] = cycle;
      tx.send(thread, group, 0, cycle, buffer, 8, kDeadlineNs);
    }
  }
};

/// From device 0 to the CPU.
inline void run_write_then_tell(ChannelBench& bench, Channel& channel, std::uint32_t cycles) {
  constexpr std::uint32_t kThreads = 128;
  Device& device = bench.runtime->device(0);
  const auto beside = *Array<std::uint32_t>::make(device, 2 * kThreads, Memory::pinned_host);
  const auto buffer = *Array<std::uint32_t>::make(device, 4, Memory::device);
  ASSERT_TRUE(
      launch(*bench.streams[0], {1, kThreads}, WriteThenTell{*channel.sender(), beside.data(), buffer.data(), cycles}));
  std::uint32_t stale = 0, missed = 0;
  for (std::uint32_t cycle = 1; cycle <= cycles; ++cycle) {
    if (channel.receive(0, cycle, kDeadlineNs).wait.status != wicprof::WaitStatus::satisfied) ++missed;
    if (missed != 0) break;
    for (std::uint32_t i = 0; i < kThreads; ++i) stale += beside[(cycle & 1) * kThreads + i] != cycle ? 1 : 0;
    channel.release(0, cycle);
  }
  EXPECT_TRUE(bench.streams[0]->synchronize());
  EXPECT_EQ(missed, 0u);
  EXPECT_EQ(stale, 0u);
}

inline void fill(std::span<std::byte> to, Tag tag, std::uint32_t cycle) {
  for (std::uint32_t i = 0; i < to.size(); ++i) to[i] = static_cast<std::byte>(content(tag, cycle, i));
}
/// The number of wrong bytes.
inline std::uint32_t wrong_bytes(std::span<const std::byte> message, Tag tag, std::uint32_t cycle) {
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < message.size(); ++i) {
    wrong += static_cast<std::uint8_t>(message[i]) != content(tag, cycle, i) ? 1 : 0;
  }
  return wrong;
}

}  // namespace wic::test
