#include "collector/program/time_slice.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace wicprof::collector {

namespace {

// The C library of this system may lack it.
struct Attributes {
  std::uint32_t size = sizeof(Attributes), policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;
};
constexpr std::uint64_t kResetOnFork = 1;

bool get(Attributes& attributes) {
  return syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0 && attributes.policy == SCHED_OTHER;
}
bool set(const Attributes& attributes) { return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0; }

TimeNs look_up_usual_slice() {
  TimeNs usual = 0;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the threads take no signals of the program
  std::thread parent([&] {
    Attributes own;
    if (!get(own)) return;
    own.flags |= kResetOnFork;  // the child has what a new thread of the system has
    if (set(own)) std::thread([&] { usual = time_slice(); }).join();
  });
  parent.join();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return usual;
}

}  // namespace

TimeNs time_slice() {
  Attributes own;
  return get(own) ? static_cast<TimeNs>(own.runtime) : 0;
}

TimeNs usual_time_slice() {
  static const TimeNs usual = look_up_usual_slice();
  return usual;
}

void TimeSlice::shorten() {
  if (short_ || refused_) return;
  refused_ = true;  // until it has worked
  Attributes own;
  const TimeNs usual = usual_time_slice();
  if (usual < 2 * kShort || !get(own)) return;
  const auto slice = static_cast<TimeNs>(own.runtime);
  if (slice != usual && slice != kShort) return;  // a new thread has the slice of the one that started it
  own.runtime = static_cast<std::uint64_t>(kShort);
  if (!set(own) || time_slice() != kShort) return;
  short_ = true;
  refused_ = false;
}

void TimeSlice::restore() {
  if (!short_) return;
  short_ = false;
  Attributes own;
  if (!get(own) || static_cast<TimeNs>(own.runtime) != kShort) return;
  own.runtime = 0;  // the system's own
  set(own);
}

}  // namespace wicprof::collector
