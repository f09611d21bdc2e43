#include "analyzer/ranks/join.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "analyzer/ranks/rank_clocks.h"
#include "analyzer/words/format.h"
#include "store/format/event_tables.h"

namespace wicprof::analyzer {
namespace {

/// Above any pid of Linux.
constexpr store::ProcessId kFirstFreeProcess = (1u << 22) + 1;

std::int32_t lowest_rank(const TraceModel& model) {
  std::int32_t lowest = std::numeric_limits<std::int32_t>::max();
  for (const store::MpiCommunicatorRow& row : model.mpi_communicators) lowest = std::min(lowest, row.world_rank);
  return lowest;
}

/// By trace, the first trace that communicators connect it with.
std::vector<std::size_t> jobs_of(const std::vector<TraceModel>& traces) {
  std::vector<std::size_t> job(traces.size());
  std::iota(job.begin(), job.end(), std::size_t{0});
  std::map<CommunicatorId, std::size_t> first;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    for (const store::MpiCommunicatorRow& row : traces[i].mpi_communicators) {
      const std::size_t other = job[first.try_emplace(row.communicator, i).first->second];
      const std::size_t own = job[i];
      if (own != other) std::replace(job.begin(), job.end(), std::max(own, other), std::min(own, other));
    }
  }
  return job;
}

/// The file that was read.
std::string file_words(const TraceModel& trace) {
  return trace.read_from.empty() ? trace.name : fmt::format("{} (the digest of {})", trace.read_from, trace.name);
}

/// "a.wicprof, b.wicprof and 6 more traces"
std::string files_of_job(const std::vector<TraceModel>& traces, const std::vector<std::size_t>& jobs, std::size_t job) {
  constexpr std::size_t kNamedFiles = 2;
  std::vector<std::string> files;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (jobs[i] == job) files.push_back(file_words(traces[i]));
  }
  if (files.size() <= kNamedFiles) return fmt::format("{}", fmt::join(files, " and "));
  const std::size_t more = files.size() - kNamedFiles;
  files.resize(kNamedFiles);
  return fmt::format("{} and {}", fmt::join(files, ", "), count_of(more, "more trace"));
}

/// The numbers that the model has for those of one trace.
class Numbers {
 public:
  store::ProcessId process(store::ProcessId id) const { return find(processes, id); }
  DeviceId device(DeviceId id) const { return find(devices, id); }
  SiteId site(SiteId id) const { return find(sites, id); }

  // Where they differ.
  std::map<store::ProcessId, store::ProcessId> processes;
  std::map<DeviceId, DeviceId> devices;
  std::map<SiteId, SiteId> sites;

 private:
  template <class Id>
  static Id find(const std::map<Id, Id>& renamed, Id id) {
    const auto found = renamed.find(id);
    return found == renamed.end() ? id : found->second;
  }
};

/// Gives out numbers: equal names have one, and others keep theirs where it is free.
template <class Id>
class Names {
 public:
  Id number(Id wanted, const std::string& name) {
    const auto known = by_name_.find(name);
    if (known != by_name_.end()) return known->second;
    const Id first = wanted;
    const auto skip = skip_.find(wanted);
    if (skip != skip_.end()) wanted = skip->second;
    while (!taken_.insert(wanted).second) wanted = static_cast<Id>(wanted + 1);
    if (wanted != first) skip_[first] = wanted;
    by_name_.emplace(name, wanted);
    return wanted;
  }
  bool has(const std::string& name) const { return by_name_.contains(name); }

 private:
  std::map<std::string, Id> by_name_;
  std::set<Id> taken_;
  std::map<Id, Id> skip_;  // no number from the first to the second is free
};

class Joining {
 public:
  explicit Joining(std::vector<TraceModel> traces) : traces_(std::move(traces)) {}

  TraceModel run() {
    const RankClocks clocks = rank_clocks(traces_);
    to_.name = fmt::format("{} and {}", traces_.front().name, count_of(traces_.size() - 1, "more trace"));
    for (std::size_t i = 0; i < traces_.size(); ++i) {
      add(traces_[i], i, clocks.clock[i], clocks.shifts[clocks.clock[i]]);
      traces_[i] = {};  // a large job takes twice its memory only for one trace
    }
    settle(to_);
    return std::move(to_);
  }

