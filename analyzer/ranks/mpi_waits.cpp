#include "analyzer/ranks/mpi_waits.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/ranks/repeated_waits.h"
#include "protocol/mpi_operation.h"

namespace wicprof::analyzer {

std::string_view mpi_wait_kind_name(MpiWaitKind kind) {
  switch (kind) {
    case MpiWaitKind::late_sender:
      return "late sender";
    case MpiWaitKind::late_receiver:
      return "late receiver";
    case MpiWaitKind::collective:
      break;
  }
  return "wait at collective";
}

RankNumbers::RankNumbers(const TraceModel& model) {
  for (const store::MpiCommunicatorRow& row : model.mpi_communicators) {
    world_[row.process] = row.world_rank;
    in_[{row.communicator, row.process}] = row.rank;
  }
}

namespace {

using store::ProcessId;

/// A cost counts as passed on at most so often: beyond, clocks that disagree make processes wait for each other.
constexpr int kMostPassedOn = 64;
/// A process in a collective.
struct Part {
  const store::MpiCallRow* call;
  std::int32_t rank;               // in the communicator
  TimeNs entered, begin = 0, end;  // begin, end: of the call that waits, which completes a non-blocking collective
  MpiOperation waits_in;
};

/// A process that may wait in a collective or for a message.
struct End {
  ProcessId process;
  std::uint32_t thread;
  MpiOperation operation;  // of the call that waits
  TimeNs posted, begin, end;
  TimeNs enqueued;  // MpiWait::enqueued
};

/// The part of a time within the wait that counts.
TimeNs counted_part(const MpiWait& wait, TimeNs time) {
  if (wait.counted_ns == wait.length()) return time;
  return static_cast<TimeNs>(static_cast<double>(time) * static_cast<double>(wait.counted_ns) /
                             static_cast<double>(wait.length()));
}

/// A row's part in sums.
std::uint32_t weight_of(const auto& row) { return std::max(row.stands_for, 1u); }

/// Rows by key: a sorted list, since a trace can have millions.
template <class Key, class Value>
class Sorted {
 public:
  void add(const Key& key, const Value& value) { entries_.emplace_back(key, value); }
  void settle() {
    std::stable_sort(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  /// nullptr: there is none.
  const Value* find(const Key& key) const {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), key,
                                     [](const auto& entry, const Key& wanted) { return entry.first < wanted; });
    return at == entries_.end() || key < at->first ? nullptr : &at->second;
  }

 private:
  std::vector<std::pair<Key, Value>> entries_;
};

using Members = std::map<std::pair<CommunicatorId, std::int32_t>, ProcessId>;  // by rank in MPI_COMM_WORLD
using Message = std::tuple<CommunicatorId, std::int32_t, std::int32_t, std::int32_t, std::uint32_t>;

/// Calls visit(operation, calls, total, longest): for each call, or where a digest left some out, for its sums.
void for_each_mpi_sum(const TraceModel& model, const auto& visit) {
  std::map<ProcessId, std::uint64_t> left_out;
  for (const store::DigestSumRow& sum : model.digest_sums) {
    if (sum.of == store::SumOf::mpi_call) left_out[sum.process] += sum.rows;
  }
  if (!left_out.empty()) {
    for (const store::MpiCallRow& call : model.mpi_calls) {
      const auto found = left_out.find(call.process);
      if (found != left_out.end()) --found->second;
    }
  }
  std::erase_if(left_out, [](const auto& process) { return process.second == 0; });
  for (const store::DigestSumRow& sum : model.digest_sums) {
    if (sum.of == store::SumOf::mpi_call && left_out.contains(sum.process))
      visit(static_cast<MpiOperation>(sum.detail), sum.rows, sum.total, sum.longest);
  }
  for (const store::MpiCallRow& call : model.mpi_calls) {
    if (left_out.empty() || !left_out.contains(call.process))
      visit(call.operation, std::uint64_t{1}, call.end - call.begin, call.end - call.begin);
  }
}

class Finder {
 public:
  explicit Finder(const TraceModel& model) : model_(model), numbers_(model), devices_(rank_devices(model)) {}

