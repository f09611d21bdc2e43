#include "analyzer/aggregates/party_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "analyzer/aggregates/party_ends.h"
#include "analyzer/measure/flat_index.h"
#include "analyzer/measure/grouped_lengths.h"

namespace wicprof::analyzer {
namespace {

constexpr std::uint32_t kNoEdge = ~0u;

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

/// What a set of waits adds up to.
struct Sums {
  std::uint64_t waits = 0, woken = 0, polls = 0, waits_with_polls = 0;
  TimeNs waiting = 0, longest = -1;
  std::uint64_t worst = 0;  ///< the first of the longest waits, by its place among all waits

  void add(const Sums& other) {
    waits += other.waits;
    woken += other.woken;
    polls += other.polls;
    waits_with_polls += other.waits_with_polls;
    waiting += other.waiting;
    if (other.longest > longest || (other.longest == longest && other.worst < worst)) {
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

  PartyAssigner& assigner() { return assigner_; }

  void reserve(std::size_t waits, std::size_t woken) {
    times_.reserve(waits);
    wakes_.reserve(woken);
  }
  void add(const WaitView& wait, TimeNs part, const PartyEnd& releaser, std::optional<TimeNs> wake) {
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
    const auto parties_of = [&](const PartyEndList& ends, bool wait, std::vector<PartyId>& ids) {
      PartyList parties;
      std::vector<std::uint32_t> numbers;
      for (const PartyEnd& end : ends.list()) numbers.push_back(parties.number(PartyAssigner::party(by, end, wait)));
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
      cells.sums[cell].add(sums_[group]);
      cells.of_group.push_back(cell);
    }
    return cells;
  }

  /// A set of cells: one, those of a row or a column, or all.
  struct Set {
    Sums sums;
    OrderedPercentiles times, wakes;
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
        sets.push_back({sum, OrderedPercentiles(sum.waits), OrderedPercentiles(sum.woken)});
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
  PartyAssigner assigner_;
  PartyEndList waiters_, releasers_;
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
    PartyEnd releaser;
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
