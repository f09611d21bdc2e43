#include "analyzer/waits/interrupted_kernels.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/measure/statistics.h"
#include "analyzer/waits/turn_sums.h"
#include "analyzer/words/runtime_names.h"

namespace wicprof::analyzer {

namespace {

constexpr TimeNs kNoTime = std::numeric_limits<TimeNs>::max();

/// What makes a kernel longer by less is not looked at.
constexpr TimeNs kLeastTurn = 200 * kMicrosecond;
/// A launch is longer than usual from that many times its usual length on; the second: where late starts show the
/// turns.
constexpr double kLonger = 2, kLongerIfLate = 1.2;
/// The usual length: at least that percentage of the launches run without a turn.
constexpr double kUsual = 10;
constexpr std::size_t kLeastLaunches = 5;
/// Turns are equally long within that share.
constexpr double kAlike = 0.1;
/// Without late starts: that share of what makes kernels longer that run alone must be turns, ...
constexpr double kMostly = 0.6;
/// ... of at least so many launches and kinds, ...
constexpr std::size_t kLeastHits = 10, kLeastKinds = 3;
/// ... whose own lengths differ by that factor: then what makes them longer is not in proportion to them.
constexpr double kUnlike = 1.5;
/// So many late starts show turns, ...
constexpr std::size_t kLeastLate = 20;
/// ... surely, if kernels of so many kinds begin late, or are longer, that often.
constexpr std::size_t kLeastKindsIfLate = 2, kLeastOfKind = 3;
/// A turn is at most as long as this percentage of the late starts.
constexpr double kWholeTurn = 90;
/// Kernels that began before a turn and run in it are sought among so many before it, ...
constexpr std::size_t kLookBack = 64;
/// ... and within one launch or turn among so many: a damaged trace may have them last for weeks.
constexpr std::size_t kMostWithin = 4096;
/// From the call's return to the start on a device that is free.
constexpr TimeNs kLaunch = 10 * kMicrosecond;
// None of these is calibrated.

using DeviceContext = std::tuple<store::ProcessId, std::uint32_t, DeviceId>;
using KindOfContext = std::pair<std::uint32_t, std::uint32_t>;  // number of the context, number of the kind

struct KindOfContextHash {
  std::size_t operator()(const KindOfContext& kind) const { return (std::size_t{kind.first} << 32) ^ kind.second; }
};

/// A launch that is longer than usual.
struct Lengthened {
  std::uint32_t kind;
  TimeNs begin, end;
  TimeNs usual, by;
  bool alone;  // no other kernel of its context ran meanwhile
  bool is_longer(double times) const { return static_cast<double>(end - begin) >= times * static_cast<double>(usual); }
};

struct OfContext {
  std::vector<Lengthened> longer;
  std::vector<LateStart> late;
};

DeviceContext context_of(const store::KernelRow& kernel) { return {kernel.process, kernel.context, kernel.device}; }

/// Whether so many whole turns make it longer.
bool by_turns(const Lengthened& launch, TimeNs turn) {
  const double turns = static_cast<double>(launch.by) / static_cast<double>(turn);
  return std::round(turns) >= 1 && std::abs(turns - std::round(turns)) <= kAlike;
}

/// What most of the launches that are longer while they run alone are longer by; empty: they differ.
std::optional<TimeNs> usual_turn(const std::vector<Lengthened>& all) {
  std::vector<TimeNs> alone;
  for (const Lengthened& each : all) {
    if (each.alone) alone.push_back(each.by);
  }
  std::ranges::sort(alone);
  std::size_t first = 0, most = 0;
  for (std::size_t begin = 0, end = 0; begin < alone.size(); ++begin) {
    const double limit = static_cast<double>(alone[begin]) * (1 + kAlike);
    while (end < alone.size() && static_cast<double>(alone[end]) <= limit) ++end;
    if (end - begin > most) first = begin, most = end - begin;
  }
  if (most < kLeastHits || static_cast<double>(most) < kMostly * static_cast<double>(alone.size())) return std::nullopt;
  return alone[first + most / 2];
}

/// When some thread of each process waited in a call, in order. Empty: it did not, or host waits are not recorded.
std::map<store::ProcessId, std::vector<Interval>> host_waits_of(const TraceModel& model) {
  std::map<store::ProcessId, std::vector<Interval>> all;
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (wait.in_call()) all[wait.process].push_back({wait.begin, wait.end});
  }
  for (auto& [process, waits] : all) {
    std::ranges::sort(waits, {}, &Interval::begin);
    std::size_t last = 0;
    for (const Interval wait : waits) {
      if (wait.begin > waits[last].end) {
        waits[++last] = wait;
      } else {
        waits[last].end = std::max(waits[last].end, wait.end);
      }
    }
    waits.resize(last + 1);
  }
  return all;
}

/// By how much work began late, and by how much it lasted longer.
struct Delayed {
  TimeNs late = 0, longer = 0;
};

/// What the host waits of a process would be shorter by without these delays, in sum: a replay. Work that had to wait
/// for its turn on the device begins earlier by what the work before ends earlier, but not before its call; a wait
/// takes off what is left of that, and so do the calls behind it. `items`: the process's work, by start; `delays`: by
/// start of the work.
TimeNs waited_for(const std::vector<const WorkItem*>& items, const std::unordered_map<TimeNs, Delayed>& delays,
                  const std::vector<Interval>& waits) {
  TimeNs sum = 0, earlier = 0;
  auto wait = waits.begin();
  const auto pass_waits = [&](TimeNs until) {
    for (; wait != waits.end() && wait->end <= until; ++wait) {
      sum += std::min(earlier, wait->end - wait->begin);
      earlier = 0;
    }
  };
  for (const WorkItem* item : items) {
    pass_waits(item->start);
    const auto delay = delays.find(item->start);
    const Delayed by = delay == delays.end() ? Delayed{} : delay->second;
    earlier += by.late;
    if (item->call) {
      // A call that waits makes its work before it waits.
      const TimeNs made = item->call->end <= item->start ? item->call->end : item->call->begin;
      const TimeNs most = item->start - made - kLaunch;
      earlier = std::max(by.late, std::min(earlier, most));
    }
    earlier += by.longer;
  }
  pass_waits(std::numeric_limits<TimeNs>::max());
  return sum;
}

class TurnSearch {
 public:
  TurnSearch(const TraceModel& model, const WaitKernels& kinds, const DeviceWork& work)
      : model_(model), kinds_(kinds), work_(work) {}

