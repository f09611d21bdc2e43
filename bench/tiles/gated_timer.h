// The device time of launches without the host's share: they are queued behind a kernel that waits until all are there.
#pragma once

#include <functional>
#include <memory>

#include "bench/memory.h"
#include "wic/launch.h"

namespace wicprof::bench {

/// One thread waits until the host has opened the gate that often.
struct Gate {
  const std::uint32_t* opened;
  std::uint32_t number;
  std::uint64_t timeout_ns;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (thread.index() != 0) return;
    const std::uint64_t end = thread.clock_ns() + timeout_ns;
    while (static_cast<std::int32_t>(thread.load(opened) - number) < 0 && thread.clock_ns() < end) {
      thread.sleep_ns(500);
    }
  }
};

class GatedTimer {
 public:
  Result<> prepare(wic::Device& device, wic::Stream& stream) {
    stream_ = &stream;
    if (auto r = allocate(opened_, device, kLine, wic::Memory::pinned_host); !r) return r;
    for (auto* event : {&begin_, &end_}) {
      auto made = device.make_event();
      if (!made) return made.error();
      *event = *std::move(made);
    }
    return ok();
  }

  /// Nanoseconds per call of `launch`, which queues work on the stream, has run before, and does not wait.
  Result<double> ns(std::uint32_t calls, const std::function<Result<>()>& launch) {
    if (auto r = wic::launch(*stream_, {1, 32}, Gate{opened_.data(), ++gates_, 100'000'000}); !r) return r.error();
    if (auto r = stream_->record(*begin_); !r) return r.error();
    const Result<> launched = launch_all(calls, launch);
    const Result<> recorded = stream_->record(*end_);
    __atomic_store_n(&opened_[0], gates_, __ATOMIC_RELEASE);
    if (auto r = stream_->synchronize(); !r) return r.error();
    if (!launched) return launched.error();
    if (!recorded) return recorded.error();
    const auto all = end_->ns_since(*begin_);
    if (!all) return all.error();
    return *all / calls;
  }

 private:
  static Result<> launch_all(std::uint32_t calls, const std::function<Result<>()>& launch) {
    for (std::uint32_t i = 0; i < calls; ++i) {
      if (auto r = launch(); !r) return r;
    }
    return ok();
  }

  wic::Stream* stream_ = nullptr;
  wic::Array<std::uint32_t> opened_;
  std::unique_ptr<wic::Event> begin_, end_;
  std::uint32_t gates_ = 0;
};

}  // namespace wicprof::bench
