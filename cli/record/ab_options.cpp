#include "cli/record/ab_options.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "cli/record/energy_meter.h"
#include "cli/record/schedule.h"
#include "cli/record/wait_options.h"

namespace wicprof::cli {

namespace {

/// A share; nothing if the text is none below 100 %.
std::optional<double> share_of(const std::string& text) {
  const std::size_t digits = text.ends_with('%') ? text.size() - 1 : 0;
  double value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value);
  const bool read = digits != 0 && error == std::errc() && end == text.data() + digits;
  return read && value >= 0 && value < 100 ? std::optional(value / 100) : std::nullopt;
}

}  // namespace

std::string precision_text(double share) { return fmt::format("{}%", share * 100); }

static_assert(kAbTime % (60 * kSecond) == 0);
std::string AbOptions::usual_time() { return fmt::format("{}m", kAbTime / (60 * kSecond)); }
std::string AbOptions::usual_precision() { return precision_text(kAbPrecision); }

Result<TimeNs> read_ab_time(const std::string& time) {
  const std::optional<TimeNs> read = parse_time(time);
  if (!read) return bad_input(fmt::format("cannot read --for '{}'; write a time like 30s or 2m", time));
  return *read;
}

Result<AbPlan> read_ab(const AbOptions& options) {
  const Result<WantedWait> park = park_wait(options.strategy);
  if (!park) return park.error();
  const Result<std::optional<WaitSide>> side = compared_side(options.side, park->strategy);
  if (!side) return side.error();
  const Result<TimeNs> time = read_ab_time(options.time);
  if (!time) return time.error();
  const std::optional<double> precision = share_of(options.precision);
  if (!precision) {
    return bad_input(fmt::format("cannot read --precision '{}'; write a share like 1%, or 0% to use all of the time",
                                 options.precision));
  }
  AbPlan plan;
  plan.time = *time;
  plan.precision = *precision;
  plan.seed = options.seed != 0 ? options.seed : static_cast<std::uint64_t>(now_ns());
  plan.park = *park;
  plan.side = *side;
  plan.placebo = options.placebo;
  plan.end_program = options.end_program;
  plan.patched = options.patched;
  if (options.energy) plan.least_phase = kShortestEnergyPhase;
  return plan;
}

}  // namespace wicprof::cli
