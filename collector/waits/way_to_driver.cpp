#include "collector/waits/way_to_driver.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace wicprof::collector {

namespace {

/// CPU time from the end of a callback until the call has reached its wait. Not calibrated.
constexpr TimeNs kReachesDriver = 30'000;
/// A thread that sleeps for a lock so long after the end of the callback is taken to sleep for the driver. CUDA's
/// blocking waits are polls; locks on the way, CUPTI's among them, are held for less. Not calibrated.
constexpr TimeNs kLongestLock = 10 * kMillisecond;

/// CPU time of the clock's thread; -1: the thread is gone.
TimeNs computed_by(clockid_t clock) {
  timespec time{};
  return clock_gettime(clock, &time) == 0 ? time.tv_sec * kSecond + time.tv_nsec : -1;
}

/// What is in a file of the thread in /proc; empty where it cannot be read.
std::string text_of(std::int32_t thread, const char* name) {
  char path[48], text[256];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread, name);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t size = read(file, text, sizeof text);
  close(file);
  return {text, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

enum class Sleep : std::uint8_t { none, for_a_lock, other };

/// `none`: the thread runs or waits for a CPU. `for_a_lock`: also where the kernel lets the thread wait, as for a page.
Sleep sleep_of(std::int32_t thread) {
  const std::string stat = text_of(thread, "stat");
  const std::size_t name_ends = stat.rfind(')');  // the name may hold any character
  if (stat.size() > name_ends + 2 && name_ends != std::string::npos && stat[name_ends + 2] == 'R') return Sleep::none;
  const std::string call = text_of(thread, "syscall");  // "running", or the number of the system call, or -1
  if (call.rfind("running", 0) == 0) return Sleep::none;
  if (call.empty()) return Sleep::other;
  const long number = std::strtol(call.c_str(), nullptr, 10);
  return number == SYS_futex || number < 0 ? Sleep::for_a_lock : Sleep::other;
}

}  // namespace

void WayToDriver::leaves_callback() {
  thread_ = static_cast<std::int32_t>(syscall(SYS_gettid));
  left_ = now_ns();
  computed_ = pthread_getcpuclockid(pthread_self(), &clock_) == 0 ? computed_by(clock_) : 0;
  state_.store(State::on_its_way);
}

bool WayToDriver::reached_driver() const {
  const State state = state_.load();
  if (state != State::on_its_way) return state == State::over;
  const TimeNs now = computed_by(clock_);
  if (now < 0 || now - computed_ >= kReachesDriver) return true;
  const Sleep sleep = sleep_of(thread_);
  return sleep == Sleep::other || (sleep == Sleep::for_a_lock && now_ns() - left_ >= kLongestLock);
}

}  // namespace wicprof::collector
