// Reads a trace for its summaries on a connection and a thread of its own, while the recorder matches and indexes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "store/sqlite/sqlite.h"
#include "store/summaries/level_of_detail.h"

namespace wicprof::store {

/// Not copied, not moved: the thread refers to it. All calls from one thread, which is not the object's own.
class SummaryAside {
 public:
  /// Begins to read the committed rows of the trace at `path`. Empty where the trace cannot be read aside, or there is
  /// no further thread.
  static std::unique_ptr<SummaryAside> begin(const std::string& path);
  ~SummaryAside();

  /// Waits for the end of reading, and asks `goes_on` every few milliseconds, with the part done; false: gives up.
  /// Empty if reading failed or was given up.
  std::optional<Summary> finish(const SummaryWatch& goes_on);

 private:
  SummaryAside() = default;
  void read();

  Database database_;
  Summary summary_;
  std::atomic<bool> stop_{false};
  std::atomic<double> part_{0};
  std::mutex mutex_;
  std::condition_variable ended_;
  std::optional<int> code_;  // under mutex_; SQLite's, once reading has ended
  std::thread thread_;
};

}  // namespace wicprof::store
