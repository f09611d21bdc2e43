// Who waited for whom: the wait model, who was slowed, the critical path, and the predicted gain of parking.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/html/elements.h"
#include "reports/html/sections.h"

namespace wicprof::reports::html {
namespace {

constexpr double kTinyShare = 0.001;  // of the path; smaller shares round to 0.1 % or less and are left out

Cell mean_of(TimeNs sum, std::uint64_t of) { return of > 0 ? duration(sum / static_cast<TimeNs>(of)) : Cell("-"); }

std::string waits_part(const TraceModel& model, const Analysis& analysis) {
  if (analysis.site_waits.empty()) return {};
  Table table({"site", "mode", ">waits", ">share of its time", ">came before its data", ">until the signal",
               ">wake latency", ">transfer"});
  const std::size_t shown = std::min(kMaxListedRows, analysis.site_waits.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const SiteWaits& part = analysis.site_waits[i];
    const WaitSums& sums = part.sums;
    const std::uint64_t decided = sums.data_first + sums.consumer_first;
    table.add(
        {name_of(model.site_name(part.site)), std::string(mode_name(part.mode)), count(sums.waits),
         percent(part.consumer_share),
         decided > 0 ? percent(static_cast<double>(sums.consumer_first) / static_cast<double>(decided)) : Cell("-"),
         mean_of(sums.producer_late_ns, sums.matched), mean_of(sums.wake_ns, sums.matched),
         mean_of(sums.transfer_ns, sums.transfers)});
  }
  return "<h3>The wait model</h3>\n" + table.str() + and_more(analysis.site_waits.size(), shown, "site") +
         remark(
             "Share of its time: the part that one waiter spends here. Came before its data: the part of the waits "
             "that "
             "began before their signal (the WIC paper's scenario 2). The last three columns are means per wait: from "
             "the arrival to the signal, from the signal (or a later arrival) until the waiter went on, and the copy "
             "that brought the data.");
}

std::string overlap_part(const Overlaps& overlaps) {
  std::string list;
  for (const Overlap& part : overlaps.modes) {
    const std::string upto =
        part.at_most && *part.at_most > part.seen ? fmt::format(", at most {}", format_percent(*part.at_most)) : "";
    list += fmt::format("<li>{}: {}{} of the waiting</li>\n", mode_name(part.mode), text_of(format_percent(part.seen)),
                        text_of(upto));
  }
  if (list.empty()) return {};
  return "<h3>Waiting that overlapped with computation on the same SM</h3>\n<ul class=\"small\">\n" + list + "</ul>\n";
}

std::string interference_part(const TraceModel& model, const Interference& interference) {
  if (!interference.missing.empty() || interference.works.empty()) return {};
  Table table({"work", "device", ">many pollers", ">p50", ">few pollers", ">p50", ">times as long", ">95 % interval"});
  bool natural = false;
  const std::size_t shown = std::min(kMaxListedRows, interference.works.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const SlowedWork& work = interference.works[i];
    natural = natural || !work.by_toggle;
    table.add({text_of(work.what), text_of(model.device_key(work.device)), number(work.many_pollers),
               duration(work.many_p50_ns), number(work.few_pollers), duration(work.few_p50_ns),
               number(work.slowdown.value),
               Cell(fmt::format("{:.3g} to {:.3g}", work.slowdown.low, work.slowdown.high))});
  }
  std::string out = "<h3>The same work beside many pollers and beside few</h3>\n" + table.str() +
                    and_more(interference.works.size(), shown, "work");
  if (natural) {
    out += remark(
        "The trace has only one mode: work that is slow for another reason makes others wait, so the pollers may be "
        "the effect and not the cause. Record with --schedule poll:2s,park:2s to find out.");
  }
  return out;
}

std::string path_part(const CriticalPath& path) {
  std::string out = "<h3>The critical path</h3>\n";
  if (!path.missing.empty())
    return out + fmt::format("<p class=\"small\">Could not look: {}.</p>\n", text_of(path.missing));
  Table table({"what the program's end waited for", "where", ">times", ">total", ">share"});
  for (const PathShare& share : path.shares) {
    if (share.share < kTinyShare) break;
    table.add({std::string(path_kind_name(share.kind)), name_of(share.where), count(share.count),
               duration(share.total_ns), percent(share.share)});
  }
  out += table.str();
  for (const std::string& note : path.notes) out += remark("Note: " + note + ".");
  return out;
}

std::string gain_range(const Gain& gain) { return fmt::format("{:.3g} to {:.3g}", gain.low, gain.high); }

std::string prediction_part(const Analysis& analysis) {
  const Prediction& prediction = analysis.prediction;
  if (prediction.sites.empty()) return {};
  std::string out = "<h3>Predicted gain of parking</h3>\n";
  Table table({"parked", ">times as fast", ">interval", ">exposed", ">break-even"});
  std::string reasons;
  for (std::size_t i = 0; i < std::min(kMaxListedRows, prediction.sites.size()); ++i) {
    const SitePrediction& site = prediction.sites[i];
    const std::string name = name_of(analysis.sites[i].name);
    reasons += fmt::format("<li>{}: {}</li>\n", name, text_of(site.reason));
    if (!site.gain) continue;
    table.add({name, number(site.gain->value), Cell(gain_range(*site.gain)), percent(site.exposed),
               site.break_even_ns ? duration(*site.break_even_ns) : Cell("never")});
  }
  if (const auto& gain = prediction.program)
    table.add({"the program", number(gain->value), Cell(gain_range(*gain)), Cell(""), Cell("")});
  if (!table.empty()) {
    out += table.str() + remark(
                             "Exposed: the share of the critical path that is work beside pollers of this site. "
                             "Break-even: the shortest wait for which parking pays.");
  }
  out += "<ul class=\"small\">\n" + reasons;
  if (!prediction.program)
    out += fmt::format("<li>no prediction for the program: {}</li>\n", text_of(prediction.reason));
  return out + "</ul>\n";
}

}  // namespace

std::string models_part(const TraceModel& model, const Analysis& analysis) {
  const std::string body =
      waits_part(model, analysis) + overlap_part(analysis.overlaps) + interference_part(model, analysis.interference) +
      (analysis.sites.empty() ? std::string() : path_part(analysis.path)) + prediction_part(analysis);
  return body.empty() ? body : section("models", "Wait model and critical path", body, analyze_command(model));
}

}  // namespace wicprof::reports::html
