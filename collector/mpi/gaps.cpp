#include "collector/mpi/gaps.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace wicprof::collector {

constinit thread_local MpiGaps* MpiGaps::own = nullptr;

MpiGaps::Reading MpiGaps::read(TimeNs at) noexcept {
  const int programs = errno;
  timespec cpu{};
  Reading now{at, read_.cpu, -1};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) == 0) {
    now.cpu = cpu.tv_sec * kSecond + cpu.tv_nsec;
    now.run_delay = run_delay_.read(Switches::now());
  }
  errno = programs;
  return now;
}

/// The time from the last call to `at`, in which the thread did more than run: with the counters.
void MpiGaps::add_last(TimeNs at) noexcept {
  const TimeNs gap = at - left_;
  const Reading now = read(at);
  const TimeNs before = std::max<TimeNs>(left_ - read_.at, 0);  // since the last reading: on a CPU
  const TimeNs cpu = std::clamp<TimeNs>(now.cpu - read_.cpu - before, 0, gap);
  sums_.cpu_ns += cpu;
  if (now.run_delay < 0 || read_.run_delay < 0) {
    if (cpu + kShort < gap) sums_.run_delay_ns = -1;
  } else if (sums_.run_delay_ns >= 0) {
    sums_.run_delay_ns += std::clamp<TimeNs>(now.run_delay - read_.run_delay, 0, gap - cpu);
  }
  read_ = now;
}

std::optional<MpiGapEvent> MpiGaps::take() noexcept {
  if (sums_.gaps == 0) return std::nullopt;
  auto event = make_event<MpiGapEvent>();
  event.begin_ns = sums_.begin_ns;
  event.end_ns = sums_.end_ns;
  event.outside_ns = sums_.outside_ns;
  event.cpu_ns = sums_.cpu_ns;
  event.run_delay_ns = sums_.run_delay_ns;
  event.thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
  event.gaps = sums_.gaps;
  sums_ = {};
  return event;
}

}  // namespace wicprof::collector
