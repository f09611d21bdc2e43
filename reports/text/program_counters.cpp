#include "reports/text/program_counters.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/parts/sample_phrases.h"
#include "reports/parts/tables.h"
#include "reports/text/screen.h"
#include "reports/text/table_text.h"

namespace wicprof::reports {
namespace {

constexpr std::size_t kMaxCodeLines = 24;
constexpr std::size_t kReasons = 2;

std::string code_text(const PollingLoop& loop, const Screen& screen) {
  std::string text;
  const std::size_t shown = std::min(kMaxCodeLines, loop.code.size());
  for (std::size_t i = 0; i < shown; ++i) text += "      " + shorten(loop.code[i], screen.beside(6)) + "\n";
  if (shown < loop.code.size())
    text += fmt::format("      and {}\n", count_of(loop.code.size() - shown, "more instruction"));
  return text;
}

}  // namespace

std::string program_counters_text(const TraceModel& model, const Analysis& analysis, std::size_t most,
                                  const Screen& screen) {
  const Stalls& stalls = analysis.stalls;
  if (stalls.functions.empty()) return {};
  std::string text = table_text(functions_table(analysis, most, kReasons), screen);
  for (const DeviceSamples& device : stalls.devices) text += paragraph(screen, samples_line(model, device));
  for (const PollingLoop& loop : analysis.polling_loops) {
    text += paragraph(screen, loop_text(loop), 2, 2) + code_text(loop, screen);
  }
  text += table_text(mbarrier_waits_table(analysis, most), screen);
  if (const std::string missing = model.meta_value(store::MetaKey::sass_missing); !missing.empty()) {
    text += paragraph(screen, "instructions are missing: " + one_line(missing));
  }
  return text;
}

}  // namespace wicprof::reports
