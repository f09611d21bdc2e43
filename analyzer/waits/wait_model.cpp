#include "analyzer/waits/wait_model.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace wicprof::analyzer {
namespace {

/// A copy's source and destination; kHostDevice for the host.
std::optional<std::pair<DeviceId, DeviceId>> ends_of(const store::CopyRow& copy) {
  switch (copy.kind) {
    case CopyKind::host_to_device:
      return std::pair{kHostDevice, copy.device};
    case CopyKind::device_to_host:
      return std::pair{copy.device, kHostDevice};
    case CopyKind::peer_to_peer:
      return std::pair{copy.device, copy.peer_device};
    default:
      return std::nullopt;
  }
}

std::size_t index_of(Mode mode) { return mode == Mode::poll ? 0 : 1; }

}  // namespace

WaitSums& WaitSums::operator+=(const WaitSums& other) {
  waits += other.waits;
  host_waits += other.host_waits;
  waiting_ns += other.waiting_ns;
  polls += other.polls;
  waits_with_polls += other.waits_with_polls;
  matched += other.matched;
  data_first += other.data_first;
  consumer_first += other.consumer_first;
  undecided += other.undecided;
  producer_late_ns += other.producer_late_ns;
  wake_ns += other.wake_ns;
  lead_ns += other.lead_ns;
  shared_signals_waits += other.shared_signals_waits;
  wake_shared_ns += other.wake_shared_ns;
  wake_own_ns += other.wake_own_ns;
  transfers += other.transfers;
  transfer_ns += other.transfer_ns;
  waiting_of_transfers_ns += other.waiting_of_transfers_ns;
  return *this;
}

WaitModel::WaitModel(const TraceModel& model, const Matching& matching, const Waiters& waiters, const Modes& modes)
    : model_(model), matching_(matching), clocks_(model), waiters_(waiters) {
  find_first_resumptions();
  find_transfers();
  sum_up(modes);
}

void WaitModel::find_first_resumptions() {
  released_.resize(model_.signals.size());
  for (const WakeEdge& edge : matching_.edges) {
    const TimeNs resumed = view_of(model_, edge).end;
    Released& released = released_[edge.signal];
    released.first_resumed = released.waits == 0 ? resumed : std::min(released.first_resumed, resumed);
    ++released.waits;
  }
}

/// The transfer of a signal's data is the last copy from the signaller's device to the waiter's that ended between the
/// previous signal (of the same site and word, to the same device) and this one.
void WaitModel::find_transfers() {
  if (model_.copies.empty()) return;
  using Route = std::pair<DeviceId, DeviceId>;
  struct Sent {
    TimeNs start, end;
    std::uint64_t bytes;
  };
  std::map<Route, std::vector<Sent>> by_route;
  for (const store::CopyRow& copy : model_.copies) {
    const auto ends = ends_of(copy);
    if (ends && copy.end > 0) by_route[*ends].push_back({copy.start, copy.end, copy.bytes});
  }
  if (by_route.empty()) return;
  for (auto& [route, copies] : by_route) {
    std::sort(copies.begin(), copies.end(), [](const Sent& a, const Sent& b) { return a.end < b.end; });
  }
  // The destination device of each signal.
  std::vector<std::optional<DeviceId>> to(model_.signals.size());
  for (const WakeEdge& edge : matching_.edges) {
    to[edge.signal] = view_of(model_, edge).device;
  }
  transfers_.assign(model_.signals.size(), -1);
  std::map<std::tuple<SiteId, DeviceId, std::uint32_t>, TimeNs> before;  // site, destination, word
  for (std::size_t i = 0; i < model_.signals.size(); ++i) {
    const store::SignalRow& signal = model_.signals[i];
    if (!to[i] || *to[i] == signal.device) continue;
    const auto copies = by_route.find({signal.device, *to[i]});
    if (copies == by_route.end()) continue;
    const auto [last, first] = before.try_emplace({signal.site, *to[i], signal.word.value_or(0)}, model_.begin);
    const auto& list = copies->second;
    const auto after = std::upper_bound(list.begin(), list.end(), signal.at,
                                        [](TimeNs time, const Sent& copy) { return time < copy.end; });
    const bool carried = after != list.begin() && std::prev(after)->end > last->second &&
                         std::prev(after)->bytes >= signal.bytes;  // signal.bytes is 0 if unknown
    if (carried) {
      transfers_[i] = std::prev(after)->end - std::prev(after)->start;
    }
    last->second = signal.at;
  }
}

std::optional<TimeNs> WaitModel::transfer_of(std::size_t signal) const {
  if (transfers_.empty() || transfers_[signal] < 0) return std::nullopt;
  return transfers_[signal];
}

