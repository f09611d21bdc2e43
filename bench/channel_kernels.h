// Kernels of bench/channel.cpp, which send and receive as fast as possible.
#pragma once

#include "wic/channel.h"
#include "wic/launch.h"

namespace wicprof::bench {

inline constexpr std::uint64_t kDeadlineNs = 5'000'000'000;

/// Block b receives the cycles of tag b. `read`: adds up every message, like a consumer that uses the data.
struct Sink {
  wic::Receiver rx;
  std::uint32_t cycles;
  bool read;
  std::uint32_t* missed;  ///< device memory
  std::uint32_t* sums;    ///< device memory, one per thread

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const wic::Group group = wic::block_group(thread);
    std::uint32_t sum = 0;
    for (std::uint32_t cycle = 1; cycle <= cycles; ++cycle) {
      const wic::Message message = rx.receive(thread, group, thread.block(), cycle, kDeadlineNs);
      if (message.data == nullptr) {
        if (thread.index() == 0) thread.fetch_add(missed, 1);
        return;
      }
      if (read) sum += add_up(thread, message);
      rx.release(thread, group, thread.block(), cycle);
    }
    sums[thread.block() * thread.block_size() + thread.index()] = sum;
  }

 private:
  WIC_DEVICE static std::uint32_t add_up(const wic::Thread& thread, const wic::Message& message) {
    constexpr std::uint32_t kInFlight = 4;
    const auto* const quads = reinterpret_cast<const wic::CopyQuad*>(message.data);
    const std::uint32_t count = (message.bytes + 15) / 16, stride = thread.block_size();
    std::uint32_t sum = 0;
    for (std::uint32_t begin = thread.index(); begin < count; begin += kInFlight * stride) {
      wic::CopyQuad values[kInFlight] = {};
      for (std::uint32_t k = 0; k < kInFlight; ++k) {
        if (begin + k * stride < count) values[k] = quads[begin + k * stride];
      }
      for (const wic::CopyQuad& value : values) {
        sum += value.words[0] ^ value.words[1] ^ value.words[2] ^ value.words[3];
      }
      thread.step();
    }
    return sum;
  }
};

/// Sends the cycles of every tag. The tags share the blocks: block b sends part b / tags of tag b % tags.
struct Source {
  wic::Sender tx;
  const std::byte* data;
  std::uint32_t bytes, cycles, parts;
  std::uint32_t* missed;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const wic::Group group = wic::block_group(thread);
    const wic::Tag tag = thread.block() % tx.box.tags;
    const std::uint32_t part = thread.block() / tx.box.tags;
    for (std::uint32_t cycle = 1; cycle <= cycles; ++cycle) {
      const wic::WaitResult sent = parts == 1
                                       ? tx.send(thread, group, tag, cycle, data, bytes, kDeadlineNs)
                                       : tx.send_part(thread, group, tag, cycle, data, bytes, part, parts, kDeadlineNs);
      if (sent.status != wicprof::WaitStatus::satisfied) {
        if (thread.index() == 0) thread.fetch_add(missed, 1);
        return;
      }
    }
  }
};

/// Answers each 8-byte message; with `first`, sends each message and waits for the answer. Stores the time it took.
struct PingPong {
  wic::Receiver rx;
  wic::Sender tx;
  std::uint32_t cycles, warm_up;
  bool first;
  std::uint32_t* missed;
  std::uint64_t* took_ns;  ///< device memory
  std::uint32_t* buffer;   ///< device memory, 16 bytes

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const wic::Group group = wic::block_group(thread);
    std::uint64_t begin = 0;
    for (std::uint32_t cycle = 1; cycle <= cycles; ++cycle) {
      if (cycle == warm_up + 1) begin = thread.clock_ns();
      if (first) {
        if (thread.index() == 0) buffer[0] = cycle;
        if (tx.send(thread, group, 0, cycle, buffer, 8, kDeadlineNs).status != wicprof::WaitStatus::satisfied) break;
      }
      const wic::Message message = rx.receive(thread, group, 0, cycle, kDeadlineNs);
      if (message.data == nullptr || *reinterpret_cast<const std::uint32_t*>(message.data) != cycle) {
        if (thread.index() == 0) thread.fetch_add(missed, 1);
        return;
      }
      if (!first) {
        if (thread.index() == 0) buffer[0] = cycle;
        if (tx.send(thread, group, 0, cycle, buffer, 8, kDeadlineNs).status != wicprof::WaitStatus::satisfied) break;
      }
      rx.release(thread, group, 0, cycle);
    }
    if (thread.index() == 0) *took_ns = thread.clock_ns() - begin;
  }
};

/// Ping-pong with two bare flags and nothing else.
struct FlagPingPong {
  const std::uint32_t* in;
  std::uint32_t* out;
  std::uint32_t rounds, warm_up;
  bool first;
  std::uint32_t* missed;
  std::uint64_t* took_ns;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    std::uint64_t begin = 0;
    if (thread.index() != 0) return;
    const std::uint64_t deadline = thread.clock_ns() + kDeadlineNs;
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      if (round == warm_up + 1) begin = thread.clock_ns();
      if (first) thread.store_release(out, round);
      while (thread.load(in) != round) {
        if (thread.clock_ns() > deadline) {
          thread.fetch_add(missed, 1);
          return;
        }
      }
      thread.fence_acquire();
      if (!first) thread.store_release(out, round);
    }
    *took_ns = thread.clock_ns() - begin;
  }
};

}  // namespace wicprof::bench
