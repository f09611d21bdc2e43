// Whether this driver takes the image that a callback puts in the place of the program's own. NVIDIA does not document
// that it does, so each process asks once, with a module of ours.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>

#include "collector/rewrite/rewrite_driver.h"

namespace wicprof::collector {

class Door {
 public:
  /// Asks at the first call, on a thread of its own, and returns at once: the answer takes some 15 ms.
  void ask_early(const RewriteDriver& driver);
  /// Asks if nobody has, and waits up to kPatience for the answer; later calls have the answer. Empty: the driver takes
  /// our image. Else why not.
  std::string problem(const RewriteDriver& driver);

  /// Of the callback at the entry of a load: what to put in the place of `image`; nullptr: this is not our question.
  const void* answer(const void* image);

 private:
  void ask(const RewriteDriver& driver);
  void begin(const RewriteDriver& driver);  // under the lock

  std::mutex mutex_;
  std::condition_variable asked_;
  bool begun_ = false, done_ = false;
  std::string problem_;
  std::atomic<bool> seen_{false};  // the callback came
};

}  // namespace wicprof::collector
