#include "analyzer/stuck/nccl_ranks.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace wicprof::analyzer {

namespace {

using NcclMember = OfProcess<OpenNccl>;
/// One communicator: its members that are recorded here, by process.
using NcclMembers = std::vector<const NcclMember*>;
using NcclCommunicators = std::map<CommunicatorId, NcclMembers>;

/// NcclCommunicators with several members, of sessions with several members here, without those in which a process has
/// several ranks.
NcclCommunicators communicators_of(const StuckView& view) {
  NcclCommunicators all;
  for (const NcclMember& member : view.nccl) all[member.value.communicator].push_back(&member);
  const auto process = [](const NcclMember* member) { return member->process; };
  for (auto& [id, members] : all) std::ranges::sort(members, {}, process);
  std::erase_if(all, [&](const auto& communicator) {
    const NcclMembers& members = communicator.second;
    const std::size_t fewest = view.by == SeenBy::sessions ? 2 : 1;
    return members.size() < fewest || members.front()->value.size < 2 ||
           std::ranges::adjacent_find(members, {}, process) != members.end();
  });
  return all;
}

/// The communicators by job.
std::vector<std::vector<const NcclMembers*>> jobs_of(const NcclCommunicators& communicators) {
  struct Job {
    std::set<std::uint32_t> processes;
    std::vector<const NcclMembers*> communicators;
  };
  std::vector<Job> jobs;
  for (const auto& [id, members] : communicators) {
    Job job{{}, {&members}};
    for (const NcclMember* member : members) job.processes.insert(member->process);
    for (auto at = jobs.begin(); at != jobs.end();) {
      const auto shared = [&](std::uint32_t process) { return job.processes.contains(process); };
      if (std::ranges::none_of(at->processes, shared)) {
        ++at;
        continue;
      }
      job.processes.merge(at->processes);
      job.communicators.insert(job.communicators.end(), at->communicators.begin(), at->communicators.end());
      at = jobs.erase(at);
    }
    jobs.push_back(std::move(job));
  }
  std::vector<std::vector<const NcclMembers*>> found;
  for (Job& job : jobs) found.push_back(std::move(job.communicators));
  return found;
}

class JobMaker {
 public:
  explicit JobMaker(const StuckView& view) : view_(view) { job_.library = "NCCL"; }

  MpiJob make(std::span<const NcclMembers* const> communicators) && {
    for (const NcclMembers* members : communicators) add_ranks(*members);
    if (ambiguous_) return {};
    tell_apart(job_.communicators);
    for (const NcclMembers* members : communicators) add_waits(*members);
    std::stable_sort(job_.waits.begin(), job_.waits.end(),
                     [](const RankWait& a, const RankWait& b) { return a.rank < b.rank; });
    return std::move(job_);
  }

 private:
  void add_ranks(const NcclMembers& members) {
    for (const NcclMember* member : members) {
      const OpenNccl& of = member->value;
      job_.size = std::max(job_.size, of.size);
      job_.communicators[of.communicator] = of.name;
      const auto [rank, is_new] =
          job_.ranks.try_emplace(of.world_rank, SeenRank{member->process, has_ended(view_, member->process), nullptr});
      if (rank->second.process != member->process) ambiguous_ = true;
      const EnqueuedCollective* const last = of.number(of.collectives);
      if (last == nullptr || (rank->second.last != nullptr && rank->second.last->end > last->at)) continue;
      OpenMpiCall& call = call_of(of, of.collectives, *last);
      call.end = last->at;
      rank->second.last = &call;
    }
  }

  OpenMpiCall& call_of(const OpenNccl& of, std::uint32_t number, const EnqueuedCollective& enqueued) {
    OpenMpiCall& call = job_.made.emplace_back();
    call.begin = enqueued.at;
    call.communicator = of.communicator;
    call.bytes = enqueued.bytes;
    call.thread = of.thread;
    call.sequence = number;
    call.peer = enqueued.root;
    call.operation = enqueued.operation;
    return call;
  }