  MpiWaits find() {
    for (const store::MpiCommunicatorRow& row : model_.mpi_communicators) {
      size_[row.communicator] = row.size;
      if (!members_.try_emplace({row.communicator, row.world_rank}, row.process).second) {
        ambiguous_.insert(row.communicator);
      }
    }
    collectives();
    messages();
    settle_waits();
    operations();
    costs();
    if (found_.ranks.size() > 1) {
      const RankCost& worst = found_.ranks.front();
      const auto others = static_cast<TimeNs>(found_.ranks.size() - 1);
      found_.work = rank_work(model_, is_nccl(worst.operation) ? &devices_ : nullptr);
      found_.why = late_rank_cause(model_, found_.work, worst.process, worst.cost_ns / others);
      found_.efficiency = efficiency();
    }
    return std::move(found_);
  }

 private:
  /// When the process began to wait for `until` by what a call began at `begin`. A kernel of NCCL keeps its rank from
  /// nothing as long as the devices have other work beside it: that time is left out, as if it came first.
  TimeNs waits_from(const store::MpiCallRow& of, ProcessId waiter, TimeNs begin, TimeNs until) const {
    const auto devices = is_nccl(of.operation) ? devices_.find(waiter) : devices_.end();
    return devices == devices_.end() || until <= begin ? begin : begin + devices->second.work.covered(begin, until);
  }

  /// A call that waited until `release`, which `late` brought.
  void candidate(MpiWaitKind kind, const store::MpiCallRow& of, const End& waits, TimeNs release, ProcessId late,
                 std::uint32_t weight) {
    const ProcessId waiter = waits.process;
    const TimeNs until = std::min(release, waits.end), from = waits_from(of, waiter, waits.begin, until);
    const TimeNs shortest = is_nccl(of.operation) ? kShortestNcclWait : kShortestMpiWait;
    if (waiter == late || until - from < std::max(shortest, model_.clock_error(waiter, late))) return;
    candidates_.push_back({{waiter, waits.thread, waits.begin},
                           {kind, waits.operation, of.communicator.value_or(0), of.sequence.value_or(0), from, until,
                            waiter, late, weight, from - waits.begin, waits.enqueued, until - from}});
  }

  void collectives() {
    Sorted<std::pair<CollectiveKey, ProcessId>, const store::MpiRequestRow*> completed;
    for (const store::MpiRequestRow& row : model_.mpi_requests) {
      if (mpi_kind(row.operation) == MpiKind::collective && row.communicator && row.sequence) {
        completed.add({collective_key(row), row.process}, &row);
      }
    }
    completed.settle();
    std::vector<Part> all;
    const auto& ranks = numbers_.in_communicators();
    for (const store::MpiCallRow& call : model_.mpi_calls) {
      if (mpi_kind(call.operation) != MpiKind::collective || !call.communicator || !call.sequence) continue;
      const auto rank = ranks.find({*call.communicator, call.process});
      Part part{&call, rank == ranks.end() ? -1 : rank->second, call.begin, call.begin, call.end, call.operation};
      if (mpi_begins_only(call.operation)) {
        const auto* const row = completed.find({collective_key(call), call.process});
        if (row == nullptr && is_nccl(call.operation)) {
          ++found_.without_kernel;
          continue;
        }
        part.begin = row == nullptr ? call.end : (*row)->begin;
        part.end = row == nullptr ? call.end : (*row)->end;
        if (row != nullptr) part.waits_in = (*row)->completed_by;
        if (is_nccl(call.operation)) part.entered = part.begin;
      }
      all.push_back(part);
    }
    const auto key = [](const Part& part) { return collective_key(*part.call); };
    std::sort(all.begin(), all.end(), [&](const Part& x, const Part& y) {
      return std::pair(key(x), x.entered) < std::pair(key(y), y.entered);
    });
    for (auto begin = all.begin(); begin != all.end();) {
      const auto end = std::find_if(begin, all.end(), [&](const Part& part) { return key(part) != key(*begin); });
      const std::span<const Part> parts(begin, end);
      begin = end;
      const CommunicatorId communicator = *parts.front().call->communicator;
      const auto size = size_.find(communicator);
      const bool one_operation = std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
        return part.call->operation == parts.front().call->operation && part.rank >= 0;
      });
      if (size == size_.end() || ambiguous_.contains(communicator) || !one_operation ||
          parts.size() != static_cast<std::size_t>(size->second)) {
        ++found_.incomplete;
      } else if (parts.size() > 1) {
        collective(parts);
      }
    }
  }

