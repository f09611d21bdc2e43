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

std::string summary_text(const TraceModel& model, const Analysis& analysis, const Screen& screen) {
  std::string text = loss_text(analysis, screen);
  text += shorten(command_of(model), screen.width) + "\n";
  text += paragraph(screen, trace_line(model, analysis));
  text += section(sites_text(model, analysis, kSummarySites, screen));
  text += section(kernels_text(analysis, kKernels, screen));
  text += section(host_waits_text(analysis, kHostWaits, screen));
  text += section(interventions_text(model, kInterventions, screen));
  text += section(own_cost_text(analysis, screen));
  return text;
}

}  // namespace wicprof::reports
