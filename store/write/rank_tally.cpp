#include "store/write/rank_tally.h"

#include <algorithm>

#include "store/format/plausible_times.h"

namespace wicprof::store {

namespace {

bool all_wait_for_the_last(MpiOperation operation) {
  return mpi_kind(operation) == MpiKind::collective && mpi_flow(operation) == MpiFlow::all_to_all &&
         !mpi_begins_only(operation);
}

}  // namespace

void RankTally::add(std::uint32_t process, const MpiCommunicatorEvent& event) {
  if (event.communicator == 0 || members_.size() >= kMostKnown) return;
  members_[{event.communicator, process}] = {event.world_rank, event.size};
}

void RankTally::add(std::uint32_t process, const MpiCallEvent& event) {
  if (event.sequence == 0 || !all_wait_for_the_last(event.operation)) return;
  if (event.end_ns < event.begin_ns || event.end_ns - event.begin_ns > kMaxDistance) return;
  const auto member = members_.find({event.communicator, process});
  if (member == members_.end() || member->second.size < 2) return;
  const Collective key{event.communicator, event.sequence};
  const auto [at, added] = open_.try_emplace(key);
  if (added) order_.push_back(key);
  at->second.push_back({member->second.rank, event.begin_ns, event.end_ns});
  if (at->second.size() == static_cast<std::size_t>(member->second.size)) {
    sum_up(at->second);
    open_.erase(at);
  }
  while (order_.size() > kMostOpen) {
    open_.erase(order_.front());
    order_.pop_front();
  }
}

void RankTally::sum_up(const std::vector<Entry>& entries) {
  const Entry& last = *std::ranges::max_element(entries, {}, &Entry::begin);
  TimeNs all = 0;
  for (const Entry& each : entries) {
    const TimeNs waited = std::min(last.begin, each.end) - each.begin;
    RankSum& sum = sum_of(each.rank);
    if (waited < kShortest) continue;
    sum.waited_ns += static_cast<std::uint64_t>(waited);
    all += waited;
  }
  if (all == 0) return;
  RankSum& late = sum_of(last.rank);
  late.late_ns += static_cast<std::uint64_t>(all);
  ++late.late_arrivals;
}

RankSum& RankTally::sum_of(std::int32_t rank) {
  const auto known = sums_.find(rank);
  if (known != sums_.end()) return known->second;
  if (sums_.size() >= kMaxRanks) return others_;
  return sums_.try_emplace(rank, RankSum{std::to_string(rank)}).first->second;
}

std::vector<RankSum> RankTally::ranks() const {
  std::vector<RankSum> all;
  for (const auto& [rank, sum] : sums_) all.push_back(sum);
  if (others_.waited_ns + others_.late_ns > 0) all.push_back(others_);
  return all;
}

}  // namespace wicprof::store
