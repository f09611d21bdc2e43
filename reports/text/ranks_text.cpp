#include "reports/text/ranks_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/words/format.h"
#include "reports/parts/phrases.h"
#include "reports/parts/rank_matrix.h"
#include "reports/parts/tables.h"
#include "reports/text/table_text.h"

namespace wicprof::reports {
namespace {

/// What a line of 80 columns has room for.
constexpr std::size_t kMatrixColumns = 50;

/// '.' for nothing, else '1' to '9', by the share of the largest value.
char digit(TimeNs value, TimeNs most) {
  if (value <= 0 || most <= 0) return '.';
  return static_cast<char>(
      '1' + std::min<TimeNs>(8, static_cast<TimeNs>(9.0 * static_cast<double>(value) / static_cast<double>(most))));
}

}  // namespace

std::string rank_matrix_text(const TraceModel& model, const Analysis& analysis, std::size_t most,
                             const Screen& screen) {
  const RankMatrix matrix = rank_matrix(model, analysis, kAllRows, kMatrixColumns);
  if (matrix.rows.empty()) return {};
  std::map<store::ProcessId, const RankMatrix::Row*> row_of;
  for (const RankMatrix::Row& row : matrix.rows) row_of[row.process] = &row;
  using Row = RankCost;
  const auto drawn = [&](const Row& rank) {
    std::string text;
    for (const TimeNs value : row_of.at(rank.process)->waited_for) text += digit(value, matrix.most_waited_for);
    return Cell(text);
  };
  const Table table =
      table_of<Row>("rank", analysis.mpi.ranks, most,
                    {{rank_head(analysis.mpi), 'r', [](const Row& r) { return std::to_string(r.rank); }},
                     {"when the others waited for it", 'l', drawn}});
  return table_text(table, screen) +
         paragraph(screen, fmt::format("{} columns of {}; 9: up to {} of waiting, summed over the others; .: none",
                                       matrix.columns, format_duration(matrix.column),
                                       format_duration(matrix.most_waited_for)));
}

std::string digest_text(const TraceModel& model, const Analysis& analysis, std::size_t most, const Screen& screen) {
  std::string text;
  for (const std::string& sentence : digest_sentences(model)) text += paragraph(screen, sentence);
  const std::string table = table_text(digest_totals_table(model, analysis, most), screen);
  return text + section(table);
}

}  // namespace wicprof::reports