  std::vector<InterruptedKernels> run(const std::vector<LateStart>& late) {
    if (find_suspects()) {
      take_usual();
      take_longer();
    }
    for (const LateStart& start : late) contexts_[{start.process, start.context, start.device}].late.push_back(start);
    if (!contexts_.empty()) host_waits_ = host_waits_of(model_);
    std::vector<InterruptedKernels> all;
    for (const auto& [context, of] : contexts_) {
      InterruptedKernels found;
      std::tie(found.process, found.context, found.device) = context;
      if (by_late_starts(of, found) || by_kernels(of, found)) all.push_back(std::move(found));
    }
    return all;
  }

 private:
  /// Kinds of which some launch is much longer than another. False: none.
  bool find_suspects() {
    struct Range {
      TimeNs least = kNoTime, most = 0;
    };
    std::vector<Range> ranges;
    for (std::size_t i = 0; i < model_.kernels.size(); ++i) {
      const store::KernelRow& kernel = model_.kernels[i];
      const std::uint32_t kind = kinds_.kind_of(i);
      if (kind >= ranges.size()) ranges.resize(kind + 1);
      const TimeNs length = kernel.end - kernel.start;
      if (length <= 0) continue;  // its times are not known
      ranges[kind] = {std::min(ranges[kind].least, length), std::max(ranges[kind].most, length)};
    }
    suspect_.assign(ranges.size(), false);
    for (std::uint32_t kind = 0; kind < ranges.size(); ++kind) {
      const auto [least, most] = ranges[kind];
      suspect_[kind] = most - least >= kLeastTurn &&
                       static_cast<double>(most) >= kLongerIfLate * static_cast<double>(least) &&
                       kinds_.waitless(kind) && !is_kernel_of_nccl(kinds_.kind_name(kind));
    }
    return std::ranges::count(suspect_, true) > 0;
  }

  /// Most kernels are of the context of the kernel before.
  std::uint32_t number_of(const DeviceContext& context) {
    if (context != last_ || numbers_.empty()) {
      last_ = context;
      last_number_ = numbers_.try_emplace(context, static_cast<std::uint32_t>(numbers_.size())).first->second;
    }
    return last_number_;
  }

