// Kernels that could start before their predecessor's end, on the screen.
#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/parts/pair_phrases.h"
#include "reports/text/sections.h"

namespace wicprof::reports {
namespace {

/// Pairs whose waves are drawn, and the length of a drawing.
constexpr std::size_t kDrawn = 5, kLineWidth = 72;

}  // namespace

std::string pairs_text(const Analysis& analysis, std::size_t most, const Screen& screen) {
  const DependentKernels& kernels = analysis.dependent_kernels;
  if (kernels.pairs.empty()) return {};
  const std::size_t shown = std::min(most, kernels.pairs.size());
  const auto first_gain = kPairColumns.size() - kPairGains;
  TextTable pairs("lrwrrr", heads({column::kPair, column::kLaunches, column::kFirstWaves, column::kGapTime,
                                   column::kIdleSms, column::kWaitingSms}));
  TextTable gains("lwww", heads({column::kEarlierStart, column::kByTiles, column::kByDependent, column::kByCarveOut}));
  for (std::size_t i = 0; i < shown; ++i) {
    const auto cells = pair_cells(kernels.pairs[i]);
    pairs.add({cells.begin(), cells.begin() + first_gain});
    std::vector<std::string> row{cells.front()};
    row.insert(row.end(), cells.begin() + first_gain, cells.end());
    if (kernels.pairs[i].launches > 0) gains.add(row);
  }
  std::string text = pairs.str(0, screen.width) + and_more(kernels.pairs.size(), shown, "pair");
  if (kernels.launches > 0) text += "\n" + gains.str(0, screen.width);
  text += paragraph(screen, pairs_summary(kernels));
  if (kernels.launches > 0) text += paragraph(screen, kPairsAssume);
  std::string drawings;
  for (std::size_t i = 0; i < std::min(kDrawn, shown); ++i) {
    const std::string line = wave_line(kernels.pairs[i], std::min(kLineWidth, screen.beside(4)));
    if (line.empty()) continue;
    drawings += paragraph(screen, shorten(pair_name(kernels.pairs[i]), screen.beside(2))) + "    " + line + "\n";
  }
  return drawings.empty() ? text : text + paragraph(screen, "Waves. " + std::string(kWaveLineLegend)) + drawings;
}

std::string crowded_text(const Analysis& analysis, std::size_t most, const Screen& screen) {
  const std::vector<CrowdedKernel>& list = analysis.crowded_kernels;
  if (list.empty()) return {};
  TextTable table("lrrrrrw", heads({column::kCrowded, column::kLaunches, column::kHeldSms, column::kWaitingSms,
                                    column::kTimeBeside, column::kTimeAlone, column::kBySpreading}));
  const std::size_t shown = std::min(most, list.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto cells = crowded_cells(list[i]);
    table.add({cells.begin(), cells.end()});
  }
  return table.str(0, screen.width) + and_more(list.size(), shown, "kernel");
}

}  // namespace wicprof::reports
