// The answer of `analyze` on the screen.
#include "analyzer/words/format.h"
#include "reports/parts/phrases.h"
#include "reports/text/activity_text.h"
#include "reports/text/answers.h"
#include "reports/text/model_text.h"
#include "reports/text/program_counters.h"
#include "reports/text/screen.h"
#include "reports/text/sections.h"

namespace wicprof::reports {
namespace {

constexpr std::size_t kSites = 50;
constexpr std::size_t kRows = 20;
constexpr std::size_t kFunctions = 15;

}  // namespace

std::string analysis_text(const TraceModel& model, const Analysis& analysis) {
  std::string text = loss_text(analysis);
  text += shorten(one_line(model.name) + ": " + command_of(model), kScreenWidth) + "\n";
  text += paragraph(trace_line(model, analysis));
  text += section(classification_text(analysis.classification));
  text += section(sites_text(model, analysis, kSites));
  text += section(words_text(analysis, kSites));
  text += section(choices_text(analysis, kSites));
  text += section(wakes_text(analysis, kSites));
  text += section(models_text(model, analysis, kRows));
  text += section(kernels_text(analysis, kRows));
  text += section(filling_text(analysis, kRows));
  text += section(host_waits_text(analysis, kRows));
  text += section(activity_text(model, analysis, kRows));
  text += section(program_counters_text(model, analysis, kFunctions));
  text += section(findings_text(analysis));
  return text;
}

}  // namespace wicprof::reports
