// The one-screen text after `run`.
#include <fmt/format.h>

#include "analyzer/words/format.h"
#include "reports/parts/phrases.h"
#include "reports/text/activity_text.h"
#include "reports/text/answers.h"
#include "reports/text/screen.h"
#include "reports/text/sections.h"

namespace wicprof::reports {
namespace {

// What fits on a screen of some 40 lines.
constexpr std::size_t kSummarySites = 5;
constexpr std::size_t kKernels = 5;
constexpr std::size_t kHostWaits = 3;
constexpr std::size_t kInterventions = 6;

}  // namespace

std::string summary_text(const TraceModel& model, const Analysis& analysis) {
  std::string text = loss_text(analysis);
  text += shorten(command_of(model), kScreenWidth) + "\n";
  text += paragraph(trace_line(model, analysis));
  text += section(sites_text(model, analysis, kSummarySites));
  text += section(kernels_text(analysis, kKernels));
  text += section(host_waits_text(analysis, kHostWaits));
  text += section(interventions_text(model, kInterventions));
  text += section(own_cost_text(analysis));
  return text;
}

}  // namespace wicprof::reports