  /// `parts`: in the order of their arrival.
  void collective(std::span<const Part> parts) {
    const store::MpiCallRow& any = *parts.front().call;
    const MpiFlow flow = mpi_flow(any.operation);
    const Part& last = parts.back();
    MpiCollective summary{any.operation,
                          *any.communicator,
                          *any.sequence,
                          last.call->process,
                          last.entered - parts[parts.size() - 2].entered,
                          0,
                          1};
    // What one rank keeps for itself alone, and another one for many, is one of many.
    for (const Part& part : parts) summary.weight = std::max(summary.weight, weight_of(*part.call));
    const auto is_root = [&](const Part& part) { return any.peer && numbers_.of(*part.call) == any.peer; };
    const auto waits_for = [&](const Part& part, const Part& late) {
      if (late.entered - part.begin < std::max<TimeNs>(model_.clock_error(part.call->process, late.call->process), 1))
        return;
      const store::MpiCallRow& call = *part.call;
      candidate(MpiWaitKind::collective, call,
                {call.process, call.thread, part.waits_in, part.entered, part.begin, part.end, call.begin},
                late.entered, late.call->process, summary.weight);
      if (late.call != last.call) return;
      const TimeNs until = std::min(late.entered, part.end);
      summary.waited_ns += std::max<TimeNs>(until - waits_from(*part.call, part.call->process, part.begin, until), 0);
    };
    const auto root = std::find_if(parts.begin(), parts.end(), is_root);
    if (flow == MpiFlow::all_to_all) {
      for (const Part& part : parts) waits_for(part, last);
    } else if (flow == MpiFlow::prefix) {
      std::vector<const Part*> by_rank;
      for (const Part& part : parts) by_rank.push_back(&part);
      std::stable_sort(by_rank.begin(), by_rank.end(), [](const Part* a, const Part* b) { return a->rank < b->rank; });
      const Part* late = by_rank.front();  // the last to arrive, and in `parts`, of those before it
      for (const Part* part : by_rank) {
        if (part != late) waits_for(*part, *late);
        late = std::max(late, part);
      }
    } else if (root != parts.end() && flow == MpiFlow::from_root) {
      for (const Part& part : parts) waits_for(part, *root);
    } else if (root != parts.end()) {
      waits_for(*root, last);
    }
    found_.collectives.push_back(summary);
  }