 private:
  void add(TraceModel& from, std::size_t number, std::uint32_t clock, const ClockShift& shift) {
    declare(from, number, clock);
    to_.joined.push_back({from.name, from.meta_value(store::MetaKey::host), clock, shift.at(from.begin), shift.error(),
                          shift.by_mpi(), from.is_digest()});
    add_meta(from, shift);
    store::for_each_table<store::ReadTables>([&]<class Table>(store::Type<Table>) { add_rows<Table>(from, shift); });
    for (store::PcTotalRow row : from.pc_totals) {
      row.device = numbers_.device(row.device);
      if (row.process) row.process = numbers_.process(*row.process);
      row.begin += shift.at(row.begin);
      row.end += shift.at(row.end);
      to_.pc_totals.push_back(std::move(row));
    }
    for (store::SassRow& row : from.sass) {
      if (sass_.insert({row.module, row.symbol, row.offset}).second) to_.sass.push_back(std::move(row));
    }
    for (store::DigestSumRow& row : from.digest_sums) {
      move(row, shift);
      to_.digest_sums.push_back(std::move(row));
    }
    for (store::StatRow& row : from.stats) {
      const auto [known, added] = stats_.try_emplace({row.name, row.detail}, to_.stats.size());
      if (added) {
        to_.stats.push_back(std::move(row));
      } else {
        to_.stats[known->second].value += row.value;
      }
    }
  }

  /// A pid may be in several traces: of several machines, containers or times.
  void declare(const TraceModel& from, std::size_t number, std::uint32_t clock) {
    numbers_ = {};
    for (const store::ProcessRow& row : from.processes) {
      if (!processes_.insert(row.id).second) {
        numbers_.processes[row.id] = next_process_;
        processes_.insert(next_process_++);
      }
      to_.joined_trace[numbers_.process(row.id)] = number;
    }
    for (const store::MpiCommunicatorRow& row : from.mpi_communicators)
      to_.joined_trace[numbers_.process(row.process)] = number;
    for (const store::DeviceRow& row : from.devices) {
      if (row.id == kHostDevice) continue;
      const std::string name = row.uuid.empty() ? fmt::format("{} {}", clock, row.id) : row.uuid;
      if (const DeviceId id = devices_.number(row.id, name); id != row.id) numbers_.devices[row.id] = id;
    }
    for (const store::SiteRow& row : from.sites) {
      const std::string name = fmt::format("{} {}", row.name, row.place);
      if (const SiteId id = sites_.number(row.id, name); id != row.id) numbers_.sites[row.id] = id;
    }
  }

  void add_meta(const TraceModel& from, const ClockShift& shift) {
    using store::MetaKey;
    for (const auto& [key, value] : from.meta) {
      const auto is = [&key = key](MetaKey wanted) { return key == store::name_of(wanted); };
      const auto [known, added] = to_.meta.emplace(key, value);
      const bool first = to_.joined.size() == 1;
      if (const bool earliest = is(MetaKey::started_ns) || is(MetaKey::capture_from_ns);
          earliest || is(MetaKey::ended_ns) || is(MetaKey::capture_until_ns)) {
        const TimeNs time = std::strtoll(value.c_str(), nullptr, 10), shifted = time + shift.at(time);
        const TimeNs other = std::strtoll(known->second.c_str(), nullptr, 10);
        known->second = std::to_string(first || added ? shifted
                                       : earliest     ? std::min(other, shifted)
                                                      : std::max(other, shifted));
      } else if ((is(MetaKey::state) && known->second == "complete") ||
                 (is(MetaKey::app_status) && known->second == "0")) {
        known->second = value;
      } else if (is(MetaKey::host) && !hosts_.contains(value) && !first) {
        known->second += ", " + value;
      }
    }
    hosts_.insert(from.meta_value(store::MetaKey::host));
  }

  template <class Table>
  void add_rows(TraceModel& from, const ClockShift& shift) {
    auto& rows = to_.*Table::kRows;
    store::RowId& last = last_[Table::kName];
    const store::RowId before = last;
    for (typename Table::Row row : from.*Table::kRows) {
      move(row, shift);
      if constexpr (std::is_same_v<typename Table::Row, store::DeviceRow>) {
        if (!declared_devices_.insert(row.id).second) continue;
      } else if constexpr (std::is_same_v<typename Table::Row, store::SiteRow>) {
        if (!declared_sites_.insert(row.id).second) continue;
      } else if constexpr (!store::has_own_id<Table>()) {
        row.id += before;
        last = std::max(last, row.id);
      }
      rows.push_back(std::move(row));
    }
    (from.*Table::kRows).clear();
  }

