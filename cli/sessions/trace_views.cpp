#include "cli/sessions/trace_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/ranks/join.h"
#include "analyzer/ranks/rank_clocks.h"
#include "analyzer/stuck/trace_rows.h"
#include "analyzer/stuck/view_text.h"
#include "store/format/meta_key.h"
#include "store/read/reader.h"

namespace wicprof::cli {

namespace {

using analyzer::SeenProcess, analyzer::StuckView, analyzer::TraceModel;
using store::MetaKey;

/// Above any pid of Linux.
constexpr std::uint32_t kFirstFreeProcess = (1u << 22) + 1;

struct TraceView {
  StuckView view;
  TraceModel model;  ///< what `stuck` takes, and what tells the job and the clock; nothing else
};

std::int32_t lowest_rank(const TraceView& of) {
  std::int32_t lowest = std::numeric_limits<std::int32_t>::max();
  for (const store::MpiCommunicatorRow& row : of.model.mpi_communicators) lowest = std::min(lowest, row.world_rank);
  return lowest;
}

/// The job as its launcher calls it joins also ranks that have not come to MPI_Init. Never the number of a communicator
/// by accident: those of MPI and NCCL are spread over 64 bits, too.
CommunicatorId launchers_job(const SeenProcess& process, const std::string& job) {
  return std::hash<std::string>()(fmt::format("{} of {}", job, process.ranks.value_or(0)));
}

/// The rank that the launcher gave to the program, or to wic-prof where the program died too early to say.
void add_launched(TraceView& to) {
  const std::uint32_t app = to.model.app();
  const auto& rows = to.model.processes;
  const auto has_rank = [](const store::ProcessRow& row) { return row.rank.has_value(); };
  const auto is_app = [&](const store::ProcessRow& row) { return row.id == app && has_rank(row); };
  auto row = std::find_if(rows.begin(), rows.end(), is_app);
  if (row == rows.end()) row = std::find_if(rows.begin(), rows.end(), has_rank);
  if (row == rows.end() || row->job.empty()) return;
  for (SeenProcess& process : to.view.processes) {
    if (process.pid != app) continue;
    process.rank = row->rank;
    process.ranks = row->ranks;
    const std::int32_t ranks = row->ranks.value_or(0);
    to.model.mpi_communicators.push_back({0, launchers_job(process, row->job), "", *row->rank, ranks, *row->rank, app});
  }
}

/// What the trace's calls of MPI say of how far its processes are, where the trace keeps nothing better.
void add_unseen(const TraceModel& model, StuckView& view) {
  for (const store::MpiCommunicatorRow& row : model.mpi_communicators) {
    OpenCommunicator of{row.communicator, row.rank, row.size, row.world_rank, 0, {}};
    copy_name(of.name, row.name);
    view.communicators.push_back({row.process, of});
  }
}

Result<TraceView> look(const std::string& file) {
  const Result<store::Reader> reader = store::Reader::open(file);
  if (!reader) return reader.error();
  Result<TraceModel> rows = analyzer::load_stuck_rows(*reader, file);
  if (!rows) return rows.error();
  TraceView to{{}, *std::move(rows)};
  TraceModel& model = to.model;
  StuckView& view = to.view;
  const std::string text = model.meta_value(MetaKey::open_work);
  if (!text.empty()) {
    Result<StuckView> kept = analyzer::view_of(text);
    if (!kept)
      return bad_input(fmt::format("{}: what its processes were in cannot be read: {}", file, kept.error().message));
    view = *std::move(kept);
  }
  auto calls = reader->rows<store::MpiCallTable>();
  auto requests = reader->rows<store::MpiRequestTable>();
  auto communicators = reader->rows<store::MpiCommunicatorTable>();
  if (!calls || !requests || !communicators)
    return !calls ? calls.error() : !requests ? requests.error() : communicators.error();
  model.mpi_calls = *std::move(calls);
  model.mpi_requests = *std::move(requests);
  model.mpi_communicators = *std::move(communicators);
  if (view.by == analyzer::SeenBy::dumps) {
    for (const auto& [process, of] : view.dumps) {
      for (const analyzer::DumpedGroup& group : of.groups)
        model.mpi_communicators.push_back({0, group.communicator, group.name, 0, 0, of.rank, process});
    }
    return to;
  }
  view.by = analyzer::SeenBy::traces;
  const bool is_known = !view.processes.empty();
  if (!is_known) add_unseen(model, view);
  if (view.processes.empty() && model.app() != 0) view.processes.emplace_back().pid = model.app();
  add_rows(model, view);
  for (SeenProcess& process : view.processes) process.seen = process.seen && is_known;
  add_launched(to);
  return to;
}

/// Gives the processes numbers that no other trace's have.
void renumber(StuckView& view, TimeNs shift, std::set<std::uint32_t>& taken, std::uint32_t& next) {
  std::map<std::uint32_t, std::uint32_t> numbers;
  for (SeenProcess& process : view.processes) {
    process.own_pid = process.pid;
    std::uint32_t& number = numbers[process.pid] = process.pid;
    if (taken.contains(number)) number = next++;
  }
  for (const auto& [own, number] : numbers) taken.insert(number);
  move_view(view, shift, [&](std::uint32_t own) {
    const auto found = numbers.find(own);
    return found == numbers.end() ? own : found->second;
  });
}

}  // namespace

Result<SeenSession> look_at_traces(const std::vector<std::string>& files) {
  std::vector<TraceView> traces;
  for (const std::string& file : files) {
    Result<TraceView> one = look(file);
    if (!one) return one.error();
    traces.push_back(*std::move(one));
  }
  std::stable_sort(traces.begin(), traces.end(),
                   [](const TraceView& a, const TraceView& b) { return lowest_rank(a) < lowest_rank(b); });
  std::vector<TraceModel> models;
  std::set<std::string> hosts;
  for (TraceView& trace : traces) {
    hosts.insert(trace.model.meta_value(MetaKey::host));
    models.push_back(std::move(trace.model));
  }
  if (const std::optional<Error> error = traces.size() > 1 ? analyzer::why_not_one_job(models) : std::nullopt)
    return *error;
  const analyzer::RankClocks clocks = analyzer::rank_clocks(models);
  SeenSession all;
  std::set<std::uint32_t> taken;
  std::uint32_t next = kFirstFreeProcess;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    StuckView& view = traces[i].view;
    const analyzer::ClockShift& shift = clocks.shifts[clocks.clock[i]];
    for (SeenProcess& process : view.processes) {
      if (hosts.size() > 1) process.host = models[i].meta_value(MetaKey::host);
      process.until = view.now;
    }
    if (std::any_of(view.processes.begin(), view.processes.end(), [](const auto& each) { return !each.seen; }))
      all.not_seen.push_back(models[i].name +
                             ": the trace does not keep what its processes were in at its end: wic-prof "
                             "was killed, or is an older one, or the recording goes on");
    renumber(view, shift.at(view.now), taken, next);
    all.view.clock_error = std::max(all.view.clock_error, shift.error());
    append_view(all.view, std::move(view));
  }
  if (traces.size() > 1) all.view.has_all_ranks = false;
  return all;
}

}  // namespace wicprof::cli
