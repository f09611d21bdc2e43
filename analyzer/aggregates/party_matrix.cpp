#include "analyzer/aggregates/party_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/sort/spreadsort/integer_sort.hpp>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "analyzer/measure/flat_index.h"
#include "analyzer/trace/thread_names.h"

namespace wicprof::analyzer {
namespace {

constexpr std::uint32_t kNoEdge = ~0u;

/// What a party's number counts.
enum class PartyKind : std::uint8_t { unknown, host_thread, kernel, named, block, sm, device, site };

/// A party as a number, so that millions of waits are counted without a name.
struct PartyId {
  PartyKind kind = PartyKind::unknown;
  DeviceId device = 0;
  std::uint32_t number = 0;  ///< thread, block, SM, site, or index of a name
  std::uint64_t key() const {
    return (static_cast<std::uint64_t>(kind) << 60) | ((static_cast<std::uint64_t>(device) & 0xfffffffu) << 32) |
           number;
  }
};

/// Numbers of parties, in order of first appearance.
class PartyList {
 public:
  std::uint32_t number(const PartyId& id) {
    const std::uint32_t number = index_.number(id.key());
    if (number == ids_.size()) ids_.push_back(id);
    return number;
  }
  const std::vector<PartyId>& ids() const { return ids_; }

 private:
  FlatIndex index_;
  std::vector<PartyId> ids_;
};

/// Numbers of names: kernels, copies and calls.
class Names {
 public:
  std::uint32_t number(std::string_view name) {
    if (!list_.empty() && list_[last_] == name) return last_;
    const auto [at, added] = numbers_.try_emplace(name, static_cast<std::uint32_t>(list_.size()));
    if (added) list_.push_back(name);
    return last_ = at->second;
  }
  std::string_view of(std::uint32_t number) const { return list_[number]; }

 private:
  std::map<std::string_view, std::uint32_t> numbers_;
  std::vector<std::string_view> list_;  // views of the model's texts
  std::uint32_t last_ = 0;              // consecutive waits often have the same name
};

/// Whoever waits, or ended a wait, with all that the wanted meanings of a party tell apart.
struct End {
  enum class Kind : std::uint8_t { unknown, thread, block, kernel, copy };
  Kind kind = Kind::unknown;
  DeviceId device = kHostDevice;
  std::uint32_t who = 0, sm = 0;  ///< the thread, or the block
  SiteId site = 0;                ///< of a waiter
  std::uint32_t name = kNoName;   ///< of the kernel, the copy, or the call of a waiting thread
  static constexpr std::uint32_t kNoName = ~0u;
  bool operator==(const End&) const = default;
};

/// Numbers of ends, in order of first appearance.
class EndList {
 public:
  std::uint32_t number(const End& end) {
    Recent& recent = recent_[(end.who + end.sm) % recent_.size()];
    if (recent.number < list_.size() && recent.end == end) return recent.number;
    recent = {end, find(end)};
    return recent.number;
  }
  const std::vector<End>& list() const { return list_; }

 private:
  struct Recent {
    End end;
    std::uint32_t number = ~0u;
  };

  std::uint32_t find(const End& end) {
    const PartyId one{static_cast<PartyKind>(end.kind), end.device, end.who};
    const std::uint32_t where = pair(ones_.number(one.key()), end.sm), what = pair(end.site, end.name);
    const std::uint32_t number = ends_.number((std::uint64_t{where} << 32) | what);
    if (number == list_.size()) list_.push_back(end);
    return number;
  }
  std::uint32_t pair(std::uint64_t high, std::uint32_t low) { return pairs_.number((high << 32) | low); }

  FlatIndex ones_, pairs_, ends_;
  std::vector<End> list_;
  std::array<Recent, 1024> recent_;
};

/// Finds who waits and who ends waits, and assigns them to parties.
class Assigner {
 public:
  Assigner(const TraceModel& model, const WorkIndex& index, std::span<const PartyBy> meanings)
      : model_(model), index_(index), threads_(model) {
    for (const PartyBy by : meanings) wanted_[static_cast<std::size_t>(by)] = true;
  }

  End waiter(const WaitView& wait) {
    End end = wait.host ? End{End::Kind::thread, kHostDevice, wait.who}
                        : on_device(wait.device, wait.who, wait.sm, wait.begin, waiter_kernel_);
    if (!wants(PartyBy::site)) return end;
    end.site = wait.site;
    if (wait.host && wait.site == 0) end.name = names_.number(model_.host_waits[wait.index].call);
    return end;
  }
  End releaser(const store::SignalRow& signal) {
    if (signal.device == kHostDevice) return {End::Kind::thread, kHostDevice, signal.thread};
    return on_device(signal.device, signal.block, signal.sm, signal.at, releaser_kernel_);
  }
  End releaser(const WorkItem& item) {
    if (item.kernel == nullptr)
      return {End::Kind::copy, item.device, 0, 0, 0, names_.number(copy_kind_name(item.copy->kind))};
    return {End::Kind::kernel, item.device, 0, 0, 0, names_.number(item.kernel->name)};
  }

