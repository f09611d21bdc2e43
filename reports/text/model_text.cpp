#include "reports/text/model_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/parts/phrases.h"
#include "reports/parts/tables.h"
#include "reports/text/screen.h"
#include "reports/text/table_text.h"

namespace wicprof::reports {

std::string wait_model_text(const TraceModel& model, const Analysis& analysis, std::size_t most, const Screen& screen) {
  if (analysis.site_waits.empty()) return {};
  return table_text(wait_model_table(model, analysis, most), screen) +
         paragraph(
             screen,
             "the last three columns are means per wait: from the arrival to the signal, from the signal (or a later "
             "arrival) until the waiter went on, and the copy that brought the data");
}

std::string interference_text(const TraceModel& model, const Analysis& analysis, std::size_t most,
                              const Screen& screen) {
  const Interference& interference = analysis.interference;
  if (!interference.missing.empty()) return {};
  std::string slowed;
  bool natural = false;
  for (std::size_t i = 0; i < std::min(most, interference.works.size()); ++i) {
    const SlowedWork& work = interference.works[i];
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
  return table_text(interference_table(model, analysis, most), screen) + slowed;
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
  std::string text = table_text(path_table(path, most), screen);
  for (const std::string& note : path.notes) text += paragraph(screen, "note: " + one_line(note));
  return text;
}

std::string prediction_text(const Analysis& analysis, std::size_t most, const Screen& screen) {
  const Prediction& prediction = analysis.prediction;
  if (prediction.sites.empty()) return {};
  std::string reasons;
  for (std::size_t i = 0; i < std::min(most, prediction.sites.size()); ++i) {
    reasons += paragraph(screen,
                         fmt::format("{}: {}", one_line(analysis.sites[i].name), one_line(prediction.sites[i].reason)));
  }
  std::string text = table_text(prediction_table(analysis, most), screen);
  text = text.empty() ? "Predicted gain of parking\n"
                      : text + paragraph(screen,
                                         "exposed: the share of the critical path that is work beside pollers of this "
                                         "site; break-even: the shortest wait for which parking pays");
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