  void messages() {
    Sorted<Message, std::pair<const store::MpiCallRow*, End>> sent;
    Sorted<Message, const store::MpiRequestRow*> completed;  // sends
    for (const store::MpiRequestRow& row : model_.mpi_requests) {
      if (mpi_kind(row.operation) != MpiKind::sends || !is_message(row)) continue;
      completed.add({*row.communicator, *numbers_.of(row), *row.peer, *row.tag, *row.sequence}, &row);
    }
    completed.settle();
    for (const store::MpiCallRow& call : model_.mpi_calls) {
      if (mpi_kind(call.operation) != MpiKind::sends || !is_message(call)) continue;
      const Message key{*call.communicator, *numbers_.of(call), *call.peer, *call.tag, *call.sequence};
      End end{call.process, call.thread, call.operation, call.begin, call.begin, call.end, call.begin};
      const bool nccl = is_nccl(call.operation);
      if (nccl || mpi_begins_message(call.operation)) {
        const auto* const row = completed.find(key);
        if (nccl && row == nullptr) {
          ++found_.without_kernel;
          continue;
        }
        end.begin = row == nullptr ? call.end : (*row)->begin;
        end.end = row == nullptr ? call.end : (*row)->end;
        if (row != nullptr) end.operation = (*row)->completed_by;
        if (nccl) end.posted = end.begin;
      }
      sent.add(key, {&call, end});
    }
    sent.settle();
    const auto received = [&](const auto& row, const End& end) {
      const auto* const send = sent.find({*row.communicator, *row.peer, *numbers_.of(row), *row.tag, *row.sequence});
      if (send == nullptr || ambiguous_.contains(*row.communicator)) {
        ++found_.unmatched;
        return;
      }
      ++found_.messages;
      const auto& [call, sender] = *send;
      const std::uint32_t weight = std::max(weight_of(*call), weight_of(row));
      if (sender.posted > end.begin) {
        candidate(MpiWaitKind::late_sender, *call, end, sender.posted, sender.process, weight);
      }
      // A send that returned before the receive was posted did not wait for it, nor does one whose message is kept.
      if (row.operation == MpiOperation::probe || call->operation == MpiOperation::bsend ||
          call->operation == MpiOperation::ibsend)
        return;
      if (end.posted > sender.begin && sender.end >= end.posted) {
        candidate(MpiWaitKind::late_receiver, *call, sender, end.posted, end.process, weight);
      }
    };
    for (const store::MpiCallRow& call : model_.mpi_calls) {
      if (mpi_kind(call.operation) != MpiKind::receives || mpi_begins_message(call.operation) || !is_message(call) ||
          is_nccl(call.operation))
        continue;
      received(call, {call.process, call.thread, call.operation, call.begin, call.begin, call.end, call.begin});
    }
    for (const store::MpiRequestRow& row : model_.mpi_requests) {
      if (mpi_kind(row.operation) != MpiKind::receives || !is_message(row)) continue;
      const TimeNs posted = is_nccl(row.operation) ? row.begin : row.posted;
      received(row, {row.process, row.thread, row.completed_by, posted, row.begin, row.end, row.posted});
    }
  }

  bool is_message(const auto& row) const {
    return row.communicator && row.peer && row.tag && row.sequence && numbers_.of(row);
  }

  /// Threads that wait at the same time delay their process once. `waits`: of one process, by their begin; then they do
  /// not overlap.
  static void count_threads_once(std::vector<MpiWait>& waits) {
    TimeNs waited_until = std::numeric_limits<TimeNs>::min();
    std::erase_if(waits, [&](MpiWait& wait) {
      if (is_nccl(wait.operation)) return false;
      wait.begin = std::max(wait.begin, waited_until);
      waited_until = std::max(waited_until, wait.end);
      return wait.begin >= wait.end;
    });
  }

