#include "analyzer/stuck/mpi_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace wicprof::analyzer {

namespace {

constexpr std::string_view kWorld = "MPI_COMM_WORLD";

/// Communicator and number.
using CollectiveId = std::pair<CommunicatorId, std::uint32_t>;

struct Member {
  std::int32_t rank;
  std::uint32_t collectives;
};
using Members = std::map<CommunicatorId, std::vector<Member>>;

bool looks(MpiOperation operation) {
  return operation == MpiOperation::test || operation == MpiOperation::testall || operation == MpiOperation::testany ||
         operation == MpiOperation::testsome;
}
bool ends_with_one(MpiOperation operation) {
  return operation == MpiOperation::waitany || operation == MpiOperation::waitsome ||
         operation == MpiOperation::testany || operation == MpiOperation::testsome;
}

/// Since when a thread waits; 0: it does not, or not for long.
TimeNs waits_since(const OpenMpiCall& call, TimeNs now) {
  TimeNs since = call.end == 0 ? call.begin : 0;
  if (looks(call.operation)) {
    since = 0;
    if (call.end != 0 && now - call.end >= kLongAfter) return 0;
    for (const OpenMpiRequest& request : call.awaited) {
      if (request.posted != 0 && (since == 0 || request.posted < since)) since = request.posted;
    }
  }
  return since != 0 && now - since >= kLongAfter ? since : 0;
}

/// Finds who has to come before a call of one rank can end.
class Needs {
 public:
  Needs(const MpiJob& job, const Members& members, const std::set<std::pair<std::int32_t, CollectiveId>>& entered)
      : job_(job), members_(members), entered_(entered) {}

  void find(RankWait& wait) {
    const OpenMpiCall& call = *wait.call;
    if (mpi_kind(call.operation) == MpiKind::collective) {
      add_absent(wait, {call.communicator, call.sequence});
    } else if (call.operation == MpiOperation::finalize) {
      for (std::int32_t rank = 0; rank < job_.size; ++rank) {
        const auto found = job_.ranks.find(rank);
        const bool came = found != job_.ranks.end() && found->second.last != nullptr &&
                          found->second.last->operation == MpiOperation::finalize;
        if (!came) needs_.insert(rank);
      }
    } else if (mpi_kind(call.operation) != MpiKind::local) {
      add_peer(wait, call.communicator, call.peer);
    }
    const std::size_t known = std::min<std::size_t>(call.requests, call.awaited.size());
    for (std::size_t i = 0; i < known; ++i) {
      const OpenMpiRequest& request = call.awaited[i];
      if (mpi_kind(request.operation) == MpiKind::collective) {
        add_absent(wait, {request.communicator, request.sequence});
      } else {
        add_peer(wait, request.communicator, request.peer);
      }
    }
    if (ends_with_one(call.operation) && call.requests > 1) wait.any = true;
    wait.needs.assign(needs_.begin(), needs_.end());
    needs_.clear();
  }

 private:
  void add_absent(const RankWait& wait, CollectiveId collective) {
    const auto found = members_.find(collective.first);
    if (found == members_.end() || collective.second == 0) return;
    for (const Member& member : found->second) {
      const bool came = member.rank == wait.rank || member.collectives >= collective.second ||
                        entered_.contains({member.rank, collective});
      if (!came) needs_.insert(member.rank);
    }
    if (job_.communicators.at(collective.first) != kWorld) return;
    for (std::int32_t rank = 0; rank < job_.size; ++rank) {
      if (!job_.ranks.contains(rank)) needs_.insert(rank);
    }
  }
  /// `peer` below 0: any process of the communicator.
  void add_peer(RankWait& wait, CommunicatorId communicator, std::int32_t peer) {
    if (peer >= 0) {
      needs_.insert(peer);
      return;
    }
    const auto found = members_.find(communicator);
    if (found == members_.end()) return;
    wait.any = true;
    for (const Member& member : found->second) {
      if (member.rank != wait.rank) needs_.insert(member.rank);
    }
  }

