#include "cuda/clock_exchange.h"

#include <cstring>

#include "cuda/cuda_error.h"
#include "cuda/end_stream.h"
#include "cuda/kept_memory.h"
#include "protocol/time.h"

namespace wic::cuda {

namespace {

constexpr wicprof::TimeNs kAnswerTimeout = 2 * wicprof::kMillisecond;

std::uint32_t load(std::uint32_t& word) { return std::atomic_ref(word).load(std::memory_order_acquire); }

}  // namespace

void ClockExchange::close() {
  const bool ended = end_stream(stream_);  // the GPU thread has a deadline
  release_kept(mailbox_, !ended);
  stream_ = nullptr;
  mailbox_ = nullptr;
}

wicprof::Result<> ClockExchange::open() {
  void* memory = nullptr;
  if (const cudaError_t s = allocate_kept(&memory, sizeof(ClockMailbox), Memory::pinned_host); s != cudaSuccess) {
    return cuda_error("allocating pinned host memory", s);
  }
  std::memset(memory, 0, sizeof(ClockMailbox));
  mailbox_ = static_cast<ClockMailbox*>(memory);
  return check("making a stream", cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
}

void ClockExchange::request() {
  if (running_ && cudaStreamQuery(stream_) == cudaErrorNotReady) return;
  running_ = launch_clock_exchange(mailbox_, last_ping_ + 1, stream_) == cudaSuccess;
}

std::optional<ClockReading> ClockExchange::take() {
  if (!running_ || load(mailbox_->started) != last_ping_ + 1) return std::nullopt;
  running_ = false;
  return exchange();
}

std::optional<ClockReading> ClockExchange::exchange() {
  std::optional<ClockReading> best;
  for (std::uint32_t i = 0; i < kClockExchanges; ++i) {
    const wicprof::TimeNs sent = wicprof::now_ns();
    std::atomic_ref(mailbox_->ping).store(last_ping_ + 1 + i, std::memory_order_release);
    wicprof::TimeNs received = sent;
    while (load(mailbox_->pong) != last_ping_ + 1 + i) {
      received = wicprof::now_ns();
      if (received - sent > kAnswerTimeout) {
        last_ping_ += kClockExchanges;
        return best;
      }
    }
    received = wicprof::now_ns();
    const std::uint64_t device = std::atomic_ref(mailbox_->device_ns).load(std::memory_order_relaxed);
    const auto error = static_cast<std::uint32_t>((received - sent + 1) / 2);
    if (!best || error < best->error_ns) best = ClockReading{device, sent + (received - sent) / 2, error};
  }
  last_ping_ += kClockExchanges;
  return best;
}

}  // namespace wic::cuda
