// The answer of `analyze` on the screen: the verdict, the worst findings, then where the time goes; all tables on
// demand.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "protocol/shell_words.h"
#include "reports/parts/phrases.h"
#include "reports/parts/tables.h"
#include "reports/parts/verdict.h"
#include "reports/text/activity_text.h"
#include "reports/text/answers.h"
#include "reports/text/findings_text.h"
#include "reports/text/model_text.h"
#include "reports/text/program_counters.h"
#include "reports/text/ranks_text.h"
#include "reports/text/screen.h"
#include "reports/text/sections.h"
#include "reports/text/table_text.h"

namespace wicprof::reports {
namespace {

constexpr std::size_t kWorst = 3;

// What the short answer names.
constexpr std::size_t kNamedSites = 5;
constexpr std::size_t kNamedRows = 3;
constexpr std::size_t kKernelName = 60;  // characters: names of templates fill a screen
constexpr std::size_t kMatrixRanks = 16;
/// Below a hundredth of the critical path, a step is left out.
constexpr double kWorthNaming = 0.01;

// What the tables hold.
constexpr std::size_t kSites = 50;
constexpr std::size_t kRows = 20;
constexpr std::size_t kFunctions = 15;

Ink ink_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return Ink::good;
    case Tone::bad:
      return Ink::bad;
    case Tone::warn:
      return Ink::warn;
    case Tone::open:
      break;
  }
  return Ink::strong;
}

std::string verdict_text(const TraceVerdict& verdict, const Screen& screen) {
  static constexpr std::string_view kHead = "Verdict:";
  const std::string head = paragraph(screen, fmt::format("{} {}", kHead, one_line(verdict.headline)), 0, 2);
  // Each line by itself, so that a terminal that scrolls does not carry the colour on.
  std::string text(kHead);
  std::size_t begin = kHead.size();
  for (std::size_t end; (end = head.find('\n', begin)) != head.npos; begin = end + 1)
    text += inked(screen, ink_of(verdict.tone), head.substr(begin, end - begin)) + "\n";
  if (!verdict.detail.empty()) text += paragraph(screen, verdict.detail);
  if (!verdict.command.empty())
    text += fmt::format("  {}:\n", verdict.command_title()) + command_lines(screen, verdict.command);
  return text;
}

std::string run_text(const TraceModel& model, const Analysis& analysis, const Screen& screen) {
  std::string text = shorten(one_line(model.name) + ": " + command_of(model), screen.width) + "\n";
  text += paragraph(screen, trace_line(model, analysis));
  const std::string dump = dump_line(model);
  return dump.empty() ? text : text + paragraph(screen, dump);
}

std::string sites_in_words(const TraceModel& model, const Analysis& analysis, const Screen& screen) {
  if (analysis.sites.empty()) return paragraph(screen, why_no_sites(model, analysis), 2, 2);
  std::string text;
  const std::size_t shown = std::min(kNamedSites, analysis.sites.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const SiteStats& site = analysis.sites[i];
    std::string line = fmt::format("{}: {}, {} in all, {} each (median); a waiter spends {} of its time here",
                                   one_line(site.name), count_of(site.count, "wait"), format_duration(site.total_ns),
                                   format_duration(site.p50_ns), format_percent(site.share));
    if (!site.strategies.empty()) line += "; strategy: " + strategy_mix(site);
    text += paragraph(screen, line, 2, 2);
  }
  return text + and_more(analysis.sites.size(), shown, "wait site");
}

std::string kernels_in_words(const Analysis& analysis, const Screen& screen) {
  std::string line;
  const std::size_t shown = std::min(kNamedRows, analysis.kernels.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const KernelStats& kernel = analysis.kernels[i];
    line += fmt::format("{}{} {} ({})", i == 0 ? "" : ", ", shorten(function_name(one_line(kernel.name)), kKernelName),
                        format_duration(kernel.total_ns), count_of(kernel.count, "run"));
  }
  if (line.empty()) return {};
  if (shown < analysis.kernels.size())
    line += fmt::format(", and {} more", count_of(analysis.kernels.size() - shown, "kernel"));
  return paragraph(screen, "kernels: " + line, 2, 2);
}

std::string host_waits_in_words(const Analysis& analysis, const Screen& screen) {
  const std::vector<HostWaitStats> calls = host_calls(analysis);
  std::string line;
  for (std::size_t i = 0; i < std::min(kNamedRows, calls.size()); ++i) {
    const HostWaitStats& call = calls[i];
    line += fmt::format("{}{} in {} ({}{})", i == 0 ? "" : ", ", format_duration(call.total_ns),
                        one_line(name_at(call.name, call.place)), count_of(call.count, "call"),
                        call.way() == WaitingWay::spinning ? ", spinning" : "");
  }
  return line.empty() ? line : paragraph(screen, "host threads waited " + line, 2, 2);
}

/// The worst causes, each at its site.
std::string lateness_in_words(const TraceModel& model, const Analysis& analysis, const Screen& screen) {
  std::string line;
  const std::vector<LateSum>& sums = analysis.lateness.by_site;
  for (std::size_t i = 0; i < std::min(kNamedRows, sums.size()); ++i) {
    const LateSum& sum = sums[i];
    line += fmt::format("{}{} +-{} {}({}, {})", i == 0 ? "" : ", ", format_duration(sum.late_ns),
                        format_duration(sum.error_ns),
                        sum.site == 0 ? "" : "at " + one_line(model.site_name(sum.site)) + " ",
                        late_cause_words(sum.cause), count_of(sum.count, "delay"));
  }
  if (line.empty()) return {};
  return paragraph(screen, "steps were late: " + line, 2, 2) + host_gain_text(model, analysis, screen);
}

