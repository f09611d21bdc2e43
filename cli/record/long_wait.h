// Notices that something in the program has waited for so long that the program may hang.
#pragma once

#include <optional>
#include <string>

#include "protocol/open_work.h"
#include "protocol/time.h"

namespace wicprof::cli {

/// Calls `see(entry, value)` for each wait that is open and has begun at `latest` or before, also of processes that
/// have ended.
template <class See>
void for_each_long_wait(const OpenWork& work, TimeNs latest, See&& see) {
  const auto look = [&](const auto& entries) {
    for (const auto& entry : entries) {
      const auto open = entry.read();
      if (!open || open->begin == 0 || open->begin > latest) continue;
      if constexpr (requires { open->end; }) {
        if (open->end != 0) continue;
      }
      see(entry, *open);
    }
  };
  look(work.waits);
  look(work.calls);
  look(work.mpi_calls);
}

/// LongWait::kLong, or what the environment says (kLongWaitVariable).
TimeNs longest_wait();

/// One thread.
class LongWait {
 public:
  /// Few programs wait so long for what still comes (chosen).
  static constexpr TimeNs kLong = 30 * kSecond;

  /// `work` must outlive the object.
  explicit LongWait(const OpenWork& work, TimeNs longest = kLong) : work_(work), longest_(longest) {}
  LongWait(const LongWait&) = delete;
  LongWait& operator=(const LongWait&) = delete;

  /// What waits and since when, as a sentence's begin; at most once, since a program that hangs says nothing new.
  std::optional<std::string> news(TimeNs now);

  /// What has waited longest at `now`, and since when, in the same words; nothing: no wait is that long.
  std::optional<std::string> longest(TimeNs now) const;

 private:
  const OpenWork& work_;
  const TimeNs longest_;
  TimeNs next_look_ = 0;
  bool said_ = false;
};

}  // namespace wicprof::cli
