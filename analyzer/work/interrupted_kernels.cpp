#include "analyzer/work/interrupted_kernels.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
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
/// That share of what makes kernels longer that run alone must be turns, ...
constexpr double kMostly = 0.6;
/// ... of at least so many launches and kinds, ...
constexpr std::size_t kLeastHits = 10, kLeastKinds = 3;
/// ... whose own lengths differ by that factor: then what makes them longer is not in proportion to them.
constexpr double kUnlike = 1.5;
// None of these is calibrated.

using DeviceContext = std::tuple<store::ProcessId, std::uint32_t, DeviceId>;
using KindOfContext = std::pair<std::uint32_t, std::uint32_t>;  // number of the context, number of the kind

struct KindOfContextHash {
  std::size_t operator()(const KindOfContext& kind) const { return (std::size_t{kind.first} << 32) ^ kind.second; }
};

/// A launch that is longer than usual.
struct LongerLaunch {
  std::size_t kernel;  // index into TraceModel::kernels
  std::uint32_t kind;
  TimeNs usual, by;
  bool alone;  // no other kernel of its context ran meanwhile
};

class TurnSearch {
 public:
  TurnSearch(const TraceModel& model, const WaitKernels& kinds) : model_(model), kinds_(kinds) {}

  std::vector<InterruptedKernels> run() {
    std::vector<InterruptedKernels> all;
    if (!find_suspects()) return all;
    take_usual();
    take_longer();
    for (std::size_t i = 0; i < longer_.size(); ++i) {
      if (std::optional<InterruptedKernels> found = judge(i)) all.push_back(*std::move(found));
    }
    std::ranges::stable_sort(all, std::ranges::greater{}, &InterruptedKernels::lost_ns);
    return all;
  }