  /// The first collective that the members have enqueued differently; 0: none that is known.
  static std::uint32_t first_mismatch(const NcclMembers& members, std::uint32_t common) {
    const auto what = [](const EnqueuedCollective& each) { return std::tuple(each.operation, each.root, each.bytes); };
    for (std::uint32_t number = common - std::min<std::uint32_t>(common, OpenNccl::kKept); ++number <= common;) {
      const EnqueuedCollective* const first = members.front()->value.number(number);
      const auto differs = [&](const NcclMember* member) {
        const EnqueuedCollective* const other = member->value.number(number);
        return first != nullptr && other != nullptr && what(*other) != what(*first);
      };
      if (std::ranges::any_of(members, differs)) return number;
    }
    return 0;
  }

  /// Ranks of the communicator of which there is no trace, if it is one of the whole job.
  std::vector<std::int32_t> missing(const NcclMembers& members) const {
    std::vector<std::int32_t> all;
    const auto is_world = [](const NcclMember* member) { return member->value.rank == member->value.world_rank; };
    if (view_.by != SeenBy::traces || !std::ranges::all_of(members, is_world)) return all;
    for (std::int32_t rank = 0; rank < members.front()->value.size; ++rank) {
      if (!job_.ranks.contains(rank)) all.push_back(rank);
    }
    return all;
  }

  bool waits_on_host(std::uint32_t process) const {
    return std::ranges::any_of(view_.calls, [&](const auto& call) {
      return call.process == process && view_.until(process) - call.value.begin >= kLongAfter;
    });
  }

  void add_waits(const NcclMembers& members) {
    std::uint32_t common = members.front()->value.collectives, most = common;
    bool goes_on = false;
    for (const NcclMember* member : members) {
      common = std::min(common, member->value.collectives);
      most = std::max(most, member->value.collectives);
      const EnqueuedCollective* const last = member->value.number(member->value.collectives);
      goes_on = goes_on || (last != nullptr && view_.until(member->process) - last->at < kLongAfter);
    }
    // A job that goes on enqueuing has got over what differs.
    const std::uint32_t mismatch = goes_on ? 0 : first_mismatch(members, common);
    std::vector<std::int32_t> absent = missing(members);
    // Where those who are known have enqueued the same, a host thread tells whether that is complete.
    const bool asks_hosts = mismatch == 0 && common == most && !absent.empty();
    const std::uint32_t number = mismatch != 0 ? mismatch : asks_hosts ? common : common + 1;
    for (const NcclMember* member : members) {
      if (member->value.collectives < number) absent.push_back(member->value.world_rank);
    }
    std::ranges::sort(absent);
    for (const NcclMember* member : members) {
      const OpenNccl& of = member->value;
      const EnqueuedCollective* enqueued = of.number(number);
      if (number == 0 || of.collectives < number || job_.ranks.at(of.world_rank).ended) continue;
      if (asks_hosts && !waits_on_host(member->process)) continue;
      EnqueuedCollective unknown;  // the rank has enqueued many more since
      if (enqueued == nullptr) {
        unknown.at = of.number(of.collectives - (OpenNccl::kKept - 1))->at;
        enqueued = &unknown;
      }
      if (view_.until(member->process) - enqueued->at < kLongAfter) continue;
      job_.waits.push_back({of.world_rank, &call_of(of, number, *enqueued), enqueued->at, absent, false});
    }
  }

  const StuckView& view_;
  MpiJob job_;
  bool ambiguous_ = false;
};

}  // namespace

std::vector<MpiJob> nccl_jobs(const StuckView& view) {
  const NcclCommunicators communicators = communicators_of(view);
  std::vector<MpiJob> jobs;
  for (const std::vector<const NcclMembers*>& of_job : jobs_of(communicators)) {
    MpiJob job = JobMaker(view).make(of_job);
    const auto lives = [](const auto& rank) { return !rank.second.ended; };
    if (std::ranges::any_of(job.ranks, lives)) jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace wicprof::analyzer
