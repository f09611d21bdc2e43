// The answer of `compare` on the screen.
#include <fmt/format.h>

#include "analyzer/words/change.h"
#include "analyzer/words/format.h"
#include "reports/parts/phrases.h"
#include "reports/parts/tables.h"
#include "reports/text/answers.h"
#include "reports/text/screen.h"
#include "reports/text/table_text.h"

namespace wicprof::reports {
namespace {

/// More segments would push the answer off the screen.
constexpr std::size_t kMaxSegments = 12;

Ink ink_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::improvement:
    case Verdict::no_change:
      return Ink::good;
    case Verdict::regression:
      return Ink::bad;
    case Verdict::inconclusive:
      break;
  }
  return Ink::warn;
}

std::string differences_text(const Differences& all, const Screen& screen) {
  if (all.sites.empty()) return {};
  std::string text = "\n" + table_text(site_differences_table(all, kAllRows), screen);
  for (const SiteDifference& site : all.sites) {
    if (!site.before_cpu || !site.after_cpu) continue;
    text += paragraph(screen, fmt::format("Waiting in {} takes {:.2f} of a CPU before, {:.2f} after.",
                                          one_line(name_at(site.site, site.place)), *site.before_cpu, *site.after_cpu));
  }
  return text + section(table_text(edge_differences_table(all, kAllRows), screen));
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const Screen& screen) {
  std::string text =
      fmt::format("Verdict: {}{}\n", inked(screen, ink_of(comparison.verdict), verdict_name(comparison.verdict)),
                  comparison.why.empty() ? "" : ": " + comparison.why);
  text += paragraph(screen, one_line(comparison.reason));
  if (!comparison.settle.empty())
    text += paragraph(screen, "To settle it:") + command_lines(screen, one_line(comparison.settle));
  if (comparison.before.iteration_ns_p50 || comparison.after.iteration_ns_p50)
    text += section(table_text(sides_table(comparison), screen));
  if (comparison.predicted) {
    text += paragraph(
        screen, "Time per iteration, predicted from the polling alone: " + gain_text(comparison.predicted) +
                    (comparison.prediction_error
                         ? fmt::format("; measured {}, so the prediction is off by {:+.1f} %.",
                                       change_text(1 / comparison.speedup->value), 100 * *comparison.prediction_error)
                         : std::string(".")));
  } else if (!comparison.predicted_reason.empty()) {
    text += paragraph(screen, "Not predicted: " + one_line(comparison.predicted_reason) + ".");
  }
  text += section(table_text(segments_table(comparison, kMaxSegments), screen));
  text += differences_text(comparison.differences, screen);
  text += section(table_text(meter_differences_table(comparison, kAllRows), screen));
  text += section(table_text(site_energy_differences_table(comparison.differences, kAllRows), screen));
  if (const std::string legend = energy_legend(comparison); !legend.empty()) text += paragraph(screen, legend);
  text += "\n";
  if (!comparison.measured_at.empty()) text += paragraph(screen, timed_text(comparison) + ".");
  if (!comparison.timed.empty()) text += paragraph(screen, "Unit: " + one_line(comparison.timed) + ".");
  if (!comparison.estimator.empty()) text += paragraph(screen, "Estimator: " + one_line(comparison.estimator) + ".");
  text += paragraph(screen, fmt::format("Changes below {:.3g} % are ignored; each side needs at least {} iterations.",
                                        comparison.options.tolerance * 100, comparison.options.min_iterations));
  for (const std::string& note : comparison.notes) text += paragraph(screen, "Note: " + one_line(note) + ".");
  return text;
}

}  // namespace wicprof::reports