 private:
  /// Kinds of which some launch is much longer than another. False: too few.
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
      ranges[kind] = {std::min(ranges[kind].least, length), std::max(ranges[kind].most, length)};
    }
    suspect_.assign(ranges.size(), false);
    for (std::uint32_t kind = 0; kind < ranges.size(); ++kind) {
      const auto [least, most] = ranges[kind];
      suspect_[kind] = least > 0 && most - least >= kLeastTurn &&
                       static_cast<double>(most) >= kLonger * static_cast<double>(least) && kinds_.waitless(kind) &&
                       !is_kernel_of_nccl(kinds_.kind_name(kind));
    }
    return static_cast<std::size_t>(std::ranges::count(suspect_, true)) >= kLeastKinds;
  }

  std::uint32_t context_of(const store::KernelRow& kernel) {
    return contexts_
        .try_emplace({kernel.process, kernel.context, kernel.device}, static_cast<std::uint32_t>(contexts_.size()))
        .first->second;
  }

  void take_usual() {
    std::unordered_map<KindOfContext, std::vector<TimeNs>, KindOfContextHash> lengths;
    for (std::size_t i = 0; i < model_.kernels.size(); ++i) {
      const std::uint32_t kind = kinds_.kind_of(i);
      if (!suspect_[kind]) continue;
      const store::KernelRow& kernel = model_.kernels[i];
      lengths[{context_of(kernel), kind}].push_back(kernel.end - kernel.start);
    }
    for (auto& [kind, of] : lengths) {
      if (of.size() >= kLeastLaunches) usual_[kind] = percentile_in_place(of, kUsual);
    }
  }

  void take_longer() {
    std::map<DeviceContext, TimeNs> ends;
    for (std::size_t i = 0; i < model_.kernels.size(); ++i) {
      const store::KernelRow& kernel = model_.kernels[i];
      TimeNs& end = ends[{kernel.process, kernel.context, kernel.device}];
      const bool beside = end > kernel.start;
      end = std::max(end, kernel.end);
      const std::uint32_t kind = kinds_.kind_of(i);
      if (!suspect_[kind]) continue;
      const std::uint32_t context = context_of(kernel);
      const auto usual = usual_.find({context, kind});
      if (usual == usual_.end()) continue;
      const TimeNs length = kernel.end - kernel.start, by = length - usual->second;
      if (by < kLeastTurn || static_cast<double>(length) < kLonger * static_cast<double>(usual->second)) continue;
      if (context >= longer_.size()) longer_.resize(context + 1);
      longer_[context].push_back({i, kind, usual->second, by, !beside && !meets_own(i)});
    }
  }

  /// Whether another kernel of its context begins while it runs.
  bool meets_own(std::size_t at) const {
    const store::KernelRow& own = model_.kernels[at];
    for (std::size_t i = at + 1; i < model_.kernels.size() && model_.kernels[i].start < own.end; ++i) {
      const store::KernelRow& other = model_.kernels[i];
      if (std::tie(other.process, other.context, other.device) == std::tie(own.process, own.context, own.device))
        return true;
    }
    return false;
  }

  std::optional<InterruptedKernels> judge(std::size_t context) const {
    std::vector<LongerLaunch> alone;
    std::ranges::copy_if(longer_[context], std::back_inserter(alone), &LongerLaunch::alone);
    std::ranges::sort(alone, {}, &LongerLaunch::by);
    // The most launches that are longer by the same time.
    std::size_t first = 0, most = 0;
    for (std::size_t begin = 0, end = 0; begin < alone.size(); ++begin) {
      const double limit = static_cast<double>(alone[begin].by) * (1 + kAlike);
      while (end < alone.size() && static_cast<double>(alone[end].by) <= limit) ++end;
      if (end - begin > most) first = begin, most = end - begin;
    }
    if (most < kLeastHits || static_cast<double>(most) < kMostly * static_cast<double>(alone.size()))
      return std::nullopt;
    InterruptedKernels found;
    found.turn_ns = alone[first + most / 2].by;
    std::map<std::uint32_t, std::pair<std::size_t, TimeNs>> kinds;  // launches, and the usual length
    for (const LongerLaunch& each : longer_[context]) {
      if (!by_turns(each, found.turn_ns)) continue;
      auto& [launches, usual] = kinds[each.kind];
      ++launches;
      usual = each.usual;
    }
    std::erase_if(kinds, [](const auto& kind) { return kind.second.first < 2; });
    found.kinds = kinds.size();
    found.shortest_ns = kNoTime;
    for (const auto& [kind, of] : kinds) {
      found.shortest_ns = std::min(found.shortest_ns, of.second);
      found.longest_ns = std::max(found.longest_ns, of.second);
    }
    if (found.kinds < kLeastKinds ||
        static_cast<double>(found.longest_ns) < kUnlike * static_cast<double>(found.shortest_ns))
      return std::nullopt;
    const store::KernelRow& kernel = model_.kernels[alone[first].kernel];
    std::tie(found.process, found.context, found.device) = std::tie(kernel.process, kernel.context, kernel.device);
    sum_up(longer_[context], found);
    return found;
  }

  /// Whether so many whole turns make it longer.
  static bool by_turns(const LongerLaunch& launch, TimeNs turn) {
    const double turns = static_cast<double>(launch.by) / static_cast<double>(turn);
    return std::round(turns) >= 1 && std::abs(turns - std::round(turns)) <= kAlike;
  }

  /// A launch that runs beside others is longer for these, too.
  void sum_up(const std::vector<LongerLaunch>& all, InterruptedKernels& found) const {
    TimeNs until = 0;
    for (const LongerLaunch& each : all) {
      const store::KernelRow& kernel = model_.kernels[each.kernel];
      if (kernel.start < until || !by_turns(each, found.turn_ns)) continue;
      until = kernel.end;
      ++found.kernels;
      found.lost_ns += each.by;
      for (std::size_t i = each.kernel + 1; i < model_.kernels.size() && model_.kernels[i].start < kernel.end; ++i) {
        const store::KernelRow& other = model_.kernels[i];
        if (other.device == kernel.device && other.process != kernel.process) found.others.insert(other.process);
      }
    }
  }

  const TraceModel& model_;
  const WaitKernels& kinds_;
  std::vector<bool> suspect_;  // by kind
  std::map<DeviceContext, std::uint32_t> contexts_;
  std::unordered_map<KindOfContext, TimeNs, KindOfContextHash> usual_;
  std::vector<std::vector<LongerLaunch>> longer_;  // by context
};

}  // namespace

std::vector<InterruptedKernels> interrupted_kernels(const TraceModel& model, const WaitKernels& kinds) {
  return TurnSearch(model, kinds).run();
}

}  // namespace wicprof::analyzer
