// The one-screen text after `run`.
#include <fmt/format.h>

#include "analyzer/words/format.h"
#include "reports/parts/phrases.h"
#include "reports/parts/tables.h"
#include "reports/text/activity_text.h"
#include "reports/text/answers.h"
#include "reports/text/findings_text.h"
#include "reports/text/screen.h"
#include "reports/text/sections.h"
#include "reports/text/table_text.h"

namespace wicprof::reports {
namespace {

// What fits on a screen of some 40 lines.
constexpr std::size_t kSummarySites = 5;
constexpr std::size_t kKernels = 5;
constexpr std::size_t kHostWaits = 3;
constexpr std::size_t kThreads = 5;
constexpr std::size_t kRanks = 5;
constexpr std::size_t kInterventions = 6;
constexpr std::size_t kSummaryFindings = 3;

/// "NVIDIA H200 was idle for 63 % of 2.03 s: no kernel and no copy ran".
std::string idle_text(const TraceModel& model, const Analysis& analysis, const Screen& screen) {
  std::string text;
  for (const analyzer::DeviceBusy& device : analysis.devices) {
    text += paragraph(screen, fmt::format("{} was idle for {} of {}: no kernel and no copy ran",
                                          one_line(model.device_name(device.device)), format_percent(device.idle()),
                                          format_duration(device.of_ns)));
  }
  return text;
}

/// Why nothing is known about kernels that poll; empty if samples show it.
std::string unseen_text(const TraceModel& model, const Analysis& analysis, const Screen& screen) {
  for (const Refusal& refusal : analysis.refusals) {
    if (refusal.rule == "polling_kernel" && !model.kernels.empty())
      return paragraph(screen, "which kernels poll is not known: " + one_line(refusal.reason));
  }
  return {};
}

/// What the run showed: the end of the summary, so that a terminal shows it last.
std::string found_text(const TraceModel& model, const Analysis& analysis, const Screen& screen) {
  std::string text = worst_findings_text(analysis, kSummaryFindings, screen);
  if (!analysis.sites.empty()) return text;
  text += idle_text(model, analysis, screen) + unseen_text(model, analysis, screen);
  return text + paragraph(screen, why_no_sites(model, analysis));
}

}  // namespace

std::string summary_text(const TraceModel& model, const Analysis& analysis, const Screen& screen) {
  std::string text = loss_text(analysis, screen);
  text += shorten(command_of(model), screen.width) + "\n";
  text += paragraph(screen, trace_line(model, analysis));
  if (const std::string dump = dump_line(model); !dump.empty()) text += paragraph(screen, dump);
  if (!analysis.sites.empty()) text += section(sites_text(model, analysis, kSummarySites, screen));
  text += section(table_text(kernels_table(analysis, kKernels), screen));
  text += section(table_text(host_waits_table(analysis, kHostWaits), screen));
  text += section(table_text(mpi_ranks_table(model, analysis, kRanks), screen));
  if (analysis.sites.empty() && analysis.mpi.ranks.empty())
    text += section(table_text(threads_table(model, analysis, kThreads), screen));
  text += section(table_text(interventions_table(model, kInterventions), screen));
  text += section(table_text(decisions_table(model, kInterventions), screen));
  text += section(own_cost_text(analysis, screen));
  return text + section(found_text(model, analysis, screen));
}

}  // namespace wicprof::reports
