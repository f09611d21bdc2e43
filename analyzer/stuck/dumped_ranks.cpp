#include "analyzer/stuck/dumped_ranks.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace wicprof::analyzer {

namespace {

/// A rank's dump, with what it waits in.
struct Dump {
  const OfProcess<DumpedRank>* of = nullptr;
  std::vector<const DumpedCall*> waits;

  const DumpedRank& rank() const { return of->value; }

  const DumpedCall* call(CommunicatorId communicator, std::uint32_t number) const {
    const auto found = std::find_if(rank().calls.begin(), rank().calls.end(), [&](const DumpedCall& call) {
      return call.communicator == communicator && call.number == number && number != 0;
    });
    return found == rank().calls.end() ? nullptr : &*found;
  }

  /// Whether the rank has come to the collective. True in doubt.
  bool has_come(const DumpedCall& other) const {
    if (const DumpedCall* const own = call(other.communicator, other.number))
      return own->completed || std::count(waits.begin(), waits.end(), own) > 0;
    return has_passed(other);
  }
  /// Whether the rank has completed the collective. A call that a dump does not have is one that it has forgotten, or
  /// one that is not enqueued.
  bool has_completed(const DumpedCall& other) const {
    const DumpedCall* const own = call(other.communicator, other.number);
    return own != nullptr ? own->completed : is_known(other) && has_passed(other);
  }
  /// Whether the rank waits in the other side of a message.
  bool has_come_to_message(const DumpedCall& other, std::int32_t from) const {
    return std::any_of(waits.begin(), waits.end(), [&](const DumpedCall* own) {
      return own->number == 0 && own->communicator == other.communicator && own->peer == from &&
             own->sends != other.sends;
    });
  }

 private:
  const DumpedGroup* group(CommunicatorId communicator) const {
    const auto found = std::find_if(rank().groups.begin(), rank().groups.end(),
                                    [&](const DumpedGroup& each) { return each.communicator == communicator; });
    return found == rank().groups.end() ? nullptr : &*found;
  }
  bool is_known(const DumpedCall& other) const {
    const DumpedGroup* const of_call = group(other.communicator);
    return of_call != nullptr && of_call->enqueued.has_value();
  }
  bool has_passed(const DumpedCall& other) const {
    return !is_known(other) || *group(other.communicator)->enqueued >= other.number;
  }
};

class DumpedJob {
 public:
  explicit DumpedJob(const StuckView& view) {
    job_.library = "NCCL";
    for (const OfProcess<DumpedRank>& of : view.dumps) add(of);
    tell_apart(job_.communicators);
    for (auto& [rank, dump] : dumps_) {
      for (const DumpedCall* const call : dump.waits) add_wait(rank, dump, *call);
    }
  }

  MpiJob take() && { return std::move(job_); }

 private:
  void add(const OfProcess<DumpedRank>& of) {
    Dump& dump = dumps_[of.value.rank];
    dump.of = &of;
    for (const DumpedGroup& group : of.value.groups) {
      job_.communicators[group.communicator] = group.name;
      std::set<std::int32_t>& members = members_[group.communicator];
      members.insert(of.value.rank);  // a dump may leave out who else is in it
      members.insert(group.members.begin(), group.members.end());
      for (const std::int32_t member : group.members)
        job_.size = std::max(job_.size, std::min(member, std::numeric_limits<std::int32_t>::max() - 1) + 1);
    }
    for (const DumpedCall& call : of.value.calls) {
      if (call.completed) continue;
      if (of.value.knows_starts ? call.started && !waits_in(dump, call.communicator)
                                : dump.waits.empty() || may_be_one(*dump.waits.back(), call))
        dump.waits.push_back(&call);
    }
    SeenRank& rank = job_.ranks[of.value.rank] = {of.process, false, nullptr};
    if (of.value.calls.empty()) return;
    OpenMpiCall& last = call_of(of.value.calls.back());
    last.end = last.begin;
    rank.last = &last;
  }

  /// A communicator does one collective after the other.
  static bool waits_in(const Dump& dump, CommunicatorId communicator) {
    return std::any_of(dump.waits.begin(), dump.waits.end(),
                       [&](const DumpedCall* call) { return call->communicator == communicator && call->number != 0; });
  }
  /// Messages that follow each other may be one call.
  static bool may_be_one(const DumpedCall& last, const DumpedCall& call) {
    return &last == &call - 1 && call.communicator == last.communicator && call.number == 0 && last.number == 0;
  }

  OpenMpiCall& call_of(const DumpedCall& dumped) {
    OpenMpiCall& call = job_.made.emplace_back();
    call.begin = dumped.at;
    call.communicator = dumped.communicator;
    call.sequence = dumped.number;
    call.peer = dumped.peer;
    const bool is_message = dumped.number == 0;
    call.operation = !is_message    ? MpiOperation::nccl_all_reduce
                     : dumped.sends ? MpiOperation::nccl_send
                                    : MpiOperation::nccl_recv;
    job_.dumped[&call] = &dumped;
    return call;
  }

  void add_wait(std::int32_t rank, const Dump& dump, const DumpedCall& call) {
    RankWait wait{rank, nullptr, call.at, {}, false};
    bool is_behind = false;
    if (call.number == 0) {
      const auto peer = dumps_.find(call.peer);
      if (peer == dumps_.end() || !peer->second.has_come_to_message(call, rank)) wait.needs.push_back(call.peer);
    } else {
      for (const std::int32_t member : members_[call.communicator]) {
        const auto other = dumps_.find(member);
        if (other == dumps_.end() || !other->second.has_come(call)) wait.needs.push_back(member);
        if (other != dumps_.end() && member != rank) is_behind = is_behind || other->second.has_completed(call);
      }
    }
    OpenMpiCall& made = call_of(call);
    if (is_behind && wait.needs.empty()) {
      job_.ranks[dump.rank().rank].behind = &made;
      return;
    }
    wait.call = &made;
    job_.waits.push_back(std::move(wait));
  }

  MpiJob job_;
  std::map<std::int32_t, Dump> dumps_;
  std::map<CommunicatorId, std::set<std::int32_t>> members_;
};

}  // namespace

MpiJob dumped_job(const StuckView& view) { return DumpedJob(view).take(); }

}  // namespace wicprof::analyzer