  void take_usual() {
    std::unordered_map<KindOfContext, std::vector<TimeNs>, KindOfContextHash> lengths;
    for (std::size_t i = 0; i < model_.kernels.size(); ++i) {
      const std::uint32_t kind = kinds_.kind_of(i);
      const store::KernelRow& kernel = model_.kernels[i];
      if (!suspect_[kind] || kernel.end <= kernel.start) continue;
      lengths[{number_of(context_of(kernel)), kind}].push_back(kernel.end - kernel.start);
    }
    for (auto& [kind, of] : lengths) {
      if (of.size() >= kLeastLaunches) usual_[kind] = percentile_in_place(of, kUsual);
    }
  }

  void take_longer() {
    std::vector<TimeNs> ends;  // by context
    for (std::size_t i = 0; i < model_.kernels.size(); ++i) {
      const store::KernelRow& kernel = model_.kernels[i];
      const DeviceContext context = context_of(kernel);
      const std::uint32_t number = number_of(context);
      if (number >= ends.size()) ends.resize(number + 1);
      TimeNs& end = ends[number];
      const bool beside = end > kernel.start;
      end = std::max(end, kernel.end);
      const std::uint32_t kind = kinds_.kind_of(i);
      if (!suspect_[kind]) continue;
      const auto usual = usual_.find({number, kind});
      if (usual == usual_.end()) continue;
      Lengthened launch{kind, kernel.start, kernel.end, usual->second, 0, false};
      launch.by = kernel.end - kernel.start - launch.usual;
      if (launch.by < kLeastTurn || !launch.is_longer(kLongerIfLate)) continue;
      launch.alone = !beside && !begins_within(i + 1, context, kernel.end);
      contexts_[context].longer.push_back(launch);
    }
  }

  /// Whether a kernel of the context begins before that time, of those from `first` on; or there are too many others.
  bool begins_within(std::size_t first, const DeviceContext& context, TimeNs end) const {
    for (std::size_t i = first; i < model_.kernels.size() && model_.kernels[i].start < end; ++i) {
      if (i - first == kMostWithin || context_of(model_.kernels[i]) == context) return true;
    }
    return false;
  }

  bool by_late_starts(const OfContext& of, InterruptedKernels& found) const {
    if (of.late.size() < kLeastLate) return false;
    std::vector<TimeNs> by;
    std::map<std::optional<std::uint32_t>, std::size_t> late_kinds;
    for (const LateStart& start : of.late) {
      by.push_back(start.end - start.begin);
      ++late_kinds[start.kernel ? std::optional(kinds_.kind_of(*start.kernel)) : std::nullopt];
    }
    const TimeNs whole = percentile_in_place(by, kWholeTurn);
    std::vector<Lengthened> longer = of.longer;
    // A kernel that runs beside others may be longer for these.
    std::erase_if(longer, [&](const Lengthened& launch) {
      const bool is_part = static_cast<double>(launch.by) <= (1 + kAlike) * static_cast<double>(whole);
      return !launch.alone || !(is_part || by_turns(launch, whole));
    });
    count_kinds(longer, found);
    sum_up(longer, of.late, found);
    const auto often = [](const auto& kind) { return kind.second >= kLeastOfKind; };
    found.sure = static_cast<std::size_t>(std::ranges::count_if(late_kinds, often)) >= kLeastKindsIfLate ||
                 found.kinds >= kLeastKindsIfLate || !found.others.empty();
    return true;
  }

  bool by_kernels(const OfContext& of, InterruptedKernels& found) const {
    std::vector<Lengthened> longer = of.longer;
    std::erase_if(longer, [](const Lengthened& launch) { return !launch.is_longer(kLonger); });
    const std::optional<TimeNs> turn = usual_turn(longer);
    if (!turn) return false;
    std::erase_if(longer, [&](const Lengthened& launch) { return !by_turns(launch, *turn); });
    count_kinds(longer, found);
    sum_up(longer, of.late, found);
    found.turn_ns = *turn;
    const bool unlike = static_cast<double>(found.longest_ns) >= kUnlike * static_cast<double>(found.shortest_ns);
    found.sure = (found.kinds >= kLeastKinds && unlike) || !found.others.empty();
    return found.sure;
  }