  static PartyId party(PartyBy by, const End& end, bool waits) {
    if (end.kind == End::Kind::unknown) return {};
    if (waits && by == PartyBy::site) {
      if (end.kind == End::Kind::thread && end.site == 0) return {PartyKind::named, 0, end.name};
      return {PartyKind::site, 0, end.site};
    }
    if (by == PartyBy::device) return {PartyKind::device, end.device, 0};
    switch (end.kind) {
      case End::Kind::thread:  // a signal names its thread, whose number no two processes of one machine share
        return {PartyKind::host_thread, 0, end.who};
      case End::Kind::copy:
        return {PartyKind::named, 0, end.name};
      case End::Kind::kernel:
        return {PartyKind::kernel, 0, end.name};
      case End::Kind::block:
      case End::Kind::unknown:
        break;
    }
    if (by == PartyBy::sm) return {PartyKind::sm, end.device, end.sm};
    if (by == PartyBy::thread) return {PartyKind::block, end.device, end.who};
    return end.name == End::kNoName ? PartyId{PartyKind::device, end.device, 0}
                                    : PartyId{PartyKind::kernel, 0, end.name};
  }

  std::string name_of(const PartyId& id) const {
    switch (id.kind) {
      case PartyKind::unknown:
        break;
      case PartyKind::host_thread:
        return id.number == 0 ? "host" : threads_.of(0, id.number);
      case PartyKind::kernel:
      case PartyKind::named:
        return std::string(names_.of(id.number));
      case PartyKind::block:
        return fmt::format("block {}{}", id.number, of_device(id.device));
      case PartyKind::sm:
        return fmt::format("SM {}{}", id.number, of_device(id.device));
      case PartyKind::device:
        return id.device == kHostDevice ? "host" : model_.device_name(id.device);
      case PartyKind::site:
        return model_.site_name(static_cast<SiteId>(id.number));
    }
    return std::string(kUnknownParty);
  }

 private:
  bool wants(PartyBy by) const { return wanted_[static_cast<std::size_t>(by)]; }

  End on_device(DeviceId device, std::uint32_t block, std::uint32_t sm, TimeNs time, WorkIndex::Near& near) {
    End end{End::Kind::block, device, wants(PartyBy::thread) ? block : 0, wants(PartyBy::sm) ? sm : 0};
    if (!wants(PartyBy::kernel) && !wants(PartyBy::site)) return end;
    if (const WorkItem* kernel = index_.kernel_at(device, time, block, near))
      end.name = names_.number(kernel->kernel->name);
    return end;
  }

  std::string of_device(DeviceId device) const {
    const auto others = std::count_if(model_.devices.begin(), model_.devices.end(),
                                      [](const store::DeviceRow& row) { return row.kind != DeviceKind::host; });
    return others > 1 ? " of " + model_.device_key(device) : std::string();
  }

  const TraceModel& model_;
  const WorkIndex& index_;
  const ThreadNames threads_;
  std::array<bool, std::size(kPartyBy)> wanted_{};
  Names names_;
  WorkIndex::Near waiter_kernel_, releaser_kernel_;
};

/// Orders parties by waiting time and folds all but the first ones into one: `places[number]` is the party's row or
/// column. Returns the numbers in order, without the folded ones.
std::vector<std::uint32_t> order(const std::vector<TimeNs>& waiting, std::vector<std::uint32_t>& places,
                                 std::size_t& others) {
  std::vector<std::uint32_t> numbers(waiting.size());
  std::iota(numbers.begin(), numbers.end(), 0u);
  std::stable_sort(numbers.begin(), numbers.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return waiting[a] > waiting[b]; });
  places.assign(waiting.size(), 0);
  const bool folds = numbers.size() > PartyMatrix::kMaxParties;
  const std::size_t kept = folds ? PartyMatrix::kMaxParties - 1 : numbers.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) places[numbers[i]] = static_cast<std::uint32_t>(std::min(i, kept));
  others = folds ? numbers.size() - kept : 0;
  numbers.resize(kept);
  return numbers;
}

