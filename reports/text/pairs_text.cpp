// Kernels that could start before their predecessor's end, on the screen.
#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/parts/pair_phrases.h"
#include "reports/parts/tables.h"
#include "reports/text/sections.h"
#include "reports/text/table_text.h"

namespace wicprof::reports {
namespace {

/// Pairs whose waves are drawn, and the length of a drawing.
constexpr std::size_t kDrawn = 5, kLineWidth = 72;

}  // namespace

std::string pairs_text(const Analysis& analysis, std::size_t most, const Screen& screen) {
  const DependentKernels& kernels = analysis.dependent_kernels;
  if (kernels.pairs.empty()) return {};
  DependentKernels direct = kernels;
  std::erase_if(direct.pairs, [](const DependentPair& pair) { return pair.launches == 0; });
  std::string text = table_text(dependent_kernels_table(kernels, most), screen, 0, {0, 1, 2, 3, 4, 5}) +
                     section(table_text(dependent_kernels_table(direct, most), screen, 0, {0, 6, 7, 8}));
  text += paragraph(screen, pairs_summary(kernels));
  if (kernels.launches > 0) text += paragraph(screen, kPairsAssume);
  std::string drawings;
  for (std::size_t i = 0; i < std::min({kDrawn, most, kernels.pairs.size()}); ++i) {
    const std::string line = wave_line(kernels.pairs[i], std::min(kLineWidth, screen.beside(4)));
    if (line.empty()) continue;
    drawings += paragraph(screen, shorten(pair_name(kernels.pairs[i]), screen.beside(2))) + "    " + line + "\n";
  }
  return drawings.empty() ? text : text + paragraph(screen, "Waves. " + std::string(kWaveLineLegend)) + drawings;
}

}  // namespace wicprof::reports
