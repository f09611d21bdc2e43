#include "collector/rewrite/device_clock.h"

#include <atomic>
#include <cstring>

namespace wicprof::collector {

namespace {

constexpr std::uint32_t kExchanges = 16;
constexpr TimeNs kAnswerTimeout = 2 * kMillisecond;

// One thread answers kExchanges pings, each of which has the number of the one before plus 1, and gives up 50 ms after
// its begin. The offsets are those of ClockWords.
constexpr char kClockPtx[] = R"(.version 6.3
.target sm_70
.address_size 64
.visible .entry __wic_clock(.param .u64 words, .param .u32 first)
{
.reg .pred %p, %q;
.reg .b32 %ping, %seen, %end;
.reg .b64 %w, %now, %until;
ld.param.u64 %w, [words];
ld.param.u32 %ping, [first];
add.u32 %end, %ping, 16;
mov.u64 %now, %globaltimer;
add.u64 %until, %now, 50000000;
st.volatile.u32 [%w], %ping;
again:
ld.volatile.u32 %seen, [%w+4];
setp.eq.u32 %p, %seen, %ping;
@%p bra answer;
mov.u64 %now, %globaltimer;
setp.gt.u64 %q, %now, %until;
@%q bra done;
bra again;
answer:
mov.u64 %now, %globaltimer;
st.volatile.u64 [%w+16], %now;
membar.sys;
st.volatile.u32 [%w+8], %ping;
add.u32 %ping, %ping, 1;
setp.lt.u32 %p, %ping, %end;
@%p bra again;
done:
ret;
}
)";
static_assert(offsetof(ClockWords, ping) == 4 && offsetof(ClockWords, pong) == 8);
static_assert(offsetof(ClockWords, device_ns) == 16 && kExchanges == 16);

std::uint32_t load(std::uint32_t& word) { return std::atomic_ref(word).load(std::memory_order_acquire); }

}  // namespace

bool DeviceClock::open(CUstream stream) {
  stream_ = stream;
  CUlibrary library = nullptr;
  if (driver_.launch == nullptr ||
      driver_.library_load(&library, kClockPtx, nullptr, nullptr, 0, nullptr, nullptr, 0) != CUDA_SUCCESS) {
    return false;
  }
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
  requested_ = driver_.launch(reinterpret_cast<CUfunction>(kernel_), 1, 1, 1, 1, 1, 1, 0, stream_, arguments,
                              nullptr) == CUDA_SUCCESS;
}

std::optional<ClockEvent> DeviceClock::take(TimeNs patience) {
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
      if (received - sent > kAnswerTimeout) return best;
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
