// Programs that send messages: the code of docs/channels.md.
#pragma once

#include <array>
#include <cstring>
#include <numeric>
#include <span>

#include "wic/channel.h"
#include "wic/launch.h"
#include "wic/runtime.h"

constexpr std::uint32_t kCycles = 10;
constexpr std::uint32_t kCount = 100;  // floats per message
constexpr std::uint64_t kTimeoutNs = 5'000'000'000;

// [to_kernel]
struct AddUp {
  wic::Receiver rx;
  float* sums;            // kCount
  std::uint32_t* status;  // pinned host memory

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const wic::Group group = wic::block_group(thread);
    for (std::uint32_t cycle = 1; cycle <= kCycles; ++cycle) {
      const wic::Message message = rx.receive(thread, group, /*tag=*/0, cycle, kTimeoutNs);
      if (thread.index() == 0) *status = static_cast<std::uint32_t>(message.wait.status);
      if (message.data == nullptr) return;  // no message in time; the whole block leaves
      const auto* const numbers = reinterpret_cast<const float*>(message.data);
      for (std::uint32_t i = thread.index(); i < message.bytes / sizeof(float); i += thread.block_size()) {
        sums[i] += numbers[i];
      }
      rx.release(thread, group, /*tag=*/0, cycle);
    }
  }
};
// [end]

// [from_host]
inline wic::Result<std::unique_ptr<wic::Channel>> open_numbers(wic::Runtime& runtime) {
  return wic::Channel::make(runtime, {.name = "app.numbers",
                                      .producer = wic::End::cpu(),
                                      .consumer = wic::End::on(0),
                                      .max_bytes = kCount * sizeof(float)});
}

inline wic::Result<> feed(wic::Channel& numbers, wic::Stream& stream, float* sums, std::uint32_t* status) {
  const AddUp kernel{*numbers.receiver(), sums, status};
  if (auto launched = wic::launch(stream, {.blocks = 1, .threads = 64}, kernel); !launched) return launched;
  std::array<float, kCount> message;
  for (std::uint32_t cycle = 1; cycle <= kCycles; ++cycle) {
    message.fill(static_cast<float>(cycle));
    const auto sent = numbers.send(/*tag=*/0, cycle, message.data(), sizeof message, kTimeoutNs);
    if (!sent) return sent.error();
    if (sent->status != wic::WaitStatus::satisfied) return wic::unavailable("nobody takes the messages");
  }
  return stream.synchronize();
}
// [end]

// [from_kernel]
struct Square {
  wic::Sender tx;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const wic::Group group = wic::block_group(thread);
    for (std::uint32_t cycle = 1; cycle <= kCycles; ++cycle) {
      const wic::Place place = tx.place(thread, group, /*tag=*/0, cycle, kTimeoutNs);
      if (place.data == nullptr) return;  // no space in time: the consumer is two messages behind
      auto* const squares = reinterpret_cast<float*>(place.data);
      for (std::uint32_t i = thread.index(); i < kCount; i += thread.block_size()) {
        squares[i] = static_cast<float>(cycle * i * i);
      }
      tx.publish(thread, group, /*tag=*/0, cycle, kCount * sizeof(float));
    }
  }
};
// [end]

// [to_host]
inline wic::Result<std::unique_ptr<wic::Channel>> open_squares(wic::Runtime& runtime) {
  return wic::Channel::make(runtime, {.name = "app.squares",
                                      .producer = wic::End::on(0),
                                      .consumer = wic::End::cpu(),
                                      .max_bytes = kCount * sizeof(float)});
}

inline wic::Result<float> collect(wic::Channel& squares, wic::Stream& stream) {
  if (auto launched = wic::launch(stream, {.blocks = 1, .threads = 64}, Square{*squares.sender()}); !launched) {
    return launched.error();
  }
  float sum = 0;
  for (std::uint32_t cycle = 1; cycle <= kCycles; ++cycle) {
    const auto message = squares.receive(/*tag=*/0, cycle, kTimeoutNs);
    if (!message.wait) return wic::unavailable("no message in time");
    const auto* const numbers = reinterpret_cast<const float*>(message.data.data());
    sum = std::accumulate(numbers, numbers + message.data.size() / sizeof(float), sum);
    squares.release(/*tag=*/0, cycle);
  }
  if (auto done = stream.synchronize(); !done) return done.error();
  return sum;
}
// [end]

// [faces]
constexpr std::uint32_t kFaces = 6;

struct Halo {
  wic::Receiver rx;
  float* cube;  // kFaces * kCount

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const wic::Group group = wic::block_group(thread);
    for (std::uint32_t cycle = 1; cycle <= kCycles; ++cycle) {
      const wic::WaitResult wait = rx.receive_range(thread, group, /*first=*/0, kFaces, cycle, kTimeoutNs);
      if (!wait) return;
      for (wic::Tag face = 0; face < kFaces; ++face) {
        const wic::Message message = rx.message(wait, face, cycle);
        const auto* const numbers = reinterpret_cast<const float*>(message.data);
        for (std::uint32_t i = thread.index(); i < kCount; i += thread.block_size()) {
          cube[face * kCount + i] = numbers[i];
        }
        rx.release(thread, group, face, cycle);
      }
    }
  }
};

inline wic::Result<> send_faces(wic::Channel& halo, std::uint32_t cycle, std::span<const float> cube) {
  constexpr std::uint32_t kBytes = kCount * sizeof(float);
  for (wic::Tag face = 0; face < kFaces; ++face) {
    const auto place = halo.place(face, cycle, kTimeoutNs);
    if (place.data.empty()) return wic::unavailable("no space in time");
    std::memcpy(place.data.data(), cube.data() + face * kCount, kBytes);
  }
  return halo.publish_range(/*first=*/0, kFaces, cycle, kBytes);
}
// [end]

// [parts]
struct SendLarge {
  wic::Sender tx;
  const float* data;  // device memory
  std::uint32_t bytes;
  std::uint32_t parts;  // as many as blocks

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const wic::Group group = wic::block_group(thread);
    for (std::uint32_t cycle = 1; cycle <= kCycles; ++cycle) {
      const wic::WaitResult sent =
          tx.send_part(thread, group, /*tag=*/0, cycle, data, bytes, /*part=*/thread.block(), parts, kTimeoutNs);
      if (!sent) return;
    }
  }
};
// [end]

// [monitored]
inline wic::Result<std::unique_ptr<wic::Channel>> open_monitored(wic::Runtime& runtime) {
  return wic::Channel::make(runtime, {.name = "app.results",
                                      .producer = wic::End::on(0),
                                      .consumer = wic::End::cpu(),
                                      .tags = kFaces,
                                      .max_bytes = kCount * sizeof(float),
                                      .monitored = true});
}

inline wic::Result<float> add_all(wic::Channel& results, std::span<const wic::Tag> tags, std::uint32_t cycle) {
  const wic::WaitResult wait = results.receive_all(tags, cycle, kTimeoutNs);
  if (!wait) return wic::unavailable("not all messages came in time");
  float sum = 0;
  for (const wic::Tag tag : tags) {
    const auto message = results.message(tag, cycle);
    const auto* const numbers = reinterpret_cast<const float*>(message.data());
    sum = std::accumulate(numbers, numbers + message.size() / sizeof(float), sum);
    results.release(tag, cycle);
  }
  return sum;
}
// [end]

// [lost]
inline wic::Result<> stop_feeding(wic::Runtime& runtime, const wic::Channel& numbers) {
  return runtime.release_waiters(numbers.receiver()->data_site);
}
// [end]
