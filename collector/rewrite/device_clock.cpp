#include "collector/rewrite/device_clock.h"

#include <atomic>
#include <cstring>
#include <utility>

#include "collector/rewrite/own_modules.h"

namespace wicprof::collector {

namespace {

constexpr std::uint32_t kExchanges = 16;
constexpr TimeNs kAnswerTimeout = 2 * kMillisecond;
// A kernel begins some 10 us after its launch where the device has a place for it.
constexpr TimeNs kAtOnce = 200 * kMicrosecond;

static_assert(offsetof(ClockWords, ping) == 4 && offsetof(ClockWords, pong) == 8);
static_assert(offsetof(ClockWords, device_ns) == 16 && kExchanges == 16);

std::uint32_t load(std::uint32_t& word) { return std::atomic_ref(word).load(std::memory_order_acquire); }

}  // namespace

bool DeviceClock::open(CUstream stream) {
  stream_ = stream;
  CUlibrary library = nullptr;
  if (driver_.launch == nullptr || load_own(driver_, clock_module(), library) != CUDA_SUCCESS) return false;
  void* words = nullptr;
  if (driver_.host_alloc(&words, sizeof(ClockWords), CU_MEMHOSTALLOC_DEVICEMAP) != CUDA_SUCCESS) return false;
  std::memset(words, 0, sizeof(ClockWords));
  words_ = static_cast<ClockWords*>(words);
  if (driver_.device_pointer(&address_, words, 0) != CUDA_SUCCESS) return false;
  return driver_.library_kernel(&kernel_, library, "__wic_clock") == CUDA_SUCCESS;
}

void DeviceClock::request() {
  if (requested_ || kernel_ == nullptr) return;
  void* arguments[] = {&address_, &next_ping_};
  taken_.reset();
  requested_ = driver_.launch(reinterpret_cast<CUfunction>(kernel_), 1, 1, 1, 1, 1, 1, 0, stream_, arguments,
                              nullptr) == CUDA_SUCCESS;
  taken_ = answer(kAtOnce);
}

std::optional<ClockEvent> DeviceClock::take(TimeNs patience) {
  return taken_ ? std::exchange(taken_, std::nullopt) : answer(patience);
}

std::optional<ClockEvent> DeviceClock::answer(TimeNs patience) {
  if (!requested_) return std::nullopt;
  const TimeNs until = now_ns() + patience;
  while (load(words_->started) != next_ping_) {
    if (now_ns() > until) return std::nullopt;
  }
  requested_ = false;
  return exchange();
}

std::optional<ClockEvent> DeviceClock::exchange() {
  std::optional<ClockEvent> best;
  const std::uint32_t first = next_ping_;
  next_ping_ += kExchanges;
  for (std::uint32_t ping = first; ping != next_ping_; ++ping) {
    const TimeNs sent = now_ns();
    std::atomic_ref(words_->ping).store(ping, std::memory_order_release);
    TimeNs received = sent;
    while (load(words_->pong) != ping) {
      received = now_ns();
      if (received - sent <= kAnswerTimeout) continue;
      if (load(words_->pong) == ping) break;  // this thread, and not the device, lost the time
      return best;
    }
    received = now_ns();
    const auto error = static_cast<std::uint32_t>((received - sent + 1) / 2);
    if (best && error >= best->error_ns) continue;
    best = make_event<ClockEvent>();
    best->device = device_;
    best->device_ns = std::atomic_ref(words_->device_ns).load(std::memory_order_relaxed);
    best->host_ns = sent + (received - sent) / 2;
    best->error_ns = error;
  }
  return best;
}

}  // namespace wicprof::collector