  static void count_kinds(const std::vector<Lengthened>& longer, InterruptedKernels& found) {
    std::map<std::uint32_t, std::pair<std::size_t, TimeNs>> kinds;  // launches, and the usual length
    for (const Lengthened& launch : longer) {
      auto& [launches, usual] = kinds[launch.kind];
      ++launches;
      usual = launch.usual;
    }
    std::erase_if(kinds, [](const auto& kind) { return kind.second.first < 2; });
    found.kinds = kinds.size();
    found.shortest_ns = kinds.empty() ? 0 : kNoTime;
    for (const auto& [kind, of] : kinds) {
      found.shortest_ns = std::min(found.shortest_ns, of.second);
      found.longest_ns = std::max(found.longest_ns, of.second);
    }
  }

  /// What is longer or late at the same time counts once.
  void sum_up(const std::vector<Lengthened>& longer, const std::vector<LateStart>& late,
              InterruptedKernels& found) const {
    struct Lost {
      TimeNs begin, end, by;
      bool is_late;
    };
    std::vector<Lost> all;
    for (const Lengthened& launch : longer) all.push_back({launch.begin, launch.end, launch.by, false});
    for (const LateStart& start : late) all.push_back({start.begin, start.end, start.end - start.begin, true});
    std::ranges::stable_sort(all, {}, &Lost::begin);
    TimeNs until = 0, lost = 0;
    std::unordered_map<TimeNs, Delayed> delays;
    std::vector<TimeNs> by;
    std::map<store::ProcessId, std::uint64_t> others;
    for (const Lost& each : all) {
      if (each.begin < until) continue;
      until = each.end;
      ++(each.is_late ? found.late_starts : found.kernels);
      lost += each.by;
      if (each.is_late) {
        delays[each.end].late = each.by;
      } else {
        delays[each.begin].longer = each.by;
      }
      by.push_back(each.by);
      for (const store::ProcessId other : others_within(found, each.begin, each.end)) ++others[other];
    }
    for (const auto& [process, turns] : others) {
      if (2 * turns >= by.size()) found.others.push_back(process);
    }
    found.turn_ns = by.empty() ? 0 : percentile_in_place(by, 50);
    const auto waits = host_waits_.find(found.process);
    found.lost_ns = waits == host_waits_.end() ? lost : waited_for(work_of(found), delays, waits->second);
  }

  std::vector<const WorkItem*> work_of(const InterruptedKernels& found) const {
    std::vector<const WorkItem*> items;
    for (const auto& [stream, of] : work_.by_stream) {
      if (stream.process != found.process || of.front().device != found.device) continue;
      for (const WorkItem& item : of) items.push_back(&item);
    }
    std::ranges::stable_sort(items, {}, [](const WorkItem* item) { return item->start; });
    return items;
  }

  std::set<store::ProcessId> others_within(const InterruptedKernels& found, TimeNs begin, TimeNs end) const {
    std::set<store::ProcessId> others;
    const auto first = std::partition_point(model_.kernels.begin(), model_.kernels.end(),
                                            [&](const auto& kernel) { return kernel.start < begin; });
    const auto before = static_cast<std::size_t>(first - model_.kernels.begin());
    const std::size_t last = std::min(model_.kernels.size(), before + kMostWithin);
    for (std::size_t i = before - std::min(before, kLookBack); i < last; ++i) {
      const store::KernelRow& kernel = model_.kernels[i];
      if (kernel.start >= end) break;
      if (kernel.end > begin && kernel.device == found.device && kernel.process != found.process)
        others.insert(kernel.process);
    }
    return others;
  }

  const TraceModel& model_;
  const WaitKernels& kinds_;
  const DeviceWork& work_;
  std::vector<bool> suspect_;  // by kind
  std::map<DeviceContext, std::uint32_t> numbers_;
  DeviceContext last_;  // whose number was asked for last
  std::uint32_t last_number_ = 0;
  std::unordered_map<KindOfContext, TimeNs, KindOfContextHash> usual_;
  std::map<DeviceContext, OfContext> contexts_;
  std::map<store::ProcessId, std::vector<Interval>> host_waits_;
};

}  // namespace

std::vector<InterruptedKernels> interrupted_kernels(const TraceModel& model, const WaitKernels& kinds,
                                                    const DeviceWork& work, const std::vector<LateStart>& late) {
  std::vector<InterruptedKernels> all = TurnSearch(model, kinds, work).run(late);
  if (model.is_digest()) {
    std::ranges::move(turns_of_digests(model), std::back_inserter(all));
    suppose_others(model, all);
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &InterruptedKernels::lost_ns);
  return all;
}

}  // namespace wicprof::analyzer
