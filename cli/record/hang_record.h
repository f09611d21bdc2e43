// What a program that hangs waits for, kept for its trace: whoever gets the trace need not see the program hang.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "protocol/open_work.h"
#include "protocol/time.h"

namespace wicprof::cli {

/// Any thread.
class HangRecord {
 public:
  /// Returns what waits now as a document, or an empty text where nothing can be said. Called on another thread.
  using Look = std::function<std::string()>;

  /// Looks once something has waited for `longest`. `work` must outlive the object.
  HangRecord(const OpenWork& work, TimeNs longest, Look look);
  HangRecord(const HangRecord&) = delete;
  HangRecord& operator=(const HangRecord&) = delete;

  /// Call often while the program runs, and no more once it has been told to end: each second, sees whether something
  /// waits for too long. A wait that ends after all was none to keep, and the next has to last twice as long. Waits for
  /// nothing.
  void follow(TimeNs now);
  /// Sees it at once. Waits until the look has ended.
  void look(TimeNs now);
  /// What waited at the last call of follow() or look(), if it has waited for too long; else empty. Waits until a look
  /// has ended.
  std::string document();

 private:
  /// A wait that was open, in a process that may have ended since.
  struct Open {
    char table;
    std::size_t entry;
    TimeNs begin;
    auto operator<=>(const Open&) const = default;
  };
  void see(TimeNs now);
  std::vector<Open> long_ones(TimeNs now) const;

  const OpenWork& work_;
  const Look look_;
  std::mutex mutex_;  // guards what follows
  TimeNs longest_, next_ = 0;
  std::vector<Open> looked_at_;  // sorted; empty: nothing waits for too long
  std::future<std::string> looking_;
  std::string document_;
};

}  // namespace wicprof::cli
