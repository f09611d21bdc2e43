// Kernels that could start before their predecessor's end: a table, and the waves of the first pairs.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/html/elements.h"
#include "reports/html/sections.h"
#include "reports/parts/pair_phrases.h"

namespace wicprof::reports::html {
namespace {

constexpr std::size_t kListed = 20, kDrawn = 5;
constexpr double kWidth = 1000, kHeight = 40;

/// The device over time: its height is all SMs, and what no bar covers is idle.
std::string drawing(const DependentPair& pair) {
  const std::vector<WaveBar> bars = wave_bars(pair);
  if (bars.empty()) return {};
  std::string svg = fmt::format(
      "<figure><figcaption>{}: {}; then {}</figcaption>\n<svg viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" "
      "style=\"height:40px\" role=\"img\" aria-label=\"Waves of both kernels\">\n<rect class=\"lane\" width=\"{}\" "
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

std::vector<Cell> cells_of(const auto& texts) {
  std::vector<Cell> cells{name_of(texts[0])};
  for (std::size_t column = 1; column < texts.size(); ++column) cells.emplace_back(text_of(texts[column]));
  return cells;
}

std::string crowded_table(const std::vector<CrowdedKernel>& list) {
  if (list.empty()) return {};
  std::vector<std::string> head;
  for (const Column& each : kCrowdedColumns) head.emplace_back(each.head);
  Table table(head);
  const std::size_t shown = std::min(kListed, list.size());
  for (std::size_t i = 0; i < shown; ++i) table.add(cells_of(crowded_cells(list[i])));
  return table.str() + and_more(list.size(), shown, "kernel");
}

}  // namespace

std::string pairs_part(const TraceModel& model, const Analysis& analysis) {
  const DependentKernels& kernels = analysis.dependent_kernels;
  if (kernels.pairs.empty() && analysis.crowded_kernels.empty()) return {};
  std::vector<std::string> head;
  for (std::size_t column = 0; column < kPairColumns.size(); ++column) head.push_back(pair_head(column));
  Table table(head);
  const std::size_t shown = std::min(kListed, kernels.pairs.size());
  for (std::size_t i = 0; i < shown; ++i) table.add(cells_of(pair_cells(kernels.pairs[i])));
  std::string body = table.str() + and_more(kernels.pairs.size(), shown, "pair") + remark(pairs_summary(kernels)) +
                     remark(kPairsAssume);
  std::string drawings;
  for (std::size_t i = 0; i < std::min(kDrawn, shown); ++i) drawings += drawing(kernels.pairs[i]);
  if (!drawings.empty())
    body += remark(
                "Waves of a mean launch: grey the first kernel, dark the second; the height is the share of the SMs "
                "that have blocks.") +
            drawings;
  if (kernels.pairs.empty()) body.clear();
  body += crowded_table(analysis.crowded_kernels);
  return section("dependent-kernels", "Kernels that could start earlier", body, analyze_command(model, "--verbose"));
}

}  // namespace wicprof::reports::html
