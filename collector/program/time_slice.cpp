#include "collector/program/time_slice.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "collector/program/own_thread.h"
#include "collector/program/short_slices.h"

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

/// `thread`: 0 is the calling one.
bool get(Attributes& attributes, pid_t thread = 0) {
  return syscall(SYS_sched_getattr, thread, &attributes, sizeof attributes, 0) == 0 && attributes.policy == SCHED_OTHER;
}
bool set(const Attributes& attributes, pid_t thread = 0) {
  return syscall(SYS_sched_setattr, thread, &attributes, 0) == 0;
}

TimeNs look_up_usual_slice() {
  TimeNs usual = 0;
  std::thread parent = start_own_thread([&] {
    Attributes own;
    if (!get(own)) return;
    own.flags |= kResetOnFork;  // the child has what a new thread of the system has
    if (!set(own)) return;
    if (std::thread child = start_own_thread([&] { usual = time_slice(); }); child.joinable()) child.join();
  });
  if (parent.joinable()) parent.join();
  return usual;
}

}  // namespace

TimeNs time_slice(pid_t thread) {
  Attributes of_thread;
  return get(of_thread, thread) ? static_cast<TimeNs>(of_thread.runtime) : 0;
}

void restore_short_slice(pid_t thread) {
  Attributes of_thread;
  if (!get(of_thread, thread) || static_cast<TimeNs>(of_thread.runtime) != TimeSlice::kShort) return;
  of_thread.runtime = 0;  // the system's own
  set(of_thread, thread);
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
  thread_ = static_cast<pid_t>(syscall(SYS_gettid));
  of_process_.begin();
  if (!set(own) || time_slice() != kShort) return of_process_.end(thread_);
  short_ = true;
  refused_ = false;
}

void TimeSlice::restore() {
  if (!short_) return;
  short_ = false;
  restore_short_slice();
  of_process_.end(thread_);
}

TimeSlice::~TimeSlice() {
  if (short_) of_process_.end(thread_);
}

}  // namespace wicprof::collector
