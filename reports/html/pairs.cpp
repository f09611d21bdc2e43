// Kernels that could start before their predecessor's end: a table, and the waves of the first pairs.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/html/elements.h"
#include "reports/html/sections.h"
#include "reports/parts/pair_phrases.h"
#include "reports/parts/tables.h"

namespace wicprof::reports::html {
namespace {

constexpr std::size_t kListed = 20, kDrawn = 5;
constexpr double kWidth = 1000, kHeight = 40;

/// The device over time: its height is all SMs, and what no bar covers is idle.
std::string drawing(const DependentPair& pair) {
  const std::vector<WaveBar> bars = wave_bars(pair);
  if (bars.empty()) return {};
  std::string svg = fmt::format(
      "<figure><figcaption>{}: {}; then {}</figcaption>\n<svg class=\"waves\" viewBox=\"0 0 {} {}\" "
      "preserveAspectRatio=\"none\" width=\"100%\" height=\"40\" role=\"img\" aria-label=\"Waves of both "
      "kernels\">\n<rect class=\"lane\" width=\"{}\" "
      "height=\"{}\"/>\n",
      text_of(pair_name(pair)), text_of(waves_text(pair.producer)), text_of(waves_text(pair.consumer)), kWidth, kHeight,
      kWidth, kHeight);
  for (const WaveBar& bar : bars) {
    const double height = kHeight * std::clamp(bar.fill, 0.0, 1.0);
    svg += fmt::format(
        "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"><title>{}</title></rect>\n",
        bar.consumer ? "mark" : "kernel", kWidth * bar.begin, kHeight - height, kWidth * (bar.end - bar.begin), height,
        text_of(fmt::format("{}, {} full", count_of(bar.waves, "wave"), format_percent(bar.fill))));
  }
  return svg + "</svg></figure>\n";
}

}  // namespace

std::string pairs_part(const TraceModel& model, const Analysis& analysis) {
  const DependentKernels& kernels = analysis.dependent_kernels;
  if (kernels.pairs.empty() && analysis.crowded_kernels.empty()) return {};
  std::string body =
      table_html(dependent_kernels_table(kernels, kListed)) + remark(pairs_summary(kernels)) + remark(kPairsAssume);
  std::string drawings;
  for (std::size_t i = 0; i < std::min(kDrawn, kernels.pairs.size()); ++i) drawings += drawing(kernels.pairs[i]);
  if (!drawings.empty())
    body += remark(
                "Waves of a mean launch: grey the first kernel, dark the second; the height is the share of the SMs "
                "that have blocks.") +
            drawings;
  if (kernels.pairs.empty()) body.clear();
  body += table_html(crowded_table(analysis, kListed));
  return section("dependent-kernels", "Kernels that could start earlier", body, analyze_command(model, "--verbose"));
}

}  // namespace wicprof::reports::html