  template <class Row>
  void move(Row& row, const ClockShift& shift) const {
    const auto time = [&](TimeNs& at) {
      if (at != 0) at += shift.at(at);  // 0: not known
    };
    const auto known_time = [&](auto& at) {
      if (at) *at += shift.at(*at);
    };
    if constexpr (requires { row.start; }) time(row.start), time(row.end);
    if constexpr (requires { row.begin; }) time(row.begin), time(row.end);
    if constexpr (requires { row.posted; }) time(row.posted);
    if constexpr (requires { row.seen; }) time(row.seen);
    if constexpr (requires { row.requested; }) time(row.requested), time(row.effective);
    if constexpr (requires { row.arrived; }) {
      time(row.arrived), time(row.resumed);
      known_time(row.ready), known_time(row.switched);
    }
    if constexpr (requires { *row.at; }) {
      known_time(row.at);
    } else if constexpr (requires { row.at; }) {
      time(row.at);
    }
    if constexpr (requires { row.process; }) row.process = numbers_.process(row.process);
    if constexpr (std::is_same_v<Row, store::ProcessRow>) {
      row.id = numbers_.process(row.id);
      row.parent = numbers_.process(row.parent);
    }
    // A main thread has its process's number.
    if constexpr (requires { *row.thread; }) {
      if (row.thread) row.thread = numbers_.process(*row.thread);
    } else if constexpr (requires { row.thread; }) {
      row.thread = numbers_.process(row.thread);
    }
    if constexpr (std::is_same_v<Row, store::DeviceRow>) row.id = numbers_.device(row.id);
    if constexpr (std::is_same_v<Row, store::DigestSumRow>) {
      if (row.of == store::SumOf::turns)
        row.detail = static_cast<std::uint32_t>(numbers_.device(static_cast<DeviceId>(row.detail)));
    }
    if constexpr (requires { row.device; }) row.device = numbers_.device(row.device);
    if constexpr (requires { row.peer_device; }) row.peer_device = numbers_.device(row.peer_device);
    if constexpr (std::is_same_v<Row, store::SiteRow>) row.id = numbers_.site(row.id);
    if constexpr (requires { row.site; }) row.site = numbers_.site(row.site);
  }

  std::vector<TraceModel> traces_;
  TraceModel to_;
  std::set<store::ProcessId> processes_;
  store::ProcessId next_process_ = kFirstFreeProcess;
  Names<DeviceId> devices_;
  Names<SiteId> sites_;
  std::set<DeviceId> declared_devices_;
  std::set<SiteId> declared_sites_;
  std::map<std::pair<std::string, std::string>, std::size_t> stats_;  // their places in to_
  std::map<std::string_view, store::RowId> last_;                     // by table
  std::set<std::string> hosts_;
  std::set<std::tuple<std::uint64_t, std::string, std::uint64_t>> sass_;
  Numbers numbers_;  // of the trace that is added
};

}  // namespace

bool are_of_one_job(const std::vector<TraceModel>& traces) {
  const std::vector<std::size_t> job = jobs_of(traces);
  return std::all_of(job.begin(), job.end(), [](std::size_t of) { return of == 0; });
}

std::optional<Error> why_not_one_job(const std::vector<TraceModel>& traces) {
  for (const TraceModel& trace : traces) {
    if (!trace.mpi_communicators.empty()) continue;
    return bad_input(fmt::format(
        "{} has no calls of MPI, which show that traces are of one job; name traces of one job, recorded with "
        "--trace cuda,nvtx,host,mpi, or one trace; others are taken by --figure and wic-prof compare",
        file_words(trace)));
  }
  const std::vector<std::size_t> job = jobs_of(traces);
  const auto other_job = std::ranges::find_if(job, [](std::size_t of) { return of != 0; });
  if (other_job != job.end()) {
    const bool digests = std::ranges::any_of(traces, &TraceModel::is_digest);
    return bad_input(fmt::format(
        "{}{} and {} are not of one job: no communicator of MPI is in both; name {} of one job{}",
        files_of_job(traces, job, 0), traces.size() > 2 ? "," : "", files_of_job(traces, job, *other_job),
        digests ? "the digests or traces" : "the traces", digests ? "" : ", or compare two with wic-prof compare"));
  }
  std::map<std::pair<CommunicatorId, std::int32_t>, std::size_t> holder;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    for (const store::MpiCommunicatorRow& row : traces[i].mpi_communicators) {
      const std::size_t other = holder.try_emplace({row.communicator, row.world_rank}, i).first->second;
      if (other == i) continue;
      return bad_input(fmt::format(
          "{} and {} both hold rank {} of the job; name {} once", file_words(traces[other]), file_words(traces[i]),
          row.world_rank,
          traces[i].is_digest() || traces[other].is_digest() ? "each rank's trace or its digest" : "each trace"));
    }
  }
  return std::nullopt;
}

std::vector<std::int32_t> missing_ranks(const TraceModel& model) {
  std::int32_t size = 0;
  std::set<std::int32_t> known;
  for (const store::MpiCommunicatorRow& row : model.mpi_communicators) {
    size = std::max(size, row.size);
    known.insert(row.world_rank);
  }
  std::vector<std::int32_t> missing;
  for (std::int32_t rank = 0; rank < size; ++rank) {
    if (!known.contains(rank)) missing.push_back(rank);
  }
  return missing;
}

Result<TraceModel> join(std::vector<TraceModel> traces) {
  if (const std::optional<Error> error = why_not_one_job(traces)) return *error;
  std::stable_sort(traces.begin(), traces.end(),
                   [](const TraceModel& a, const TraceModel& b) { return lowest_rank(a) < lowest_rank(b); });
  return Joining(std::move(traces)).run();
}

}  // namespace wicprof::analyzer
