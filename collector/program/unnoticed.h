// What a callback of ours leaves as it found it on a thread of the program.
#pragma once

#include <pthread.h>

#include <cerrno>

namespace wicprof::collector {

/// For the object's lifetime the thread is not cancelled in our calls of the system, where the program's call has no
/// cancellation point; afterwards errno is as it was.
class Unnoticed {
 public:
  Unnoticed() : errno_(errno) { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_); }
  ~Unnoticed() {
    pthread_setcancelstate(cancel_state_, nullptr);
    errno = errno_;
  }
  Unnoticed(const Unnoticed&) = delete;
  Unnoticed& operator=(const Unnoticed&) = delete;

 private:
  const int errno_;
  int cancel_state_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace wicprof::collector