  const MpiJob& job_;
  const Members& members_;
  const std::set<std::pair<std::int32_t, CollectiveId>>& entered_;
  std::set<std::int32_t> needs_;
};

/// Ranks of the launcher that have not come to MPI.
void add_outsiders(const StuckView& view, MpiJob& job) {
  for (const SeenProcess& process : view.processes) {
    if (process.rank && process.ranks == job.size)
      job.ranks.try_emplace(*process.rank, SeenRank{process.pid, has_ended(view, process.pid), nullptr});
  }
}

MpiJob job_of(const StuckView& view, CommunicatorId world) {
  MpiJob job;
  Members members;
  std::map<std::uint32_t, std::int32_t> rank_of;
  for (const auto& [process, communicator] : view.communicators) {
    if (communicator.communicator != world) continue;
    job.size = std::max(job.size, communicator.size);
    job.ranks[communicator.world_rank] = {process, has_ended(view, process), nullptr};
    rank_of[process] = communicator.world_rank;
  }
  for (const auto& [process, communicator] : view.communicators) {
    if (!rank_of.contains(process)) continue;
    job.communicators[communicator.communicator] = communicator.name;
    members[communicator.communicator].push_back({communicator.world_rank, communicator.collectives});
  }
  tell_apart(job.communicators);
  std::set<std::pair<std::int32_t, CollectiveId>> entered;
  for (const auto& [process, call] : view.mpi_calls) {
    const auto rank = rank_of.find(process);
    if (rank == rank_of.end() || call.begin == 0) continue;
    SeenRank& of = job.ranks[rank->second];
    if (of.last == nullptr || call.begin > of.last->begin) of.last = &call;
    if (of.ended) continue;
    if (call.end == 0 && call.sequence != 0) entered.insert({rank->second, {call.communicator, call.sequence}});
    if (const TimeNs since = waits_since(call, view.until(process)); since != 0) {
      job.waits.push_back({rank->second, &call, since, {}, false});
    }
  }
  if (view.by == SeenBy::traces) add_outsiders(view, job);
  std::sort(job.waits.begin(), job.waits.end(), [](const RankWait& a, const RankWait& b) { return a.rank < b.rank; });
  Needs needs(job, members, entered);
  for (RankWait& wait : job.waits) needs.find(wait);
  return job;
}

/// Ranks that wait in MPI_Init for others, as the launcher numbers them. Without those that have left it.
MpiJob job_in_init(const StuckView& view, const std::set<std::uint32_t>& elsewhere) {
  MpiJob job;
  for (const auto& [process, call] : view.mpi_calls) {
    const bool is_init = call.operation == MpiOperation::init || call.operation == MpiOperation::init_thread;
    const SeenProcess* const seen = view.process(process);
    if (!is_init || call.begin == 0 || call.end != 0 || elsewhere.contains(process)) continue;
    if (seen == nullptr || !seen->rank || !seen->ranks) continue;
    constexpr std::int32_t kMostRanks = 1 << 22;  // a trace may have been changed
    job.size = std::min(*seen->ranks, kMostRanks);
    job.ranks[*seen->rank] = {process, has_ended(view, process), &call};
    const TimeNs since = waits_since(call, view.until(process));
    if (since != 0 && !job.ranks[*seen->rank].ended) job.waits.push_back({*seen->rank, &call, since, {}, false});
  }
  std::vector<std::int32_t> absent;
  for (std::int32_t rank = 0; rank < job.size; ++rank) {
    if (!job.ranks.contains(rank)) absent.push_back(rank);
  }
  for (RankWait& wait : job.waits) wait.needs = absent;
  std::sort(job.waits.begin(), job.waits.end(), [](const RankWait& a, const RankWait& b) { return a.rank < b.rank; });
  add_outsiders(view, job);
  return job;
}

}  // namespace

bool has_ended(const StuckView& view, std::uint32_t process) {
  const SeenProcess* const seen = view.process(process);
  if (seen != nullptr && !seen->alive) return true;
  if (view.by != SeenBy::sessions) return false;
  const auto of = [process](const SeenThread& thread) { return thread.process == process; };
  const auto lives = [&](const SeenThread& thread) { return of(thread) && thread.state != 'Z' && thread.state != 'X'; };
  return std::any_of(view.threads.begin(), view.threads.end(), of) &&
         std::none_of(view.threads.begin(), view.threads.end(), lives);
}

void tell_apart(std::map<CommunicatorId, std::string>& names) {
  std::map<std::string, int> count;
  for (const auto& [id, name] : names) ++count[name];
  for (auto& [id, name] : names) {
    if (count[name] > 1) name += fmt::format(" ({:04x})", id & 0xffff);
  }
}

bool is_world(const OpenCommunicator& communicator) { return communicator.name == kWorld; }

const RankWait* MpiJob::wait_of(std::int32_t rank) const {
  const auto found = std::find_if(waits.begin(), waits.end(), [rank](const RankWait& w) { return w.rank == rank; });
  return found == waits.end() ? nullptr : &*found;
}

std::vector<MpiJob> mpi_jobs(const StuckView& view) {
  std::vector<CommunicatorId> worlds;
  for (const auto& [process, communicator] : view.communicators) {
    const bool known = std::count(worlds.begin(), worlds.end(), communicator.communicator) > 0;
    if (!known && is_world(communicator)) worlds.push_back(communicator.communicator);
  }
  std::vector<MpiJob> jobs;
  const auto lives = [](const auto& rank) { return !rank.second.ended; };
  std::set<std::uint32_t> of_worlds;
  for (const auto& [process, communicator] : view.communicators) of_worlds.insert(process);
  if (MpiJob job = job_in_init(view, of_worlds); !job.waits.empty()) jobs.push_back(std::move(job));
  for (const CommunicatorId world : worlds) {
    MpiJob job = job_of(view, world);
    if (std::any_of(job.ranks.begin(), job.ranks.end(), lives)) jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace wicprof::analyzer