/// "1,024 other blocks" would need the kind of each; the parties of one matrix may differ in kind.
std::string others_name(std::size_t count) { return fmt::format("{} others", count); }

/// Lengths of time with the group of their waits. Holds eight bytes for a length from 0 to 4.29 s.
class GroupedLengths {
 public:
  void reserve(std::size_t lengths) { usual_.reserve(lengths); }
  void add(TimeNs length, std::uint32_t group) {
    if (length >= 0 && length <= std::numeric_limits<std::uint32_t>::max()) {
      usual_.push_back((static_cast<std::uint64_t>(length) << 32) | group);
    } else {
      others_.emplace_back(length, group);
    }
  }
  void sort() {
    boost::sort::spreadsort::integer_sort(usual_.begin(), usual_.end());
    std::sort(others_.begin(), others_.end());
  }
  /// Calls visit(length, group) from the shortest length to the longest one; after sort().
  void for_each(const auto& visit) const {
    auto other = others_.begin();
    for (; other != others_.end() && other->first < 0; ++other) visit(other->first, other->second);
    for (const std::uint64_t each : usual_) visit(static_cast<TimeNs>(each >> 32), static_cast<std::uint32_t>(each));
    for (; other != others_.end(); ++other) visit(other->first, other->second);
  }

 private:
  std::vector<std::uint64_t> usual_;
  std::vector<std::pair<TimeNs, std::uint32_t>> others_;  // negative ones, and those that are longer
};

/// Finds the median and the 99th percentile among lengths that come in order.
class Ranks {
 public:
  explicit Ranks(std::uint64_t count) : p50_(rank_of(50, count)), p99_(rank_of(99, count)) {}
  void pass(TimeNs length) {
    if (seen_ == p50_) found_.p50 = length;
    if (seen_ == p99_) found_.p99 = length;
    ++seen_;
    found_.max = length;
  }
  const TypicalLengths& found() const { return found_; }

 private:
  std::uint64_t p50_, p99_, seen_ = 0;
  TypicalLengths found_;
};

/// What a set of waits adds up to.
struct Sums {
  std::uint64_t waits = 0, woken = 0, polls = 0, waits_with_polls = 0;
  TimeNs waiting = 0, longest = -1;
  std::uint64_t worst = 0;  ///< the longest wait, by its place among all waits

  /// `other`'s waits come later where `other.longest` is as long.
  void add(const Sums& other) {
    waits += other.waits;
    woken += other.woken;
    polls += other.polls;
    waits_with_polls += other.waits_with_polls;
    waiting += other.waiting;
    if (other.longest > longest) {
      longest = other.longest;
      worst = other.worst;
    }
  }
};

/// The waits of a trace in groups: in each, all waits are in the same cell of every matrix.
class Groups {
 public:
  Groups(const TraceModel& model, const WorkIndex& index, std::span<const PartyBy> meanings)
      : model_(model), assigner_(model, index, meanings) {}

  Assigner& assigner() { return assigner_; }

  void reserve(std::size_t waits, std::size_t woken) {
    times_.reserve(waits);
    wakes_.reserve(woken);
  }
  void add(const WaitView& wait, TimeNs part, const End& releaser, std::optional<TimeNs> wake) {
    const std::pair ends{waiters_.number(assigner_.waiter(wait)), releasers_.number(releaser)};
    const std::uint32_t group = index_.number((std::uint64_t{ends.first} << 32) | ends.second);
    if (group == sums_.size()) {
      sums_.emplace_back();
      ends_.push_back(ends);
    }
    sums_[group].add({1, wake ? 1u : 0u, wait.polls.value_or(0), wait.polls ? 1u : 0u, part, wait.took(),
                      wait.index + (wait.host ? model_.waits.size() : 0)});
    times_.add(wait.took(), group);
    if (wake) wakes_.add(*wake, group);
  }
  /// Before matrices are made.
  void close() {
    times_.sort();
    wakes_.sort();
  }