WaitTimes WaitModel::times(const WakeEdge& edge) const {
  const WaitView wait = view_of(model_, edge);
  WaitTimes times;
  times.t_c = wait.begin;
  times.t_p = model_.signals[edge.signal].at;
  times.w_p = wait.took();
  times.w_t = transfer_of(edge.signal);
  // By clock error, a signal may appear later than the resumption; then the whole wait counts as producer_late.
  times.producer_late = std::clamp<TimeNs>(times.t_p - times.t_c, 0, times.w_p);
  times.wake = times.w_p - times.producer_late;
  const Released& released = released_[edge.signal];
  const TimeNs known = std::max(times.t_p, times.t_c);
  times.wake_shared = std::clamp<TimeNs>(released.first_resumed - known, 0, times.wake);
  times.wake_own = times.wake - times.wake_shared;
  const TimeNs apart = times.t_p > times.t_c ? times.t_p - times.t_c : times.t_c - times.t_p;
  const std::optional<TimeNs> error = clocks_.between(model_.signals[edge.signal].device, wait.device);
  if (error && apart > *error) {
    times.scenario = times.t_p < times.t_c ? Scenario::data_first : Scenario::consumer_first;
  }
  return times;
}

std::vector<IterationWaits> WaitModel::iterations() const {
  std::vector<IterationWaits> iterations(waiters_.slots().size());
  for (std::size_t i = 0; i < iterations.size(); ++i) iterations[i].slot = static_cast<std::uint32_t>(i);
  for_each_wait(model_, [&](const WaitView& wait) {
    if (!waiters_.counts(wait)) return;
    IterationWaits& iteration = iterations[waiters_.slot_of(wait)];
    iteration.last_t_c = std::max(iteration.last_t_c, wait.begin);
    iteration.w_p += wait.took();
  });
  for (const WakeEdge& edge : matching_.edges) {
    const WaitTimes times = this->times(edge);
    IterationWaits& iteration = iterations[waiters_.slot_of(view_of(model_, edge))];
    ++iteration.matched;
    iteration.first_t_p = std::min(iteration.first_t_p.value_or(times.t_p), times.t_p);
    iteration.last_t_p = std::max(iteration.last_t_p.value_or(times.t_p), times.t_p);
    if (times.w_t) iteration.w_t = iteration.w_t.value_or(0) + *times.w_t;
  }
  return iterations;
}

namespace {

/// What is summed up for one site, or for all, by mode.
struct PerSite {
  SiteWaits part[2];
  std::vector<bool> seen[2];         // by waiter
  std::vector<TimeNs> waited_until;  // by waiter
  TimeNs waited[2] = {};             // in which each waiter waited, or data came for it, summed
  std::vector<TimeNs> transfers[2];  // once per signal

  explicit PerSite(std::size_t waiters) : waited_until(waiters, std::numeric_limits<TimeNs>::min()) {
    for (auto& by_waiter : seen) by_waiter.resize(waiters);
  }

  void see(std::size_t mode, std::uint32_t waiter) {
    if (seen[mode][waiter]) return;
    seen[mode][waiter] = true;
    ++part[mode].waiters;
  }

  /// A wait, in order of arrival. Where each thread of a group has a wait of its own, the group waits while any of
  /// them does. Returns whether the waiter had not waited until now.
  bool add(std::size_t mode, std::uint32_t waiter, TimeNs from, TimeNs to) {
    TimeNs& until = waited_until[waiter];
    const bool is_first = from >= until;
    waited[mode] += std::max<TimeNs>(0, to - std::max(from, until));
    until = std::max(until, to);
    return is_first;
  }

  void finish(SiteId id, const Modes& modes, std::vector<SiteWaits>& to) {
    for (const Mode mode : {Mode::poll, Mode::park}) {
      const std::size_t m = index_of(mode);
      SiteWaits& of_mode = part[m];
      if (of_mode.sums.waits == 0) continue;
      of_mode.site = id;
      of_mode.mode = mode;
      for (const Interval& interval : modes.when(id, mode)) of_mode.span_ns += interval.end - interval.begin;
      if (of_mode.span_ns > 0) {
        const auto span = static_cast<double>(of_mode.span_ns);
        of_mode.consumer_share = static_cast<double>(waited[m]) / (static_cast<double>(of_mode.waiters) * span);
        if (!transfers[m].empty()) {
          const TimeNs total = std::accumulate(transfers[m].begin(), transfers[m].end(), TimeNs{0});
          of_mode.producer_share = static_cast<double>(total) / span;
        }
      }
      to.push_back(of_mode);
    }
  }
};

/// The sums of all sites.
class SumsBySite {
 public:
  SumsBySite(const TraceModel& model, const Waiters& waiters, const Modes& modes)
      : waiters_(waiters.list().size()),
        modes_(modes),
        both_(modes.both()),
        only_(modes.at(0, model.begin)),
        whole_(waiters_) {}

