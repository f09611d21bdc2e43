// Frees objects on a separate thread: freeing the rows of a stretch of time takes milliseconds, too long for a frame.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace wicprof::gui {

/// All members: any thread.
class Reclaimer {
 public:
  Reclaimer();
  ~Reclaimer();  ///< frees everything left

  /// Releases this reference later; at once where the system refused the thread.
  void take(std::shared_ptr<const void> object);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::shared_ptr<const void>> waiting_;
  bool stop_ = false;
  std::thread thread_;  // last, because it uses all members above
};

}  // namespace wicprof::gui