  PartyMatrix matrix(PartyBy by) const {
    PartyMatrix result;
    result.by = by;
    const Cells cells = cells_of(by);
    std::vector<std::uint32_t> rows, columns;
    std::vector<TimeNs> of_waiter(cells.waiters.size(), 0), of_releaser(cells.releasers.size(), 0);
    for (std::size_t cell = 0; cell < cells.sums.size(); ++cell) {
      of_waiter[cells.places[cell].first] += cells.sums[cell].waiting;
      of_releaser[cells.places[cell].second] += cells.sums[cell].waiting;
    }
    const auto add_parties = [&](const auto& ids, const auto& waiting, auto& places, auto& to, std::size_t& others) {
      for (const std::uint32_t number : order(waiting, places, others))
        to.push_back({assigner_.name_of(ids[number]), ids[number].kind == PartyKind::kernel, {}});
      if (others > 0) to.push_back({others_name(others), false, {}});
    };
    add_parties(cells.waiters, of_waiter, rows, result.waiters, result.other_waiters);
    add_parties(cells.releasers, of_releaser, columns, result.releasers, result.other_releasers);

    // The cells that are shown, in order of row and column.
    std::map<std::pair<std::uint32_t, std::uint32_t>, Sums> shown;
    const auto place_of = [&](std::uint32_t cell) {
      return std::pair{rows[cells.places[cell].first], columns[cells.places[cell].second]};
    };
    for (std::uint32_t cell = 0; cell < cells.sums.size(); ++cell) shown[place_of(cell)].add(cells.sums[cell]);
    std::vector<Sums> sums;
    for (const auto& [place, sum] : shown) {
      result.cells.push_back({place.first, place.second, {}});
      sums.push_back(sum);
    }
    std::vector<std::uint32_t> cell_of_group(sums_.size());
    for (std::size_t group = 0; group < sums_.size(); ++group) {
      const auto at = shown.find(place_of(cells.of_group[group]));
      cell_of_group[group] = static_cast<std::uint32_t>(std::distance(shown.begin(), at));
    }
    add_figures(result, sums, cell_of_group);
    return result;
  }

 private:
  struct Cells {
    std::vector<PartyId> waiters, releasers;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> places;  // by cell: waiter, releaser
    std::vector<Sums> sums;                                       // by cell
    std::vector<std::uint32_t> of_group;
  };
  Cells cells_of(PartyBy by) const {
    Cells cells;
    const auto parties_of = [&](const EndList& ends, bool wait, std::vector<PartyId>& ids) {
      PartyList parties;
      std::vector<std::uint32_t> numbers;
      for (const End& end : ends.list()) numbers.push_back(parties.number(Assigner::party(by, end, wait)));
      ids = parties.ids();
      return numbers;
    };
    const std::vector<std::uint32_t> waiter = parties_of(waiters_, true, cells.waiters);
    const std::vector<std::uint32_t> releaser = parties_of(releasers_, false, cells.releasers);
    FlatIndex index;
    for (std::size_t group = 0; group < sums_.size(); ++group) {
      const std::pair place{waiter[ends_[group].first], releaser[ends_[group].second]};
      const std::uint32_t cell = index.number((std::uint64_t{place.first} << 32) | place.second);
      if (cell == cells.sums.size()) {
        cells.sums.emplace_back();
        cells.places.push_back(place);
      }
      Sums& sums = cells.sums[cell];
      const bool earlier = sums_[group].longest == sums.longest && sums_[group].worst < sums.worst;
      sums.add(sums_[group]);
      if (earlier) sums.worst = sums_[group].worst;
      cells.of_group.push_back(cell);
    }
    return cells;
  }

  /// A set of cells: one, those of a row or a column, or all.
  struct Set {
    Sums sums;
    Ranks times, wakes;
  };

  void add_figures(PartyMatrix& result, const std::vector<Sums>& sums,
                   const std::vector<std::uint32_t>& cell_of_group) const {
    // Where few parties wait for one, a cell, its row and its column are the same waits.
    std::map<std::vector<std::uint32_t>, std::uint32_t> known;
    std::vector<Set> sets;
    std::vector<std::vector<std::uint32_t>> sets_of_cell(sums.size());
    const auto set_of = [&](const auto& admits) {
      std::vector<std::uint32_t> cells;
      Sums sum;
      for (std::uint32_t i = 0; i < sums.size(); ++i) {
        if (!admits(i)) continue;
        cells.push_back(i);
        sum.add(sums[i]);
      }
      const auto [at, is_new] = known.try_emplace(cells, static_cast<std::uint32_t>(sets.size()));
      if (is_new) {
        sets.push_back({sum, Ranks(sum.waits), Ranks(sum.woken)});
        for (const std::uint32_t i : cells) sets_of_cell[i].push_back(at->second);
      }
      return at->second;
    };
    std::vector<std::pair<WaitFigures*, std::uint32_t>> wanted;
    for (std::uint32_t i = 0; i < sums.size(); ++i)
      wanted.emplace_back(&result.cells[i].figures, set_of([&](std::uint32_t cell) { return cell == i; }));
    for (std::uint32_t row = 0; row < result.waiters.size(); ++row)
      wanted.emplace_back(&result.waiters[row].figures,
                          set_of([&](std::uint32_t cell) { return result.cells[cell].waiter == row; }));
    for (std::uint32_t column = 0; column < result.releasers.size(); ++column)
      wanted.emplace_back(&result.releasers[column].figures,
                          set_of([&](std::uint32_t cell) { return result.cells[cell].releaser == column; }));
    wanted.emplace_back(&result.all, set_of([](std::uint32_t) { return true; }));

    times_.for_each([&](TimeNs length, std::uint32_t group) {
      for (const std::uint32_t set : sets_of_cell[cell_of_group[group]]) sets[set].times.pass(length);
    });
    wakes_.for_each([&](TimeNs length, std::uint32_t group) {
      for (const std::uint32_t set : sets_of_cell[cell_of_group[group]]) sets[set].wakes.pass(length);
    });
    for (const auto& [figures, set] : wanted) *figures = figures_of(sets[set]);
  }

