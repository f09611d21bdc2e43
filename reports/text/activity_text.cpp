#include "reports/text/activity_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/trace/thread_names.h"
#include "analyzer/words/format.h"
#include "reports/parts/columns.h"
#include "reports/text/screen.h"

namespace wicprof::reports {
namespace {

/// A wider bound results from few launches or waits and says nothing about the clock. Not calibrated: the bounds
/// in docs/results are below 0.1 ms.
constexpr TimeNs kWideBound = kMillisecond;

std::string signed_duration(TimeNs ns) { return (ns < 0 ? "-" : "+") + format_duration(ns < 0 ? -ns : ns); }

std::string stream_name(const TraceModel& model, const StreamKey& stream) {
  std::string name = fmt::format("stream {}", stream.stream);
  if (model.program_processes() > 1 && stream.process != 0) name += fmt::format(" of {}", stream.process);
  return name;
}

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

std::string processes_text(const TraceModel& model, std::size_t most, const Screen& screen) {
  const std::size_t all = model.program_processes();
  if (all < 2) return {};
  TextTable table("rrrl", heads({column::kProcess, column::kRank, column::kLocalRank, column::kCommand}));
  std::size_t shown = 0;
  for (const store::ProcessRow& p : model.processes) {
    if (is_own(p) || shown == most) continue;
    ++shown;
    table.add({std::to_string(p.id), p.rank ? std::to_string(*p.rank) : "-",
               p.local_rank ? std::to_string(*p.local_rank) : "-", one_line(p.command.empty() ? p.name : p.command)});
  }
  return table.str(0, screen.width) + and_more(all, shown, "process");
}

std::string polling_text(const TraceModel& model, const Analysis& analysis, std::size_t most, const Screen& screen) {
  if (analysis.host_polling.empty()) return {};
  const ThreadNames names(model);
  TextTable table("llrrrrr", heads({column::kHostPolling, column::kThread, column::kRuns, column::kQueries,
                                    column::kTime, column::kQueriesPerSecond, column::kCpuTime}));
  const std::size_t shown = std::min(most, analysis.host_polling.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const HostPolling& p = analysis.host_polling[i];
    table.add({one_line(p.call), names.of(p.process, p.thread), format_count(p.runs), format_count(p.queries),
               format_duration(p.total_ns), format_number(p.queries_per_second),
               p.cpu_ns ? format_duration(*p.cpu_ns) : "-"});
  }
  return table.str(0, screen.width) + and_more(analysis.host_polling.size(), shown, "thread");
}

std::string stream_waits_text(const TraceModel& model, const Analysis& analysis, std::size_t most,
                              const Screen& screen) {
  const StreamWaitTable& waits = analysis.stream_waits;
  std::string text;
  if (!waits.rows.empty()) {
    TextTable table("lllrrr", heads({column::kWaitingStream, column::kFor, column::kBehind, column::kWaits,
                                     column::kIdle, column::kMax}));
    const std::size_t shown = std::min(most, waits.rows.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const StreamWaits& w = waits.rows[i];
      table.add({stream_name(model, w.waiter), stream_name(model, w.signaller),
                 w.behind.empty() ? "-" : function_name(one_line(w.behind)), format_count(w.count),
                 w.timed > 0 ? format_duration(w.idle_ns) : "-", w.timed > 0 ? format_duration(w.idle_max_ns) : "-"});
    }
    text = table.str(0, screen.width) + and_more(waits.rows.size(), shown, "pair");
  }
  if (waits.without_event > 0) {
    text += paragraph(screen, fmt::format("{} of streams for events whose record is not in the trace",
                                          count_of(waits.without_event, "wait")));
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
  for (const std::string& part : {processes_text(model, most, screen), polling_text(model, analysis, most, screen),
                                  stream_waits_text(model, analysis, most, screen),
                                  clocks_text(model, analysis, screen), own_cost_text(analysis, screen)}) {
    if (part.empty()) continue;
    text += (text.empty() ? "" : "\n") + part;
  }
  return text;
}

}  // namespace wicprof::reports