  std::size_t mode_at(SiteId id, TimeNs at) const { return index_of(both_ ? modes_.at(id, at) : only_); }

  /// The site, whose waiter waits in that mode.
  PerSite& see(SiteId id, std::size_t mode, std::uint32_t waiter) {
    if (last_ == nullptr || last_id_ != id) {
      last_ = &sites_.try_emplace(id, waiters_).first->second;
      last_id_ = id;
    }
    last_->see(mode, waiter);
    whole_.see(mode, waiter);
    return *last_;
  }
  PerSite& whole() { return whole_; }

  void finish(std::vector<SiteWaits>& sites, std::vector<SiteWaits>& whole) {
    for (auto& [id, site] : sites_) {
      for (const std::size_t m : {0, 1}) whole_.part[m].sums += site.part[m].sums;
      site.finish(id, modes_, sites);
    }
    whole_.finish(0, modes_, whole);
  }

 private:
  const std::size_t waiters_;
  const Modes& modes_;
  const bool both_;
  const Mode only_;  // where there is one
  std::map<SiteId, PerSite> sites_;
  PerSite whole_;
  SiteId last_id_ = 0;
  PerSite* last_ = nullptr;
};

/// Adds all waits. Returns, by wait, whether its group waited already.
std::vector<bool> add_waits(const TraceModel& model, const Waiters& waiters, SumsBySite& by_site) {
  std::vector<bool> beside_another(model.waits.size());
  for_each_wait(model, [&](const WaitView& wait) {
    if (!waiters.counts(wait)) return;
    const std::uint32_t waiter = waiters.of(wait);
    const std::size_t mode = by_site.mode_at(wait.site, wait.begin);
    PerSite& site = by_site.see(wait.site, mode, waiter);
    const TimeNs until = wait.begin + wait.took();
    const bool is_first = site.add(mode, waiter, wait.begin, until);
    const bool is_first_anywhere = by_site.whole().add(mode, waiter, wait.begin, until);
    if (!wait.host) beside_another[wait.index] = !is_first || !is_first_anywhere;
    WaitSums& sums = site.part[mode].sums;
    ++sums.waits;
    sums.host_waits += wait.host ? 1 : 0;
    sums.waiting_ns += wait.took();
    sums.polls += wait.polls.value_or(0);
    sums.waits_with_polls += wait.polls ? 1 : 0;
  });
  return beside_another;
}

void add_times(const WaitTimes& times, WaitSums& sums) {
  ++sums.matched;
  sums.data_first += times.scenario == Scenario::data_first ? 1 : 0;
  sums.consumer_first += times.scenario == Scenario::consumer_first ? 1 : 0;
  sums.undecided += times.scenario == Scenario::undecided ? 1 : 0;
  sums.producer_late_ns += times.producer_late;
  sums.wake_ns += times.wake;
  sums.lead_ns += times.t_p - times.t_c;
}

}  // namespace

void WaitModel::sum_up(const Modes& modes) {
  SumsBySite by_site(model_, waiters_, modes);
  const std::vector<bool> beside_another = add_waits(model_, waiters_, by_site);
  std::vector<bool> counted(model_.signals.size());  // by signal: its transfer is counted
  for (const WakeEdge& edge : matching_.edges) {
    const WaitTimes times = this->times(edge);
    const WaitView wait = view_of(model_, edge);
    const std::size_t mode = by_site.mode_at(wait.site, times.t_c);
    PerSite& site = by_site.see(wait.site, mode, waiters_.of(wait));
    WaitSums& sums = site.part[mode].sums;
    add_times(times, sums);
    if (released_[edge.signal].waits > 1) {
      ++sums.shared_signals_waits;
      sums.wake_shared_ns += times.wake_shared;
      sums.wake_own_ns += times.wake_own;
    }
    if (!times.w_t) continue;
    ++sums.transfers;
    sums.transfer_ns += *times.w_t;
    if (edge.host || !beside_another[edge.wait]) {
      site.waited[mode] += *times.w_t;
      by_site.whole().waited[mode] += *times.w_t;
    }
    sums.waiting_of_transfers_ns += times.w_p;
    if (counted[edge.signal]) continue;
    counted[edge.signal] = true;
    site.transfers[mode].push_back(*times.w_t);
    by_site.whole().transfers[mode].push_back(*times.w_t);
  }
  by_site.finish(sites_, whole_);
}

std::optional<SiteWaits> WaitModel::whole(Mode mode) const {
  for (const SiteWaits& part : whole_) {
    if (part.mode == mode) return part;
  }
  return std::nullopt;
}

}  // namespace wicprof::analyzer
