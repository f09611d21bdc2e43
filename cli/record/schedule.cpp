#include "cli/record/schedule.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace wicprof::cli {

namespace {

constexpr double kMaxSeconds = 1e6;  // more is a typing error; keeps the conversion to nanoseconds in range

}  // namespace

std::optional<TimeNs> parse_time(std::string_view text, bool bare_seconds) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const double seconds = unit == "ms"                                    ? value * 1e-3
                         : unit == "s" || (bare_seconds && unit.empty()) ? value
                         : unit == "m"                                   ? value * 60
                                                                         : -1;
  if (!(seconds > 0) || seconds > kMaxSeconds) return std::nullopt;
  return static_cast<TimeNs>(seconds * 1e9);
}

Result<std::vector<Phase>> parse_schedule(const std::string& text, StrategyId park) {
  std::vector<Phase> phases;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::string entry = text.substr(begin, comma - begin);
    const std::size_t colon = std::min(entry.find(':'), entry.size());
    const std::optional<Mode> mode = mode_from_name(std::string_view(entry).substr(0, colon));
    const std::optional<TimeNs> time =
        colon < entry.size() ? parse_time(std::string_view(entry).substr(colon + 1)) : std::nullopt;
    if (!mode || !time) {
      return bad_input(
          fmt::format("cannot read '{}' in the schedule '{}'; write entries like poll:2s or park:500ms "
                      "(units ms, s and m), separated by commas",
                      entry, text));
    }
    phases.push_back({{*mode, *mode == Mode::park ? park : default_strategy(*mode)}, *time});
    begin = comma + 1;
  }
  return phases;
}

std::optional<WantedWait> Schedule::due(TimeNs now, TimeNs attached) {
  const std::optional<TimeNs> when = next(attached);
  if (!when || now < *when) return std::nullopt;
  elapsed_ += phases_[current_].duration;
  return phases_[++current_].wait;
}

std::optional<TimeNs> Schedule::next(TimeNs attached) const {
  if (finished()) return std::nullopt;
  return attached + elapsed_ + phases_[current_].duration;
}

}  // namespace wicprof::cli
