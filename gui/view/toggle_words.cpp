#include "gui/view/toggle_words.h"

#include <fmt/format.h>

#include "analyzer/words/change.h"
#include "analyzer/words/format.h"

namespace wicprof::gui {

std::string change_sentence(const BeforeAfter& values) {
  if (!values.before || !values.after) return {};
  const SegmentLine &before = *values.before, &after = *values.after;
  if (!after.iteration_p50) return fmt::format("{} is in effect; no iteration has ended since.", after.way);
  if (!before.iteration_p50)
    return fmt::format("With {}, an iteration takes {}; no iteration ended before.", after.way,
                       analyzer::format_duration(*after.iteration_p50));
  std::string text = fmt::format("With {}, an iteration takes {} in place of {} with {}", after.way,
                                 analyzer::format_duration(*after.iteration_p50),
                                 analyzer::format_duration(*before.iteration_p50), before.way);
  if (!values.speedup)
    return text + fmt::format("; too few iterations for an interval ({} and {}).", before.iterations, after.iterations);
  const analyzer::ChangeRange range =
      analyzer::change_of_speedup(values.speedup->value, values.speedup->low, values.speedup->high);
  // An interval on both sides of 1 has no direction.
  const bool undecided = range.low <= 1 && range.high >= 1;
  return text + fmt::format(": {}{} ({}).", analyzer::change_text(range.value),
                            undecided ? ", which may be chance" : "", analyzer::change_interval_text(range));
}

}  // namespace wicprof::gui
