#include "analyzer/ranks/rank_meetings.h"

#include <utility>

#include "analyzer/ranks/mpi_waits.h"
#include "protocol/mpi_operation.h"

namespace wicprof::analyzer {

namespace {

void add_collective(const auto& row, std::int32_t number, std::uint32_t trace, std::optional<TimeNs> begin,
                    std::optional<TimeNs> end, std::vector<RankPresence>& to) {
  const MpiFlow flow = mpi_flow(row.operation);
  const bool is_root = row.peer && *row.peer == number;
  if (flow == MpiFlow::prefix || (flow != MpiFlow::all_to_all && !row.peer)) return;
  if (flow == MpiFlow::from_root) (is_root ? end : begin).reset();
  if (flow == MpiFlow::to_root) (is_root ? begin : end).reset();
  const CollectiveKey key = collective_key(row);
  to.push_back({{key.communicator, key.sequence, -1, -1, -1 - static_cast<std::int32_t>(key.operation)},
                trace,
                begin,
                end,
                flow == MpiFlow::all_to_all});
}

}  // namespace

std::vector<RankPresence> presences(const std::vector<TraceModel>& traces) {
  std::vector<RankPresence> all;
  for (std::uint32_t trace = 0; trace < traces.size(); ++trace) {
    const TraceModel& model = traces[trace];
    const RankNumbers numbers(model);
    const auto add = [&](const auto& row, TimeNs posted, bool begins, bool ends) {
      const std::optional<std::int32_t> number = numbers.of(row);
      if (!row.communicator || !row.sequence || !number) return;
      const MpiKind kind = mpi_kind(row.operation);
      std::optional<TimeNs> begin, end;
      if (begins) begin = posted;
      if (ends) end = row.end;
      if (kind == MpiKind::collective) return add_collective(row, *number, trace, begin, end, all);
      if (kind == MpiKind::local || !row.peer || !row.tag) return;
      const bool sends = kind == MpiKind::sends;
      const std::int32_t from = sends ? *number : *row.peer, to = sends ? *row.peer : *number;
      all.push_back({{*row.communicator, *row.sequence, from, to, *row.tag}, trace, begin, end, false});
    };
    for (const store::MpiCallRow& call : model.mpi_calls) {
      const bool sends = mpi_kind(call.operation) == MpiKind::sends;
      if ((!sends && mpi_begins_message(call.operation)) || is_nccl(call.operation)) continue;
      add(call, call.begin, true, sends ? call.operation == MpiOperation::ssend : !mpi_begins_only(call.operation));
    }
    for (const store::MpiRequestRow& row : model.mpi_requests) {
      if (is_nccl(row.operation)) {
        add(row, row.begin, true, mpi_kind(row.operation) != MpiKind::sends);
        continue;
      }
      if (mpi_kind(row.operation) == MpiKind::sends && row.operation != MpiOperation::issend) continue;
      add(row, row.posted, mpi_kind(row.operation) == MpiKind::receives, true);
    }
  }
  std::sort(all.begin(), all.end(), [](const RankPresence& a, const RankPresence& b) { return a.key < b.key; });
  return all;
}

std::vector<RankMeeting> meetings_of_clocks(const std::vector<RankPresence>& all,
                                            const std::vector<std::uint32_t>& clock) {
  std::vector<RankMeeting> meetings;
  ClockSides sides(clock);
  for_each_meeting(all, [&](std::span<const RankPresence> presences) {
    RankMeeting meeting{sides.of(presences), {}};
    if (meeting.sides.size() < 2) return;
    for (const RankPresence& each : presences) {
      if (!each.meets || !each.begin || !each.end) continue;
      meeting.shortest = std::min(meeting.shortest.value_or(*each.end - *each.begin), *each.end - *each.begin);
    }
    meetings.push_back(std::move(meeting));
  });
  return meetings;
}

}  // namespace wicprof::analyzer
