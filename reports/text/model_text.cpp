#include "reports/text/model_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/parts/columns.h"
#include "reports/parts/phrases.h"
#include "reports/text/screen.h"

namespace wicprof::reports {
namespace {

constexpr double kTinyShare = 0.001;  // of the path; smaller shares round to 0.1 % or less and are left out

std::string mean_of(TimeNs sum, std::uint64_t count) {
  return count > 0 ? format_duration(sum / static_cast<TimeNs>(count)) : "-";
}

std::string share_or_dash(const std::optional<double>& share) { return share ? format_percent(*share) : "-"; }

}  // namespace

std::string wait_model_text(const TraceModel& model, const Analysis& analysis, std::size_t most, const Screen& screen) {
  if (analysis.site_waits.empty()) return {};
  TextTable table("llrrrrrr",
                  heads({column::kWaitParts, column::kMode, column::kWaits, column::kOfItsTime, column::kBeforeData,
                         column::kUntilSignal, column::kWakeLatency, column::kTransfer}));
  for (std::size_t i = 0; i < std::min(most, analysis.site_waits.size()); ++i) {
    const SiteWaits& part = analysis.site_waits[i];
    const WaitSums& sums = part.sums;
    const std::uint64_t decided = sums.data_first + sums.consumer_first;
    table.add(
        {one_line(model.site_name(part.site)), std::string(mode_name(part.mode)), format_count(sums.waits),
         share_or_dash(part.consumer_share),
         decided > 0 ? format_percent(static_cast<double>(sums.consumer_first) / static_cast<double>(decided)) : "-",
         mean_of(sums.producer_late_ns, sums.matched), mean_of(sums.wake_ns, sums.matched),
         mean_of(sums.transfer_ns, sums.transfers)});
  }
  return table.str(0, screen.width) +
         paragraph(
             screen,
             "the last three columns are means per wait: from the arrival to the signal, from the signal (or a later "
             "arrival) until the waiter went on, and the copy that brought the data");
}

std::string interference_text(const TraceModel& model, const Analysis& analysis, std::size_t most,
                              const Screen& screen) {
  const Interference& interference = analysis.interference;
  if (!interference.missing.empty()) return {};
  TextTable table("llrrrr", heads({column::kWork, column::kDevice, column::kManyPollers, column::kP50,
                                   column::kFewPollers, column::kP50}));
  std::string slowed;
  bool natural = false;
  for (std::size_t i = 0; i < std::min(most, interference.works.size()); ++i) {
    const SlowedWork& work = interference.works[i];
    table.add({one_line(work.what), model.device_key(work.device), format_number(work.many_pollers),
               format_duration(work.many_p50_ns), format_number(work.few_pollers), format_duration(work.few_p50_ns)});
    natural = natural || !work.by_toggle;
    slowed += paragraph(
        screen, fmt::format("{}: {:.3g} times as long beside many pollers (95 % interval {:.3g} to {:.3g})",
                            shorten(work.what, 60), work.slowdown.value, work.slowdown.low, work.slowdown.high));
  }
  if (natural) {
    slowed +=
        paragraph(screen,
                  "the trace has only one mode: work that is slow for another reason makes others wait, so the pollers "
                  "may be the effect and not the cause; record with --schedule poll:2s,park:2s to find out");
  }
  return table.str(0, screen.width) + slowed;
}

std::string overlap_text(const Analysis& analysis, const Screen& screen) {
  std::string text;
  for (const Overlap& part : analysis.overlaps.modes) {
    const std::string upto =
        part.at_most && *part.at_most > part.seen ? fmt::format(", at most {}", format_percent(*part.at_most)) : "";
    text += paragraph(screen,
                      fmt::format("{}: {}{} of the waiting", part.mode == Mode::poll ? "while polling" : "while parked",
                                  format_percent(part.seen), upto),
                      2, 2);
  }
  return text.empty() ? text : "Waiting that overlapped with computation on the same SM\n" + text;
}

std::string critical_path_text(const Analysis& analysis, std::size_t most, const Screen& screen) {
  const CriticalPath& path = analysis.path;
  if (!path.missing.empty()) return "Critical path\n" + paragraph(screen, "could not look: " + path.missing);
  TextTable table("llrrr", heads({column::kPath, column::kWhere, column::kTimes, column::kTotal, column::kShare}));
  std::size_t shown = 0;
  for (const PathShare& share : path.shares) {
    if (shown == most || share.share < kTinyShare) break;
    ++shown;
    table.add({std::string(path_kind_name(share.kind)), one_line(share.where), format_count(share.count),
               format_duration(share.total_ns), format_percent(share.share)});
  }
  std::string text = table.str(0, screen.width);
  for (const std::string& note : path.notes) text += paragraph(screen, "note: " + one_line(note));
  return text;
}

std::string prediction_text(const Analysis& analysis, std::size_t most, const Screen& screen) {
  const Prediction& prediction = analysis.prediction;
  if (prediction.sites.empty()) return {};
  TextTable table("lrrr", heads({column::kPredicted, column::kTimesAsFast, column::kExposed, column::kBreakEven}));
  std::string reasons;
  bool any = false;
  for (std::size_t i = 0; i < std::min(most, prediction.sites.size()); ++i) {
    const SitePrediction& site = prediction.sites[i];
    const std::string name = one_line(analysis.sites[i].name);
    if (site.gain) {
      any = true;
      table.add({name, gain_text(site.gain), format_percent(site.exposed),
                 site.break_even_ns ? format_duration(*site.break_even_ns) : "never"});
    }
    reasons += paragraph(screen, fmt::format("{}: {}", name, one_line(site.reason)));
  }
  std::string text = "Predicted gain of parking\n";
  if (any) {
    if (prediction.program) table.add({"the program", gain_text(prediction.program), "", ""});
    text = table.str(0, screen.width) +
           paragraph(screen,
                     "exposed: the share of the critical path that is work beside pollers of this site; "
                     "break-even: the shortest wait for which parking pays");
  }
  text += reasons;
  if (!prediction.program) text += paragraph(screen, "no prediction for the program: " + one_line(prediction.reason));
  return text;
}

std::string models_text(const TraceModel& model, const Analysis& analysis, std::size_t most, const Screen& screen) {
  std::string text;
  for (const std::string& part :
       {wait_model_text(model, analysis, most, screen), overlap_text(analysis, screen),
        interference_text(model, analysis, most, screen), critical_path_text(analysis, most, screen),
        prediction_text(analysis, most, screen)}) {
    if (part.empty()) continue;
    text += (text.empty() ? "" : "\n") + part;
  }
  return text;
}

}  // namespace wicprof::reports
