// Frees what a frame lets go of, on a thread of its own: the rows of a stretch of time take milliseconds to free.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace wicprof::gui {

/// Any thread.
class Reclaimer {
 public:
  Reclaimer();
  ~Reclaimer();  ///< frees what is left

  /// Lets go of `what`, later.
  void take(std::shared_ptr<const void> what);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::shared_ptr<const void>> waiting_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace wicprof::gui
