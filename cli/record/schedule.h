// A schedule of modes: "poll:2s,park:2s". A plain mode is a schedule of one entry without end.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/control.h"
#include "protocol/result.h"
#include "protocol/time.h"

namespace wicprof::cli {

struct Phase {
  WantedWait wait;
  TimeNs duration = 0;  ///< the last phase lasts until the program ends, whatever is said here
};

/// A time such as 500ms, 2s or 1m; a bare number is seconds where `bare_seconds`. Nothing for anything else, and for 0.
std::optional<TimeNs> parse_time(std::string_view text, bool bare_seconds = false);

/// Entries "poll:TIME" or "park:TIME" with a TIME such as 500ms, 2s or 1m; `park` is the strategy that park stands for.
Result<std::vector<Phase>> parse_schedule(const std::string& text, StrategyId park);

/// Which phase is due. Time counts from the moment that the program's wic runtime attached: before that nobody listens.
class Schedule {
 public:
  explicit Schedule(std::vector<Phase> phases) : phases_(std::move(phases)) {}

  bool finished() const { return current_ + 1 >= phases_.size(); }
  std::size_t remaining() const { return finished() ? 0 : phases_.size() - current_ - 1; }

  /// The phase to switch to now, once for each; nothing when none is due.
  std::optional<WantedWait> due(TimeNs now, TimeNs attached);

  /// When the next phase is due; nothing when there is none.
  std::optional<TimeNs> next(TimeNs attached) const;

 private:
  std::vector<Phase> phases_;
  std::size_t current_ = 0;
  TimeNs elapsed_ = 0;  // of the phases before the current one
};

}  // namespace wicprof::cli
