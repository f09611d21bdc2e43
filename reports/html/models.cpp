// Who waited for whom: the wait model, who was slowed, the critical path, and the predicted gain of parking.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/html/elements.h"
#include "reports/html/sections.h"
#include "reports/parts/tables.h"

namespace wicprof::reports::html {
namespace {

std::string waits_part(const TraceModel& model, const Analysis& analysis) {
  if (analysis.site_waits.empty()) return {};
  return "<h3>The wait model</h3>\n" + table_html(wait_model_table(model, analysis, kMaxListedRows)) +
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

std::string interference_part(const TraceModel& model, const Analysis& analysis) {
  const Interference& interference = analysis.interference;
  if (!interference.missing.empty() || interference.works.empty()) return {};
  const bool natural = std::any_of(interference.works.begin(), interference.works.end(),
                                   [](const SlowedWork& work) { return !work.by_toggle; });
  std::string out = "<h3>The same work beside many pollers and beside few</h3>\n" +
                    table_html(interference_table(model, analysis, kMaxListedRows));
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
  out += table_html(path_table(path, kMaxListedRows));
  for (const std::string& note : path.notes) out += remark("Note: " + note + ".");
  return out;
}

std::string prediction_part(const Analysis& analysis) {
  const Prediction& prediction = analysis.prediction;
  if (prediction.sites.empty()) return {};
  std::string out = "<h3>Predicted gain of parking</h3>\n";
  std::string reasons;
  for (std::size_t i = 0; i < std::min(kMaxListedRows, prediction.sites.size()); ++i) {
    reasons += fmt::format("<li>{}: {}</li>\n", name_of(analysis.sites[i].name), text_of(prediction.sites[i].reason));
  }
  if (const std::string table = table_html(prediction_table(analysis, kMaxListedRows)); !table.empty()) {
    out += table + remark(
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
      waits_part(model, analysis) + overlap_part(analysis.overlaps) + interference_part(model, analysis) +
      (analysis.sites.empty() ? std::string() : path_part(analysis.path)) + prediction_part(analysis);
  return body.empty() ? body : section("models", "Wait model and critical path", body, analyze_command(model));
}

}  // namespace wicprof::reports::html
