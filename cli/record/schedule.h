// A schedule of modes: "poll:2s,park:2s". A plain mode is a schedule of one endless phase.
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
  TimeNs duration = 0;  ///< ignored for the last phase, which lasts until the program ends
};

/// Parses a time such as 500ms, 2s or 1m; with `bare_seconds`, a number without a unit means seconds. Empty for any
/// other text, for times that are not positive, and for times over 1e6 s.
std::optional<TimeNs> parse_time(std::string_view text, bool bare_seconds = false);

/// Parses entries "poll:TIME" or "park:TIME" separated by commas, with a TIME such as 500ms, 2s or 1m. `park`: the
/// strategy of the park phases. Error: an entry that does not parse.
Result<std::vector<Phase>> parse_schedule(const std::string& text, StrategyId park);

/// Says which phase is due. Time starts when the program's wic runtime attaches, because nothing applies a mode before.
class Schedule {
 public:
  explicit Schedule(std::vector<Phase> phases) : phases_(std::move(phases)) {}

  bool finished() const { return current_ + 1 >= phases_.size(); }
  std::size_t remaining() const { return finished() ? 0 : phases_.size() - current_ - 1; }

  /// The phase to switch to now, once per phase; empty when none is due.
  std::optional<WantedWait> due(TimeNs now, TimeNs attached);

  /// When the next phase is due; empty when none is left.
  std::optional<TimeNs> next(TimeNs attached) const;

 private:
  std::vector<Phase> phases_;
  std::size_t current_ = 0;
  TimeNs elapsed_ = 0;  // of the phases before the current one
};

}  // namespace wicprof::cli
