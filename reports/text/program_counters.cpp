#include "reports/text/program_counters.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/parts/sample_phrases.h"
#include "reports/text/screen.h"

namespace wicprof::reports {
namespace {

constexpr std::size_t kFunctionWidth = 28;
constexpr std::size_t kLineWidth = 18;
constexpr std::size_t kReasonsWidth = 31;
constexpr std::size_t kMaxCodeLines = 24;

// As many reasons as fit the screen.
std::string short_reasons(const std::vector<StallShare>& reasons) {
  const std::string two = reasons_text(reasons, 2);
  return two.size() <= kReasonsWidth ? two : shorten(reasons_text(reasons, 1), kReasonsWidth);
}

std::string code_text(const PollingLoop& loop) {
  std::string text;
  const std::size_t shown = std::min(kMaxCodeLines, loop.code.size());
  for (std::size_t i = 0; i < shown; ++i) text += "      " + shorten(loop.code[i], kScreenWidth - 6) + "\n";
  if (shown < loop.code.size())
    text += fmt::format("      and {}\n", count_of(loop.code.size() - shown, "more instruction"));
  return text;
}

}  // namespace

std::string program_counters_text(const TraceModel& model, const Analysis& analysis, std::size_t most) {
  const Stalls& stalls = analysis.stalls;
  if (stalls.functions.empty()) return {};
  TextTable table("lrrll", {"Program counters", "samples", "share", "hottest line", "warps stall on"});
  const std::size_t shown = std::min(most, stalls.functions.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const FunctionStalls& function = stalls.functions[i];
    table.add({shorten(function_name(one_line(function.function)), kFunctionWidth), format_count(function.samples),
               format_percent(function.share), shorten(hottest_line(function), kLineWidth),
               short_reasons(function.reasons)});
  }
  std::string text = table.str(0);
  if (shown < stalls.functions.size()) {
    text += fmt::format("  and {}\n", count_of(stalls.functions.size() - shown, "more function"));
  }
  for (const DeviceSamples& device : stalls.devices) text += paragraph(samples_line(model, device));
  for (const PollingLoop& loop : analysis.polling_loops) {
    text += "  " + wrap(loop_text(loop), kScreenWidth - 2, 4) + "\n" + code_text(loop);
  }
  if (const std::string missing = model.meta_value("sass_missing"); !missing.empty()) {
    text += paragraph("instructions are missing: " + one_line(missing));
  }
  return text;
}

}  // namespace wicprof::reports
