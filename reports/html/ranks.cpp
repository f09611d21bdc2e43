// The ranks of an MPI program: when each waited, and when the others waited for it, as heat maps; and what that cost.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzer/words/format.h"
#include "reports/html/drawing_style.h"
#include "reports/html/elements.h"
#include "reports/html/sections.h"
#include "reports/html/svg_axis.h"
#include "reports/parts/phrases.h"
#include "reports/parts/rank_matrix.h"
#include "reports/parts/tables.h"

namespace wicprof::reports::html {
namespace {

/// More rows would be lower than a line of text can name, and the page grows with them.
constexpr std::size_t kMapRows = 64, kMapColumns = 100;
constexpr double kMapLeft = 84, kMapRight = 8, kBelowMap = 20, kAboveMap = 6;
/// A row's height: of few ranks, and of many.
constexpr double kHighRow = 16, kLowRow = 6, kLabelHeight = 12;
constexpr std::size_t kFewRows = 16;

struct MapSpace {
  std::string_view css;
  double width;
  int labels;
};
constexpr MapSpace kWideMap{"wide", 1080, 8}, kNarrowMap{"narrow", 340, 3};

std::string ranks_of(const RankMatrix::Row& row) {
  return row.first == row.last ? fmt::format("rank {}", row.first) : fmt::format("{} to {}", row.first, row.last);
}

/// The level of a value, from 1 to kHeatLevels; 0 for nothing.
std::size_t level_of(TimeNs value, TimeNs most) {
  if (value <= 0 || most <= 0) return 0;
  const double share = static_cast<double>(value) / static_cast<double>(most);
  return std::min(kHeatLevels, 1 + static_cast<std::size_t>(share * static_cast<double>(kHeatLevels)));
}

using MapValues = std::vector<TimeNs> RankMatrix::Row::*;

/// One path for all cells of a level: neighbours of one level are one rectangle.
std::string map_cells(const RankMatrix& matrix, MapValues values, TimeNs most, double width, double height) {
  std::array<std::string, kHeatLevels + 1> paths;
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    const std::vector<TimeNs>& list = matrix.rows[row].*values;
    for (std::size_t from = 0; from < list.size();) {
      const std::size_t level = level_of(list[from], most);
      std::size_t to = from + 1;
      while (to < list.size() && level_of(list[to], most) == level) ++to;
      if (level > 0)
        paths[level] +=
            fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.1f}h{:.1f}z", kMapLeft + width * static_cast<double>(from),
                        kAboveMap + height * static_cast<double>(row), width * static_cast<double>(to - from), height,
                        -width * static_cast<double>(to - from));
      from = to;
    }
  }
  std::string out;
  for (std::size_t level = 1; level <= kHeatLevels; ++level) {
    if (!paths[level].empty()) out += fmt::format("<path class=\"heat heat-{}\" d=\"{}\"/>\n", level, paths[level]);
  }
  return out;
}

std::string map_svg(const RankMatrix& matrix, MapValues values, TimeNs most, const MapSpace& space,
                    std::string_view title) {
  const double height = matrix.rows.size() <= kFewRows ? kHighRow : kLowRow;
  const double inner = space.width - kMapLeft - kMapRight, all = height * static_cast<double>(matrix.rows.size());
  std::string out = fmt::format("<svg class=\"{}\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n",
                                space.css, space.width, kAboveMap + all + kBelowMap, title);
  out += fmt::format("<rect class=\"lane\" x=\"{}\" y=\"{}\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n", kMapLeft,
                     kAboveMap, inner, all);
  out += map_cells(matrix, values, most, inner / static_cast<double>(matrix.columns), height);
  const auto every = static_cast<std::size_t>(std::max(1.0, kLabelHeight / height + 0.99));
  for (std::size_t row = 0; row < matrix.rows.size(); row += every) {
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kMapLeft - 6,
                       kAboveMap + height * static_cast<double>(row) + std::max(height, kLabelHeight) / 2 + 4,
                       ranks_of(matrix.rows[row]));
  }
  const Axis axis{matrix.begin, matrix.end(), kMapLeft, kMapLeft + inner};
  return out + time_labels(axis, matrix.begin, space.labels, kAboveMap + all + 15, space.width - 60) + "</svg>\n";
}

std::string heat_map(const RankMatrix& matrix, MapValues values, TimeNs most, std::string_view title) {
  if (most == 0) return {};
  std::string scale;
  for (std::size_t level = 1; level <= kHeatLevels; ++level) scale += swatch(fmt::format("heat heat-{}", level));
  return fmt::format("<h3>{}</h3>\n", title) + map_svg(matrix, values, most, kWideMap, title) +
         map_svg(matrix, values, most, kNarrowMap, title) +
         fmt::format("<div class=\"legend\"><span>{}up to {} in a column of {}</span></div>\n", scale,
                     format_duration(most), format_duration(matrix.column));
}

}  // namespace

std::string ranks_part(const TraceModel& model, const Analysis& analysis) {
  if (analysis.mpi.ranks.empty()) return {};
  std::string body;
  for (const std::string& sentence : digest_sentences(model)) body += fmt::format("<p>{}</p>\n", text_of(sentence));
  const RankMatrix matrix = rank_matrix(model, analysis, kMapRows, kMapColumns);
  body += heat_map(matrix, &RankMatrix::Row::waited_for, matrix.most_waited_for, "When the others waited for a rank");
  body += heat_map(matrix, &RankMatrix::Row::waited, matrix.most_waited, "When a rank waited itself");
  if (matrix.rows.size() > 0 && matrix.rows.size() < analysis.mpi.ranks.size())
    body += remark("A row is a group of ranks: each of its cells has the value of the rank that has most there.");
  body += table_html(mpi_ranks_table(model, analysis, kMaxListedRows)) +
          table_html(mpi_calls_table(analysis, kMaxListedRows)) +
          table_html(digest_totals_table(model, analysis, kMaxListedRows));
  return section("ranks", "Ranks", body, analyze_command(model));
}

}  // namespace wicprof::reports::html
