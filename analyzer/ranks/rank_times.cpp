#include "analyzer/ranks/rank_times.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace wicprof::analyzer {
namespace {

void add(const MpiWait& wait, const RankTimes& times, std::vector<TimeNs>& to) {
  for (TimeNs at = wait.begin; at < wait.end;) {
    const TimeNs number = (at - times.begin) / times.column;
    const TimeNs end = std::min(wait.end, times.begin + (number + 1) * times.column);
    to[static_cast<std::size_t>(number)] += (end - at) * wait.weight;
    at = end;
  }
}

}  // namespace

RankTimes rank_times(const TraceModel& model, const MpiWaits& mpi) {
  RankTimes times;
  if (model.mpi_calls.empty()) return times;
  times.begin = std::numeric_limits<TimeNs>::max();
  TimeNs end = std::numeric_limits<TimeNs>::min();
  const auto cover = [&](const auto& row) {
    times.begin = std::min(times.begin, row.begin);
    end = std::max(end, row.end);
  };
  for (const store::MpiCallRow& call : model.mpi_calls) cover(call);
  for (const MpiWait& wait : mpi.waits) cover(wait);  // a damaged trace may lack the call
  for (const store::DigestSumRow& sum : model.digest_sums) {
    if (sum.of == store::SumOf::mpi_call) cover(sum);
  }
  times.column = std::max<TimeNs>((end - times.begin + RankTimes::kColumns - 1) / RankTimes::kColumns, 1);
  for (const RankCost& cost : mpi.ranks) {
    const std::vector<TimeNs> none(static_cast<std::size_t>(RankTimes::kColumns));
    times.ranks.push_back({cost.rank, cost.process, none, none});
  }
  std::sort(times.ranks.begin(), times.ranks.end(), [](const RankTimesRow& a, const RankTimesRow& b) {
    return std::pair(a.rank, a.process) < std::pair(b.rank, b.process);
  });
  std::map<store::ProcessId, RankTimesRow*> row_of;
  for (RankTimesRow& row : times.ranks) row_of[row.process] = &row;
  for (const MpiWait& wait : mpi.waits) {
    add(wait, times, row_of.at(wait.waiter)->waited);
    add(wait, times, row_of.at(wait.late)->waited_for);
  }
  return times;
}

}  // namespace wicprof::analyzer
