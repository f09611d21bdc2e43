#include "analyzer/ranks/condense.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/ranks/mpi_waits.h"
#include "protocol/mpi_operation.h"

namespace wicprof::analyzer {
namespace {

/// From so many shared collectives on, a trace is cut into steps. Fewer say too little about which steps are usual. Not
/// calibrated.
constexpr std::size_t kFewestSteps = 64;
/// So many of the longest steps are kept; half as many, and so on, where these take more than half of the calls. Not
/// calibrated.
constexpr std::size_t kLongestSteps = 64;
constexpr unsigned kMostHalvings = 31;
/// What comes behind the last shared collective.
constexpr std::uint32_t kLastStep = std::numeric_limits<std::uint32_t>::max();

/// Spreads numbers evenly (splitmix64).
std::uint64_t mixed(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

/// What is kept or left out together; equal in the traces of all ranks that take part.
struct Unit {
  std::uint64_t number = 0;  ///< evenly spread
  std::uint64_t rows = 0;
  TimeNs length = 0;  ///< of a step

  /// Whether it is drawn where one in 2^halvings is.
  bool drawn(unsigned halvings) const { return number << (64 - halvings) == 0; }
};

/// The calls and requests of one process.
class Condensing {
 public:
  Condensing(TraceModel& model, store::ProcessId process, const RankNumbers& numbers)
      : model_(model), process_(process), numbers_(numbers) {}

  void run(std::uint64_t most) {
    std::uint64_t rows = 0;
    for_each_row([&](const auto&, TimeNs) { ++rows; });
    if (rows <= most) return;
    find_steps();
    for_each_row([&](const auto& row, TimeNs at) {
      if (const std::optional<std::uint64_t> of = unit_of(row, at)) {
        Unit& unit = units_[*of];
        unit.number = *of;
        ++unit.rows;
      }
    });
    choose(most);
    keep(model_.mpi_calls, [](const auto& row) { return row.begin; });
    keep(model_.mpi_requests, [](const auto& row) { return row.begin; });
  }

 private:
  struct Step {
    std::uint32_t sequence;
    TimeNs begin, end;  ///< of the collective that ends it
  };

  void for_each_row(const auto& visit) const {
    for (const auto& row : model_.mpi_calls) {
      if (row.process == process_) visit(row, row.begin);
    }
    for (const auto& row : model_.mpi_requests) {
      if (row.process == process_) visit(row, row.begin);
    }
  }

  static bool ends_step(const store::MpiCallRow& call) {
    return mpi_kind(call.operation) == MpiKind::collective && call.communicator && call.sequence &&
           mpi_flow(call.operation) == MpiFlow::all_to_all && !mpi_begins_only(call.operation);
  }

  /// Of the communicator with the most processes, and of these the one with the most collectives.
  void find_steps() {
    std::map<CommunicatorId, std::int32_t> size;
    for (const store::MpiCommunicatorRow& row : model_.mpi_communicators) {
      if (row.process == process_) size[row.communicator] = row.size;
    }
    std::map<CommunicatorId, std::vector<Step>> steps;
    for (const store::MpiCallRow& call : model_.mpi_calls) {
      if (call.process == process_ && ends_step(call))
        steps[*call.communicator].push_back({*call.sequence, call.begin, call.end});
    }
    std::tuple<std::int32_t, std::size_t, CommunicatorId> best{};
    for (auto& [communicator, list] : steps) {
      const std::tuple candidate(size[communicator], list.size(), communicator);
      if (list.size() < kFewestSteps || candidate < best) continue;
      best = candidate;
      communicator_ = communicator;
      steps_ = std::move(list);
    }
    TimeNs before = steps_.empty() ? 0 : steps_.front().begin;
    for (const Step& step : steps_) {
      units_[step_number(step.sequence)].length = step.end - before;
      before = step.end;
    }
  }

  std::uint64_t step_number(std::uint32_t sequence) const { return mixed(communicator_ ^ mixed(sequence)); }

  std::optional<std::uint64_t> unit_of(const auto& row, TimeNs at) const {
    if (!steps_.empty()) {
      const auto step =
          std::partition_point(steps_.begin(), steps_.end(), [&](const Step& each) { return each.begin < at; });
      return step_number(step == steps_.end() ? kLastStep : step->sequence);
    }
    const MpiKind kind = mpi_kind(row.operation);
    if (kind == MpiKind::local || !row.communicator || !row.sequence) return std::nullopt;
    std::uint64_t number = mixed(*row.communicator ^ mixed(*row.sequence));
    if (kind == MpiKind::collective) return number;
    const std::optional<std::int32_t> own = numbers_.of(row);
    if (!row.peer || !row.tag || !own) return std::nullopt;
    const bool sends = kind == MpiKind::sends;
    for (const std::int32_t part : {sends ? *own : *row.peer, sends ? *row.peer : *own, *row.tag})
      number = mixed(number ^ static_cast<std::uint32_t>(part));
    return number;
  }

  void choose(std::uint64_t most) {
    std::vector<const Unit*> all;
    for (const auto& [number, unit] : units_) all.push_back(&unit);
    std::sort(all.begin(), all.end(), [](const Unit* a, const Unit* b) {
      return std::pair(b->length, a->number) < std::pair(a->length, b->number);
    });
    const auto rows_of = [&](auto begin, auto end, unsigned halvings) {
      std::uint64_t rows = 0;
      for (; begin != end; ++begin) {
        if (halvings == 0 || (*begin)->drawn(halvings)) rows += (*begin)->rows;
      }
      return rows;
    };
    std::size_t longest = steps_.empty() ? 0 : std::min(kLongestSteps, all.size());
    while (longest > 0 && rows_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(longest), 0) > most / 2)
      longest /= 2;
    const auto others = all.begin() + static_cast<std::ptrdiff_t>(longest);
    const std::uint64_t left = most - rows_of(all.begin(), others, 0);
    unsigned halvings = 1;
    while (halvings < kMostHalvings && rows_of(others, all.end(), halvings) > left) ++halvings;
    for (auto unit = all.begin(); unit != others; ++unit) kept_[(*unit)->number] = 0;
    for (auto unit = others; unit != all.end(); ++unit) {
      if ((*unit)->drawn(halvings)) kept_[(*unit)->number] = 1u << halvings;
    }
  }

  template <class Row>
  void keep(std::vector<Row>& rows, const auto& time_of) {
    std::erase_if(rows, [&](Row& row) {
      if (row.process != process_) return false;
      const std::optional<std::uint64_t> unit = unit_of(row, time_of(row));
      const auto kept = unit ? kept_.find(*unit) : kept_.end();
      if (kept == kept_.end()) return true;
      row.stands_for = kept->second;
      return false;
    });
  }

  TraceModel& model_;
  store::ProcessId process_;
  const RankNumbers& numbers_;
  CommunicatorId communicator_ = 0;
  std::vector<Step> steps_;
  std::map<std::uint64_t, Unit> units_;
  std::map<std::uint64_t, std::uint32_t> kept_;  // by number: what a row stands for
};

}  // namespace

void condense_calls(TraceModel& model, std::uint64_t most) {
  const RankNumbers numbers(model);
  for (const auto& [process, world_rank] : numbers.world()) Condensing(model, process, numbers).run(most);
}

}  // namespace wicprof::analyzer