  /// Of each call, the wait that ended last.
  void settle_waits() {
    std::sort(candidates_.begin(), candidates_.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.first, b.second.end) < std::tuple(b.first, a.second.end);
    });
    const auto same_call = [](const auto& a, const auto& b) { return a.first == b.first; };
    candidates_.erase(std::unique(candidates_.begin(), candidates_.end(), same_call), candidates_.end());
    for (const auto& [call, wait] : candidates_) {
      found_.waits.push_back(wait);
      waits_of_[wait.waiter].push_back(wait);
    }
    const auto earlier = [](const MpiWait& a, const MpiWait& b) { return a.begin < b.begin; };
    std::stable_sort(found_.waits.begin(), found_.waits.end(), earlier);
    count_repeated_once(found_.waits, devices_);
    for (auto& [process, waits] : waits_of_) {
      std::stable_sort(waits.begin(), waits.end(), earlier);
      count_threads_once(waits);
    }
    std::stable_sort(found_.collectives.begin(), found_.collectives.end(),
                     [](const MpiCollective& a, const MpiCollective& b) { return a.waited_ns > b.waited_ns; });
  }

  void operations() {
    std::map<MpiOperation, MpiOperationStats> stats;
    const auto add = [&](MpiOperation operation, std::uint64_t calls, TimeNs total, TimeNs longest) {
      MpiOperationStats& of = stats[operation];
      of.operation = operation;
      of.calls += calls;
      of.total_ns += total;
      of.max_ns = std::max(of.max_ns, longest);
    };
    for_each_mpi_sum(model_, add);
    for (auto& [operation, of] : stats) {
      if (is_nccl(operation)) of.total_ns = of.max_ns = 0;  // of the enqueuing
    }
    for (const store::MpiRequestRow& row : model_.mpi_requests) {
      if (is_nccl(row.operation)) add(row.operation, 0, (row.end - row.begin) * weight_of(row), row.end - row.begin);
    }
    for (const MpiWait& wait : found_.waits) stats[wait.operation].waited_ns += wait.weighted();
    for (const auto& [operation, of] : stats) found_.operations.push_back(of);
    std::stable_sort(found_.operations.begin(), found_.operations.end(),
                     [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  }

  /// Charges a time for which somebody waited for `late` to it, except where it waited itself then.
  void charge(ProcessId late, Interval time, int passed_on, std::map<ProcessId, TimeNs>& shares) {
    TimeNs own = time.end - time.begin;
    const auto waits = waits_of_.find(late);
    if (waits != waits_of_.end() && passed_on < kMostPassedOn) {
      auto at = std::partition_point(waits->second.begin(), waits->second.end(),
                                     [&](const MpiWait& wait) { return wait.end <= time.begin; });
      for (; at != waits->second.end() && at->begin < time.end; ++at) {
        const Interval both{std::max(at->begin, time.begin), std::min(at->end, time.end)};
        if (both.end <= both.begin) continue;
        own -= both.end - both.begin;
        charge(at->late, both, passed_on + 1, shares);
      }
    }
    if (own > 0) shares[late] += own;
  }

  /// What the wait cost its rank beyond its length. While the devices have other work, the kernel that waits holds SMs
  /// and slows it, and the collectives behind the kernel, which would run beside that work, run when it has ended.
  TimeNs cost_beyond(const MpiWait& wait) const {
    if (wait.beside_ns == 0) return 0;
    const RankDevices& devices = devices_.at(wait.waiter);
    const Interval behind{wait.end, devices.transfers_end(wait.end)};
    TimeNs held_up = devices.nccl.covered(behind.begin, behind.end);
    const std::vector<MpiWait>& waits = waits_of_.at(wait.waiter);
    auto at =
        std::partition_point(waits.begin(), waits.end(), [&](const MpiWait& w) { return w.begin < behind.begin; });
    for (; at != waits.end() && at->begin < behind.end; ++at) held_up -= at->length();  // counts itself
    return std::clamp<TimeNs>(held_up, 0, wait.beside_ns) +
           devices.slowed_within(wait.begin - wait.beside_ns, wait.end);
  }

  void costs() {
    std::map<ProcessId, RankCost> costs;
    std::map<ProcessId, std::map<MpiOperation, TimeNs>> by_operation;
    for (const auto& [process, rank] : numbers_.world()) {
      costs[process].process = process;
      costs[process].rank = rank;
    }
    std::map<std::tuple<ProcessId, CommunicatorId, std::uint32_t, TimeNs>, TimeNs> arrivals;
    for (const MpiWait& wait : found_.waits) {
      std::map<ProcessId, TimeNs> shares;
      charge(wait.late, {wait.begin, wait.end}, 0, shares);
      for (auto& [process, ns] : shares) ns = counted_part(wait, ns);
      costs[wait.waiter].waited_ns += wait.weighted();
      const TimeNs beyond = cost_beyond(wait);
      if (beyond > 0) shares[wait.late] += beyond;
      costs[wait.late].beyond_waits_ns += beyond * wait.weight;
      for (const auto& [process, ns] : shares) {
        if (process == wait.waiter || ns == 0) continue;
        RankCost& cost = costs[process];
        cost.cost_ns += ns * wait.weight;
        cost.largest_ns = std::max(cost.largest_ns, ns);
        cost.times += wait.weight;
        by_operation[process][wait.operation] += ns * wait.weight;
        arrivals[{process, wait.communicator, wait.sequence,
                  wait.kind == MpiWaitKind::collective ? TimeNs{0} : wait.begin}] += ns * wait.weight;
      }
    }
    for (const MpiCollective& each : found_.collectives) {
      if (each.waited_ns > 0) costs[each.last].collectives += each.weight;
    }
    for (const auto& [key, ns] : arrivals) found_.arrivals.push_back({ns, std::get<0>(key)});
    std::stable_sort(found_.arrivals.begin(), found_.arrivals.end(),
                     [](const LateArrival& x, const LateArrival& y) { return x.cost_ns > y.cost_ns; });
    for (auto& [process, cost] : costs) {
      TimeNs most = 0;
      for (const auto& [operation, ns] : by_operation[process]) {
        if (ns > most) std::tie(most, cost.operation) = std::tuple(ns, operation);
      }
      found_.ranks.push_back(cost);
    }
    std::stable_sort(found_.ranks.begin(), found_.ranks.end(), [](const RankCost& a, const RankCost& b) {
      return std::pair(b.cost_ns, a.rank) < std::pair(a.cost_ns, b.rank);
    });
  }

  std::optional<RankEfficiency> efficiency() const {
    std::map<ProcessId, WorkAndWaits> ranks;
    for (const RankCost& cost : found_.ranks) ranks[cost.process].waited_ns = cost.waited_ns;
    for (const RankWork& work : found_.work) ranks[work.process].work = &work;
    std::vector<WorkAndWaits> all;
    for (const auto& [process, rank] : ranks) all.push_back(rank);
    return rank_efficiency(all);
  }

  const TraceModel& model_;
  const RankNumbers numbers_;
  const std::map<ProcessId, RankDevices> devices_;
  Members members_;
  std::set<CommunicatorId> ambiguous_;  // two processes have one rank
  std::map<CommunicatorId, std::int32_t> size_;
  using Call = std::tuple<ProcessId, std::uint32_t, TimeNs>;  // process, thread, begin
  std::vector<std::pair<Call, MpiWait>> candidates_;
  std::unordered_map<ProcessId, std::vector<MpiWait>> waits_of_;
  MpiWaits found_;
};

}  // namespace

MpiWaits mpi_waits(const TraceModel& model) { return Finder(model).find(); }

bool only_nccl(const MpiWaits& mpi) {
  return !mpi.operations.empty() && std::all_of(mpi.operations.begin(), mpi.operations.end(),
                                                [](const MpiOperationStats& of) { return is_nccl(of.operation); });
}

std::size_t mpi_processes(const TraceModel& model) {
  std::set<ProcessId> processes;
  for (const store::MpiCommunicatorRow& row : model.mpi_communicators) processes.insert(row.process);
  return processes.size();
}

std::uint64_t count_mpi_calls(const TraceModel& model) {
  std::uint64_t count = 0;
  for_each_mpi_sum(model, [&](MpiOperation, std::uint64_t calls, TimeNs, TimeNs) { count += calls; });
  return count;
}

}  // namespace wicprof::analyzer
