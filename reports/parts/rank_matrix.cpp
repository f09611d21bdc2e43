#include "reports/parts/rank_matrix.h"

#include <algorithm>

namespace wicprof::reports {

RankMatrix rank_matrix(const TraceModel& model, const Analysis& analysis, std::size_t most_rows, std::size_t columns) {
  RankMatrix matrix;
  if (analysis.mpi.waits.empty()) return matrix;
  const analyzer::RankTimes times = analyzer::rank_times(model, analysis.mpi);
  const std::size_t width = static_cast<std::size_t>(analyzer::RankTimes::kColumns) / columns;
  const std::size_t height = 1 + (times.ranks.size() - 1) / most_rows;
  matrix.begin = times.begin;
  matrix.column = times.column * static_cast<TimeNs>(width);
  matrix.columns = columns;
  const auto add = [&](const std::vector<TimeNs>& from, std::vector<TimeNs>& to, TimeNs& most) {
    for (std::size_t i = 0; i < columns; ++i) {
      TimeNs sum = 0;
      for (std::size_t j = 0; j < width; ++j) sum += from[i * width + j];
      to[i] = std::max(to[i], sum);
      most = std::max(most, sum);
    }
  };
  for (std::size_t i = 0; i < times.ranks.size(); ++i) {
    const analyzer::RankTimesRow& rank = times.ranks[i];
    if (i % height == 0) {
      const std::vector<TimeNs> none(columns);
      matrix.rows.push_back({rank.rank, rank.rank, rank.process, none, none});
    }
    RankMatrix::Row& row = matrix.rows.back();
    row.last = rank.rank;
    add(rank.waited, row.waited, matrix.most_waited);
    add(rank.waited_for, row.waited_for, matrix.most_waited_for);
  }
  return matrix;
}

}  // namespace wicprof::reports
