#include "analyzer/aggregates/party_matrix.h"

#include <fmt/format.h>

#include <algorithm>
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

/// What ended a wait: a signal or the end of work on a device, or nothing that the trace shows.
struct Release {
  const store::SignalRow* signal = nullptr;
  const WorkItem* work = nullptr;
  std::optional<TimeNs> wake_ns = {};
};

/// Assigns waits and what ended them to parties.
class Assigner {
 public:
  Assigner(const TraceModel& model, const WorkIndex& index, PartyBy by)
      : model_(model), index_(index), by_(by), threads_(model) {}

  PartyBy by() const { return by_; }
  PartyId waiter(const WaitView& wait) {
    if (by_ != PartyBy::site)
      return wait.host ? on_host(wait.who) : on_device(wait.device, wait.who, wait.sm, wait.begin);
    if (wait.host && wait.site == 0) return named(std::string_view(model_.host_waits[wait.index].call));
    return {PartyKind::site, 0, wait.site};
  }
  PartyId releaser(const Release& release) {
    if (release.signal != nullptr) return releaser(*release.signal);
    return release.work != nullptr ? releaser(*release.work) : PartyId{};
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
  PartyId releaser(const store::SignalRow& signal) {
    if (signal.device == kHostDevice) return on_host(signal.thread);
    return on_device(signal.device, signal.block, signal.sm, signal.at);
  }
  PartyId releaser(const WorkItem& item) {
    if (by_ == PartyBy::device) return {PartyKind::device, item.device, 0};
    return item.kernel != nullptr ? of_kernel(*item.kernel) : named(copy_kind_name(item.copy->kind));
  }

  PartyId named(std::string_view name) { return {PartyKind::named, 0, names_.number(name)}; }
  PartyId of_kernel(const store::KernelRow& kernel) { return {PartyKind::kernel, 0, names_.number(kernel.name)}; }

  PartyId on_host(std::uint32_t thread) const {
    if (by_ == PartyBy::device) return {PartyKind::device, kHostDevice, 0};
    // A signal names its thread, whose number no two processes of one machine share, but not its process.
    return {PartyKind::host_thread, 0, thread};
  }

  PartyId on_device(DeviceId device, std::uint32_t block, std::uint32_t sm, TimeNs time) {
    switch (by_) {
      case PartyBy::sm:
        return {PartyKind::sm, device, sm};
      case PartyBy::thread:
        return {PartyKind::block, device, block};
      case PartyBy::device:
        return {PartyKind::device, device, 0};
      case PartyBy::kernel:
      case PartyBy::site:
        break;
    }
    const WorkItem* kernel = index_.kernel_at(device, time, block);
    if (kernel == nullptr) return {PartyKind::device, device, 0};
    return of_kernel(*kernel->kernel);
  }

  std::string of_device(DeviceId device) const {
    const auto others = std::count_if(model_.devices.begin(), model_.devices.end(),
                                      [](const store::DeviceRow& row) { return row.kind != DeviceKind::host; });
    return others > 1 ? " of " + model_.device_key(device) : std::string();
  }

  const TraceModel& model_;
  const WorkIndex& index_;
  const PartyBy by_;
  const ThreadNames threads_;
  Names names_;
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

/// The cells of one matrix, while waits are added.
class Cells {
 public:
  Cells(const TraceModel& model, const WorkIndex& index, PartyBy by) : assigner_(model, index, by) {}

  void add(const WaitView& wait, TimeNs part, const Release& release) {
    const std::pair place{waiters_.number(assigner_.waiter(wait)), releasers_.number(assigner_.releaser(release))};
    const std::uint32_t cell = index_.number((std::uint64_t{place.first} << 32) | place.second);
    if (cell == sums_.size()) {
      sums_.emplace_back();
      places_.push_back(place);
    }
    sums_[cell].add(WorstWait::of(wait), part, release.wake_ns, wait.polls);
  }

  PartyMatrix matrix() const {
    PartyMatrix result;
    result.by = assigner_.by();
    std::vector<TimeNs> of_waiter(waiters_.ids().size(), 0), of_releaser(releasers_.ids().size(), 0);
    for (std::size_t cell = 0; cell < sums_.size(); ++cell) {
      of_waiter[places_[cell].first] += sums_[cell].waiting();
      of_releaser[places_[cell].second] += sums_[cell].waiting();
    }
    const auto party_of = [&](const PartyId& id) {
      return WaitParty{assigner_.name_of(id), id.kind == PartyKind::kernel, {}};
    };
    std::vector<std::uint32_t> rows, columns;
    for (const std::uint32_t number : order(of_waiter, rows, result.other_waiters))
      result.waiters.push_back(party_of(waiters_.ids()[number]));
    for (const std::uint32_t number : order(of_releaser, columns, result.other_releasers))
      result.releasers.push_back(party_of(releasers_.ids()[number]));
    if (result.other_waiters > 0) result.waiters.push_back({others_name(result.other_waiters), false, {}});
    if (result.other_releasers > 0) result.releasers.push_back({others_name(result.other_releasers), false, {}});

    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const FigureSums*>> cells;
    for (std::size_t cell = 0; cell < sums_.size(); ++cell)
      cells[{rows[places_[cell].first], columns[places_[cell].second]}].push_back(&sums_[cell]);
    // Where few parties wait for one, a cell, its row and its column are the same waits.
    std::map<std::vector<const FigureSums*>, WaitFigures> known;
    const auto figures = [&](const std::vector<const FigureSums*>& parts) {
      const auto found = known.find(parts);
      return found != known.end() ? found->second : known.emplace(parts, FigureSums::figures(parts)).first->second;
    };
    for (const auto& [place, parts] : cells) result.cells.push_back({place.first, place.second, figures(parts)});
    const auto sum_of = [&](auto&& admits) {
      std::vector<const FigureSums*> all;
      for (const auto& [place, parts] : cells) {
        if (admits(place)) all.insert(all.end(), parts.begin(), parts.end());
      }
      return figures(all);
    };
    for (std::uint32_t row = 0; row < result.waiters.size(); ++row)
      result.waiters[row].figures = sum_of([&](const auto& place) { return place.first == row; });
    for (std::uint32_t column = 0; column < result.releasers.size(); ++column)
      result.releasers[column].figures = sum_of([&](const auto& place) { return place.second == column; });
    result.all = sum_of([](const auto&) { return true; });
    return result;
  }

 private:
  Assigner assigner_;
  PartyList waiters_, releasers_;
  FlatIndex index_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places_;  // per cell: waiter, releaser
  std::vector<FigureSums> sums_;                                 // per cell
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

PartyMatrix PartyMatrices::matrix(PartyBy by, const WaitFilter& filter) const {
  Cells cells(model_, index_, by);
  for_each_wait(model_, [&](const WaitView& wait) {
    if (!filter(wait.site, way_of(wait), wait.begin, wait.end)) return;
    store::SignalRow signal;
    Release release;
    if (const std::uint32_t edge = edge_of_[wait.host][wait.index]; edge != kNoEdge) {
      signal = model_.signals[edges_[edge].signal];
      release = {&signal, nullptr, wake_latency(model_, edges_[edge])};
    } else if (wait.in_call) {
      const store::HostWaitRow& row = model_.host_waits[wait.index];
      const WorkItem* work = index_.waited_for({row.begin, row.end, row.process, row.correlation});
      if (work != nullptr) release = {nullptr, work, wait.end - work->end};
    }
    cells.add(wait, filter.part(wait.begin, wait.end), release);
  });
  return cells.matrix();
}

}  // namespace wicprof::analyzer
