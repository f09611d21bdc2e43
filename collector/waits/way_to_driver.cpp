#include "collector/waits/way_to_driver.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace wicprof::collector {

namespace {

/// CPU time from the end of a callback until the call has reached its wait. Not calibrated.
constexpr TimeNs kReachesDriver = 30'000;

/// CPU time of the clock's thread; -1: the thread is gone.
TimeNs computed_by(clockid_t clock) {
  timespec time{};
  return clock_gettime(clock, &time) == 0 ? time.tv_sec * kSecond + time.tv_nsec : -1;
}

/// Neither running nor waiting for a CPU.
bool sleeps(std::int32_t thread) {
  char path[48], text[128];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  if (size <= 0) return true;
  text[size] = 0;
  const char* const name_ends = std::strrchr(text, ')');  // the name may hold any character
  return name_ends == nullptr || name_ends[1] == 0 || name_ends[2] != 'R';
}

}  // namespace

void WayToDriver::leaves_callback() {
  thread_ = static_cast<std::int32_t>(syscall(SYS_gettid));
  computed_ = pthread_getcpuclockid(pthread_self(), &clock_) == 0 ? computed_by(clock_) : 0;
  state_.store(State::on_its_way);
}

bool WayToDriver::reached_driver() const {
  const State state = state_.load();
  if (state != State::on_its_way) return state == State::over;
  const TimeNs now = computed_by(clock_);
  return now < 0 || now - computed_ >= kReachesDriver || sleeps(thread_);
}

}  // namespace wicprof::collector