std::string path_in_words(const Analysis& analysis, const Screen& screen) {
  std::string line;
  for (const PathShare& share : analysis.path.shares) {
    if (share.share < kWorthNaming) break;
    line += fmt::format("{}{} {} ({})", line.empty() ? "" : ", ", format_percent(share.share),
                        path_kind_name(share.kind), one_line(share.where));
  }
  return line.empty() ? line : paragraph(screen, "the end of the run waited for: " + line, 2, 2);
}

std::string communication_in_words(const Classification& c, const Screen& screen) {
  if (c.model == Model::unknown && c.pattern == Pattern::unknown) return {};
  const std::string iteration =
      c.period.count > 0 && c.period.ns > 0
          ? fmt::format("; {} of {} each (median)", count_of(c.period.count, "iteration"), format_duration(c.period.ns))
          : std::string();
  return paragraph(
      screen, fmt::format("communication: {}; pattern: {}{}", model_name(c.model), pattern_name(c.pattern), iteration),
      2, 2);
}

/// How to see more.
std::string more_text(const TraceModel& model, const Analysis& analysis, const AnalysisView& view) {
  const Screen& screen = view.screen;
  const std::string unseen = analysis.refusals.empty() ? std::string()
                                                       : fmt::format(", and why {} could not look",
                                                                     count_of(analysis.refusals.size(), "rule"));
  if (model.is_digest() || model.joined.size() > kNamedTraces)
    return paragraph(screen, fmt::format("All tables{}: the same command with --verbose", unseen), 0);
  return paragraph(screen, fmt::format("All tables, the evidence{}:", unseen), 0) +
         command_lines(screen,
                       "wic-prof analyze --verbose " + (view.file.empty() ? trace_words(model) : shell_word(view.file)),
                       2);
}

/// Of digests, what they show: who waited for whom.
std::string text_of_digests(const TraceModel& model, const Analysis& analysis, const AnalysisView& view) {
  const Screen& screen = view.screen;
  std::string text =
      section(view.verbose ? findings_text(analysis, screen) : worst_findings_text(analysis, kWorst, screen));
  text += "\n" + run_text(model, analysis, screen);
  text += section(table_text(mpi_calls_table(analysis, kRows), screen));
  text += section(table_text(mpi_ranks_table(model, analysis, view.verbose ? kAllRows : kMatrixRanks), screen));
  text += section(rank_matrix_text(model, analysis, view.verbose ? kAllRows : kMatrixRanks, screen));
  text += section(digest_text(model, analysis, kRows, screen));
  return view.verbose ? text : text + "\n" + more_text(model, analysis, view);
}

std::string short_text(const TraceModel& model, const Analysis& analysis, const AnalysisView& view) {
  const Screen& screen = view.screen;
  std::string text = section(worst_findings_text(analysis, kWorst, screen));
  text += "\n" + run_text(model, analysis, screen);
  text += "\nWhere the time goes\n" + sites_in_words(model, analysis, screen) + kernels_in_words(analysis, screen) +
          graphs_text(analysis, kNamedRows, screen) + host_waits_in_words(analysis, screen) +
          path_in_words(analysis, screen) + communication_in_words(analysis.classification, screen);
  text += section(counted_text(analysis, kNamedSites, screen));
  text += lateness_in_words(model, analysis, screen);
  text += section(energy_text(analysis, kNamedRows, screen));
  text += section(table_text(mbarrier_waits_table(analysis, kNamedRows), screen));
  text += section(table_text(decisions_table(model, kNamedRows), screen));
  text += section(table_text(mpi_ranks_table(model, analysis, kNamedSites), screen));
  text += section(rank_matrix_text(model, analysis, kMatrixRanks, screen));
  if (analysis.sites.empty() && analysis.kernels.empty() && analysis.mpi.ranks.empty())
    text += section(table_text(threads_table(model, analysis, kNamedSites), screen));
  return text + "\n" + more_text(model, analysis, view);
}

std::string whole_text(const TraceModel& model, const Analysis& analysis, const Screen& screen) {
  std::string text = section(findings_text(analysis, screen));
  text += "\n" + run_text(model, analysis, screen);
  text += section(classification_text(analysis.classification, screen));
  text += section(sites_text(model, analysis, kSites, screen));
  text += section(counted_text(analysis, kSites, screen));
  text += section(table_text(words_table(analysis, kSites), screen));
  text += section(choices_text(analysis, kSites, screen));
  text += section(table_text(decisions_table(model, kRows), screen));
  text += section(wakes_text(analysis, kSites, screen));
  text += section(models_text(model, analysis, kRows, screen));
  text += section(energy_text(analysis, kRows, screen));
  text += section(table_text(kernels_table(analysis, kRows), screen));
  text += section(graphs_text(analysis, kRows, screen));
  text += section(filling_text(analysis, kRows, screen));
  text += section(pairs_text(analysis, kRows, screen));
  text += section(table_text(crowded_table(analysis, kRows), screen));
  text += section(table_text(host_waits_table(analysis, kRows), screen));
  text += section(lateness_text(model, analysis, kRows, screen));
  text += section(table_text(threads_table(model, analysis, kRows), screen));
  text += section(activity_text(model, analysis, kRows, screen));
  text += section(rank_matrix_text(model, analysis, kAllRows, screen));
  text += section(program_counters_text(model, analysis, kFunctions, screen));
  return text;
}

}  // namespace

std::string analysis_text(const TraceModel& model, const Analysis& analysis, const AnalysisView& view) {
  return loss_text(analysis, view.screen) + verdict_text(trace_verdict(model, analysis, view.comparison), view.screen) +
         (model.is_digest() ? text_of_digests(model, analysis, view)
          : view.verbose    ? whole_text(model, analysis, view.screen)
                            : short_text(model, analysis, view));
}

}  // namespace wicprof::reports
