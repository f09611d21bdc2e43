#include "reports/text/activity_text.h"

#include <fmt/format.h>

#include "analyzer/words/format.h"
#include "reports/parts/tables.h"
#include "reports/text/screen.h"
#include "reports/text/table_text.h"

namespace wicprof::reports {
namespace {

/// A wider bound results from few launches or waits and says nothing about the clock. Not calibrated: the bounds
/// in docs/results are below 0.1 ms.
constexpr TimeNs kWideBound = kMillisecond;

std::string signed_duration(TimeNs ns) { return (ns < 0 ? "-" : "+") + format_duration(ns < 0 ? -ns : ns); }

std::string clock_line(const TraceModel& model, const ClockBounds& bounds) {
  const std::string key = model.device_key(bounds.device);
  std::string line;
  // If a clock is far off, both of its bounds are far off, on the same side of zero.
  const bool low = bounds.low && (*bounds.low >= -kWideBound || (bounds.high && *bounds.high < 0));
  const bool high = bounds.high && (*bounds.high <= kWideBound || (bounds.low && *bounds.low > 0));
  if (low && high) {
    line = fmt::format("CUPTI's clock of {} is correct within {}..{}", key, signed_duration(*bounds.low),
                       signed_duration(*bounds.high));
  } else if (low) {
    line = fmt::format("CUPTI's clock of {} is off by at least {}; an upper bound is unknown", key,
                       signed_duration(*bounds.low));
  } else if (high) {
    line = fmt::format("CUPTI's clock of {} is off by at most {}; a lower bound is unknown", key,
                       signed_duration(*bounds.high));
  } else if (bounds.low && bounds.high) {
    line = fmt::format("CUPTI's clock of {}: error not known within {}", key, format_duration(kWideBound));
  } else {
    line = fmt::format("CUPTI's clock of {}: not bounded from both sides in any second", key);
  }
  if (bounds.proven_error > 0) line += fmt::format("; WRONG by at least {}", format_duration(bounds.proven_error));
  if (bounds.proven_drift > 0) line += fmt::format("; it drifted by at least {}", format_duration(bounds.proven_drift));
  const store::DeviceRow* device = model.device(bounds.device);
  if (device != nullptr && device->clock_error_ns) {
    line += fmt::format("; the device's own clock was read within +-{}", format_duration(*device->clock_error_ns));
  }
  return line;
}

}  // namespace

std::string stream_waits_text(const TraceModel& model, const Analysis& analysis, std::size_t most,
                              const Screen& screen) {
  std::string text = table_text(stream_waits_table(model, analysis, most), screen);
  if (const std::uint64_t waits = analysis.stream_waits.without_event; waits > 0) {
    text += paragraph(
        screen, fmt::format("{} of streams for events whose record is not in the trace", count_of(waits, "wait")));
  }
  return text;
}

std::string clocks_text(const TraceModel& model, const Analysis& analysis, const Screen& screen) {
  std::string text;
  for (const ClockBounds& bounds : analysis.clocks) text += paragraph(screen, clock_line(model, bounds));
  return text.empty() ? text : "Clocks\n" + text;
}

std::string own_cost_text(const Analysis& analysis, const Screen& screen) {
  const OwnCost& cost = analysis.own_cost;
  if (!cost.sampled) return {};
  std::string line = fmt::format("wic-prof itself: {} of CPU time, {} of one core ({} in the program, {} in wic-prof)",
                                 format_duration(cost.cpu_ns()), format_percent(cost.share),
                                 format_duration(cost.in_program_ns), format_duration(cost.in_tool_ns));
  return paragraph(screen, line, 0, 2);
}

std::string activity_text(const TraceModel& model, const Analysis& analysis, std::size_t most, const Screen& screen) {
  std::string text;
  const std::string processes =
      model.program_processes() < 2 ? std::string() : table_text(processes_table(model, most), screen);
  for (const std::string& part :
       {processes, table_text(mpi_calls_table(analysis, most), screen),
        table_text(mpi_ranks_table(model, analysis, most), screen),
        table_text(polling_table(model, analysis, most), screen), stream_waits_text(model, analysis, most, screen),
        clocks_text(model, analysis, screen), own_cost_text(analysis, screen)}) {
    if (part.empty()) continue;
    text += (text.empty() ? "" : "\n") + part;
  }
  return text;
}

}  // namespace wicprof::reports