  WaitFigures figures_of(const Set& set) const {
    WaitFigures figures;
    const Sums& sums = set.sums;
    if (sums.waits == 0) return figures;
    figures.waits = sums.waits;
    figures.waiting_ns = sums.waiting;
    figures.p50_ns = set.times.found().p50;
    figures.p99_ns = set.times.found().p99;
    figures.max_ns = set.times.found().max;
    figures.woken = sums.woken;
    if (sums.woken > 0) {
      figures.wake_p50_ns = set.wakes.found().p50;
      figures.wake_p99_ns = set.wakes.found().p99;
    }
    figures.polls = sums.polls;
    figures.waits_with_polls = sums.waits_with_polls;
    const std::size_t in_kernels = model_.waits.size(), host = sums.worst - in_kernels;
    figures.worst = WorstWait::of(sums.worst < in_kernels ? view_of(model_.waits[sums.worst], sums.worst)
                                                          : view_of(model_.host_waits[host], host));
    return figures;
  }

  const TraceModel& model_;
  Assigner assigner_;
  EndList waiters_, releasers_;
  FlatIndex index_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends_;  // by group: waiter, releaser
  std::vector<Sums> sums_;                                     // by group
  GroupedLengths times_, wakes_;
};

}  // namespace

std::string_view party_by_key(PartyBy by) {
  switch (by) {
    case PartyBy::kernel:
      return "kernel";
    case PartyBy::site:
      return "site";
    case PartyBy::sm:
      return "sm";
    case PartyBy::thread:
      return "thread";
    case PartyBy::device:
      break;
  }
  return "device";
}

const PartyCell* PartyMatrix::cell(std::size_t waiter, std::size_t releaser) const {
  const auto found = std::find_if(cells.begin(), cells.end(), [&](const PartyCell& one) {
    return one.waiter == waiter && one.releaser == releaser;
  });
  return found == cells.end() ? nullptr : &*found;
}

PartyMatrices::PartyMatrices(const TraceModel& model, const std::vector<WakeEdge>& edges, const WorkIndex& index)
    : model_(model), edges_(edges), index_(index) {
  edge_of_[false].assign(model.waits.size(), kNoEdge);
  edge_of_[true].assign(model.host_waits.size(), kNoEdge);
  for (std::size_t i = 0; i < edges.size(); ++i) edge_of_[edges[i].host][edges[i].wait] = static_cast<std::uint32_t>(i);
}

std::vector<PartyMatrix> PartyMatrices::matrices(std::span<const PartyBy> meanings, const WaitFilter& filter) const {
  Groups groups(model_, index_, meanings);
  groups.reserve(model_.waits.size() + model_.host_waits.size(), edges_.size());
  for_each_wait(model_, [&](const WaitView& wait) {
    if (!filter(wait.site, way_of(wait), wait.begin, wait.end)) return;
    End releaser;
    std::optional<TimeNs> wake;
    if (const std::uint32_t edge = edge_of_[wait.host][wait.index]; edge != kNoEdge) {
      const store::SignalRow& signal = model_.signals[edges_[edge].signal];
      releaser = groups.assigner().releaser(signal);
      wake = wake_latency(signal, wait);
    } else if (wait.in_call) {
      const store::HostWaitRow& row = model_.host_waits[wait.index];
      if (const WorkItem* work = index_.waited_for({row.begin, row.end, row.process, row.correlation})) {
        releaser = groups.assigner().releaser(*work);
        wake = wait.end - work->end;
      }
    }
    groups.add(wait, filter.part(wait.begin, wait.end), releaser, wake);
  });
  groups.close();
  std::vector<PartyMatrix> all;
  for (const PartyBy by : meanings) all.push_back(groups.matrix(by));
  return all;
}

}  // namespace wicprof::analyzer
