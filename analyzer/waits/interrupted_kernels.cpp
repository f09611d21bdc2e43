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
#include "analyzer/words/runtime_names.h"

namespace wicprof::analyzer {

namespace {

constexpr TimeNs kNoTime = std::numeric_limits<TimeNs>::max();

/// What makes a kernel longer by less is not looked at.
constexpr TimeNs kLeastTurn = 200 * kMicrosecond;
/// A launch is longer than usual from that many times its usual length on.
constexpr double kLonger = 2;
/// The usual length: at least that percentage of the launches run without a turn.
constexpr double kUsual = 10;
constexpr std::size_t kLeastLaunches = 5;
/// Turns are equally long within that share.
constexpr double kAlike = 0.1;
/// That share of what makes kernels longer that run alone, and launches late, must be turns, ...
constexpr double kMostly = 0.6;
/// ... of at least so many launches and kinds, ...
constexpr std::size_t kLeastHits = 10, kLeastKinds = 3;
/// ... whose own lengths differ by that factor: then what makes them longer is not in proportion to them. Launches that
/// are as late as kernels of so many kinds are longer say the same.
constexpr double kUnlike = 1.5;
constexpr std::size_t kLeastKindsIfLate = 2;
/// Of late starts alone.
constexpr std::size_t kLeastLateAlone = 20;
// None of these is calibrated.

using DeviceContext = std::tuple<store::ProcessId, std::uint32_t, DeviceId>;
using KindOfContext = std::pair<std::uint32_t, std::uint32_t>;  // number of the context, number of the kind

struct KindOfContextHash {
  std::size_t operator()(const KindOfContext& kind) const { return (std::size_t{kind.first} << 32) ^ kind.second; }
};

constexpr std::uint32_t kLateStart = std::numeric_limits<std::uint32_t>::max();

/// A launch that is longer than usual, or late.
struct Lengthened {
  std::uint32_t kind;  // kLateStart: nothing ran
  TimeNs begin, end;
  TimeNs usual, by;
  bool alone;  // no other kernel of its context ran meanwhile
};

DeviceContext context_of(const store::KernelRow& kernel) { return {kernel.process, kernel.context, kernel.device}; }

/// Whether so many whole turns make it longer.
bool by_turns(const Lengthened& launch, TimeNs turn) {
  const double turns = static_cast<double>(launch.by) / static_cast<double>(turn);
  return std::round(turns) >= 1 && std::abs(turns - std::round(turns)) <= kAlike;
}

/// What most of the launches that are longer while they run alone are longer by, and `with_late` those that are late;
/// empty: they differ.
std::optional<TimeNs> usual_turn(const std::vector<Lengthened>& all, bool with_late) {
  std::vector<TimeNs> alone;
  for (const Lengthened& each : all) {
    if (each.alone && (with_late || each.kind != kLateStart)) alone.push_back(each.by);
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

class TurnSearch {
 public:
  TurnSearch(const TraceModel& model, const WaitKernels& kinds) : model_(model), kinds_(kinds) {}

  std::vector<InterruptedKernels> run(const std::vector<LateStart>& late) {
    if (find_suspects()) {
      take_usual();
      take_longer();
    }
    take_late(late);
    std::vector<InterruptedKernels> all;
    for (auto& [context, launches] : lengthened_) {
      std::ranges::stable_sort(launches, {}, &Lengthened::begin);
      if (std::optional<InterruptedKernels> found = judge(context, launches)) all.push_back(*std::move(found));
    }
    std::ranges::stable_sort(all, std::ranges::greater{}, &InterruptedKernels::lost_ns);
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
                       static_cast<double>(most) >= kLonger * static_cast<double>(least) && kinds_.waitless(kind) &&
                       !is_kernel_of_nccl(kinds_.kind_name(kind));
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
      const TimeNs length = kernel.end - kernel.start, by = length - usual->second;
      if (by < kLeastTurn || static_cast<double>(length) < kLonger * static_cast<double>(usual->second)) continue;
      lengthened_[context].push_back(
          {kind, kernel.start, kernel.end, usual->second, by, !beside && !begins_within(i + 1, context, kernel.end)});
    }
  }

  /// Whether a kernel of the context begins before that time, of those from `first` on.
  bool begins_within(std::size_t first, const DeviceContext& context, TimeNs end) const {
    for (std::size_t i = first; i < model_.kernels.size() && model_.kernels[i].start < end; ++i) {
      if (context_of(model_.kernels[i]) == context) return true;
    }
    return false;
  }

  void take_late(std::vector<LateStart> late) {
    std::erase_if(late, [](const LateStart& start) { return start.late_ns < kLeastTurn; });
    if (late.size() < kLeastHits) return;
    std::ranges::sort(late, {}, &LateStart::begin);
    for (const auto& kernel : model_.kernels) number_of(context_of(kernel));
    std::map<store::ProcessId, std::vector<DeviceContext>> contexts;
    for (const auto& [context, number] : numbers_) contexts[std::get<0>(context)].push_back(context);
    std::map<DeviceContext, TimeNs> ends;
    std::size_t next = 0;
    for (const LateStart& start : late) {
      for (; next < model_.kernels.size() && model_.kernels[next].start <= start.begin; ++next) {
        const store::KernelRow& kernel = model_.kernels[next];
        TimeNs& end = ends[context_of(kernel)];
        end = std::max(end, kernel.end);
      }
      const auto of = contexts.find(start.process);
      if (of == contexts.end() || of->second.size() != 1) continue;
      const DeviceContext& context = of->second.front();
      // What waits for its own context's kernels waits for no other's turn. Several kernels may begin after a turn.
      if (ends[context] > start.begin || begins_within(next, context, start.end - start.late_ns / 10)) continue;
      lengthened_[context].push_back({kLateStart, start.begin, start.end, 0, start.late_ns, true});
    }
  }

  /// A launch may be late by any part of a turn, so late starts may differ where what is longer does not.
  std::optional<InterruptedKernels> judge(const DeviceContext& context, const std::vector<Lengthened>& all) const {
    std::optional<InterruptedKernels> found = judge(context, all, usual_turn(all, false));
    return found && found->sure ? found : judge(context, all, usual_turn(all, true));
  }

  std::optional<InterruptedKernels> judge(const DeviceContext& context, const std::vector<Lengthened>& all,
                                          std::optional<TimeNs> turn) const {
    if (!turn) return std::nullopt;
    InterruptedKernels found;
    std::tie(found.process, found.context, found.device) = context;
    found.turn_ns = *turn;
    std::map<std::uint32_t, std::pair<std::size_t, TimeNs>> kinds;  // launches, and the usual length
    for (const Lengthened& each : all) {
      if (!by_turns(each, found.turn_ns)) continue;
      if (each.kind == kLateStart) {
        ++found.late_starts;
        continue;
      }
      auto& [launches, usual] = kinds[each.kind];
      ++launches;
      usual = each.usual;
    }
    const bool also_late = found.late_starts >= kLeastHits && kinds.size() >= kLeastKindsIfLate;
    if (!also_late) std::erase_if(kinds, [](const auto& kind) { return kind.second.first < 2; });
    found.kinds = kinds.size();
    if (!kinds.empty()) found.shortest_ns = kNoTime;
    for (const auto& [kind, of] : kinds) {
      found.shortest_ns = std::min(found.shortest_ns, of.second);
      found.longest_ns = std::max(found.longest_ns, of.second);
    }
    const bool by_kernels = found.kinds >= kLeastKinds &&
                            static_cast<double>(found.longest_ns) >= kUnlike * static_cast<double>(found.shortest_ns);
    sum_up(all, found);
    found.sure = by_kernels || also_late || !found.others.empty();
    if (!found.sure && found.late_starts < kLeastLateAlone) return std::nullopt;
    return found;
  }

  /// A launch that runs beside others is longer for these, too.
  void sum_up(const std::vector<Lengthened>& all, InterruptedKernels& found) const {
    TimeNs until = 0;
    std::uint64_t counted = 0;
    std::map<store::ProcessId, std::uint64_t> others;
    for (const Lengthened& each : all) {
      if (each.begin < until || !by_turns(each, found.turn_ns)) continue;
      until = each.end;
      ++counted;
      if (each.kind != kLateStart) ++found.kernels;
      found.lost_ns += each.by;
      for (const store::ProcessId other : others_within(found, each.begin, each.end)) ++others[other];
    }
    for (const auto& [process, turns] : others) {
      if (2 * turns >= counted) found.others.push_back(process);
    }
  }

  std::set<store::ProcessId> others_within(const InterruptedKernels& found, TimeNs begin, TimeNs end) const {
    std::set<store::ProcessId> others;
    const auto first = std::partition_point(model_.kernels.begin(), model_.kernels.end(),
                                            [&](const auto& kernel) { return kernel.start < begin; });
    for (auto at = first; at != model_.kernels.end() && (*at).start < end; ++at) {
      if ((*at).device == found.device && (*at).process != found.process) others.insert((*at).process);
    }
    return others;
  }

  const TraceModel& model_;
  const WaitKernels& kinds_;
  std::vector<bool> suspect_;  // by kind
  std::map<DeviceContext, std::uint32_t> numbers_;
  DeviceContext last_;  // whose number was asked for last
  std::uint32_t last_number_ = 0;
  std::unordered_map<KindOfContext, TimeNs, KindOfContextHash> usual_;
  std::map<DeviceContext, std::vector<Lengthened>> lengthened_;
};

}  // namespace

std::vector<InterruptedKernels> interrupted_kernels(const TraceModel& model, const WaitKernels& kinds,
                                                    const std::vector<LateStart>& late) {
  return TurnSearch(model, kinds).run(late);
}

}  // namespace wicprof::analyzer
