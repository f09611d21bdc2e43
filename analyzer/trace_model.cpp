#include "analyzer/trace_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "store/sort_rows.h"

namespace wicprof::analyzer {
namespace {

/// Widens [begin, end] by every interval that it is given.
struct Extent {
  bool any = false;
  TimeNs begin = 0, end = 0;

  void add(TimeNs from, TimeNs to) {
    begin = any ? std::min(begin, from) : from;
    end = any ? std::max(end, to) : to;
    any = true;
  }
};

Extent extent_of(const TraceModel& model) {
  Extent extent;
  for (const auto& wait : model.waits) extent.add(wait.arrived, wait.resumed);
  for (const auto& signal : model.signals) extent.add(signal.at, signal.at);
  for (const auto& kernel : model.kernels) extent.add(kernel.start, kernel.end);
  for (const auto& copy : model.copies) extent.add(copy.start, copy.end);
  for (const auto& wait : model.host_waits) {
    if (wait.site != 0) extent.add(wait.begin, wait.end);
  }
  if (extent.any) return extent;
  // A program that put nothing on a device: what its host threads did.
  for (const auto& wait : model.host_waits) extent.add(wait.begin, wait.end);
  for (const auto& call : model.calls) extent.add(call.start, call.end);
  for (const auto& range : model.nvtx) extent.add(range.start, range.end);
  for (const auto& interval : model.pc_intervals) extent.add(interval.begin, interval.end);
  return extent;
}

std::string why_incomplete(const TraceModel& model) {
  const std::string state = model.meta_value("state");
  if (state == "complete") return {};
  if (state == "recording") {
    return "the trace was never closed: it is still being written, or wic-prof was killed; what came after its last "
           "batch is missing";
  }
  return "the trace does not say whether it was closed";
}

using store::sort_rows;

constexpr std::size_t kTables = 22;  // that load() reads

/// Moves a list out of a Result, or keeps the first error.
template <class T>
bool take(Result<T> from, T& to, std::optional<Error>& error) {
  if (!from) {
    error = from.error();
    return false;
  }
  to = *std::move(from);
  return true;
}

}  // namespace

std::string TraceModel::meta_value(const std::string& key) const {
  const auto found = meta.find(key);
  return found == meta.end() ? std::string() : found->second;
}

const store::SiteRow* TraceModel::site(SiteId id) const {
  const auto found = std::find_if(sites.begin(), sites.end(), [&](const auto& row) { return row.id == id; });
  return found == sites.end() ? nullptr : &*found;
}

const store::DeviceRow* TraceModel::device(DeviceId id) const {
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const auto& row) { return row.id == id; });
  return found == devices.end() ? nullptr : &*found;
}

const store::ProcessRow* TraceModel::process(store::ProcessId id) const {
  const auto found = std::find_if(processes.begin(), processes.end(), [&](const auto& row) { return row.id == id; });
  return found == processes.end() ? nullptr : &*found;
}

std::size_t TraceModel::program_processes() const {
  const auto count = std::count_if(processes.begin(), processes.end(), [](const auto& row) { return !is_own(row); });
  return static_cast<std::size_t>(count);
}

bool is_own(const store::ProcessRow& process) { return process.name == "wic-prof"; }

std::string TraceModel::site_name(SiteId id) const {
  const store::SiteRow* row = site(id);
  return row != nullptr && !row->name.empty() ? row->name : fmt::format("site {}", id);
}

std::string TraceModel::device_name(DeviceId id) const {
  if (id == kHostDevice) return "the CPU";
  const store::DeviceRow* row = device(id);
  return row != nullptr && !row->name.empty() ? row->name : fmt::format("device {}", id);
}

std::string TraceModel::device_key(DeviceId id) const {
  if (id == kHostDevice) return "cpu";
  return id >= kSimtDeviceBase ? fmt::format("simt:{}", id - kSimtDeviceBase) : fmt::format("cuda:{}", id);
}

void settle(TraceModel& model) {
  sort_rows(model.waits, [](const auto& row) { return row.arrived; });
  sort_rows(model.signals, [](const auto& row) { return row.at; });
  sort_rows(model.host_waits, [](const auto& row) { return row.begin; });
  sort_rows(model.kernels, [](const auto& row) { return row.start; });
  sort_rows(model.copies, [](const auto& row) { return row.start; });
  sort_rows(model.calls, [](const auto& row) { return row.start; });
  sort_rows(model.processes, [](const auto& row) { return row.seen; });
  sort_rows(model.syncs, [](const auto& row) { return row.start; });
  sort_rows(model.cuda_events, [](const auto& row) { return row.at.value_or(0); });
  sort_rows(model.overheads, [](const auto& row) { return row.start; });
  sort_rows(model.thread_samples, [](const auto& row) { return row.begin; });
  sort_rows(model.nvtx, [](const auto& row) { return row.start; });
  sort_rows(model.uvm, [](const auto& row) { return row.start; });
  sort_rows(model.interventions, [](const auto& row) { return row.effective; });
  sort_rows(model.choices, [](const auto& row) { return row.at; });
  const Extent extent = extent_of(model);
  model.begin = extent.begin;
  model.end = extent.end;
  model.incomplete_reason = why_incomplete(model);
  model.complete = model.incomplete_reason.empty();
}

Result<TraceModel> load(const store::Reader& reader, std::string name, const LoadWatch& watch) {
  TraceModel model;
  std::optional<Error> error;
  std::size_t done = 0;
  const auto next = [&] {
    if (!watch || watch(done++, kTables)) return true;
    error = unavailable("reading " + name + " was given up");
    return false;
  };
  const bool loaded =
      next() && take(reader.meta(), model.meta, error) &&
      next() && take(reader.processes(), model.processes, error) &&
      next() && take(reader.devices(), model.devices, error) &&
      next() && take(reader.sites(), model.sites, error) &&
      next() && take(reader.waits(), model.waits, error) &&
      next() && take(reader.signals(), model.signals, error) &&
      next() && take(reader.host_waits(), model.host_waits, error) &&
      next() && take(reader.kernels(), model.kernels, error) &&
      next() && take(reader.copies(), model.copies, error) &&
      next() && take(reader.calls(), model.calls, error) &&
      next() && take(reader.syncs(), model.syncs, error) &&
      next() && take(reader.cuda_events(), model.cuda_events, error) &&
      next() && take(reader.overheads(), model.overheads, error) &&
      next() && take(reader.thread_samples(), model.thread_samples, error) &&
      next() && take(reader.nvtx(), model.nvtx, error) &&
      next() && take(reader.uvm(), model.uvm, error) &&
      next() && take(reader.interventions(), model.interventions, error) &&
      next() && take(reader.choices(), model.choices, error) &&
      next() && take(reader.pc_totals(), model.pc_totals, error) &&
      next() && take(reader.pc_intervals(), model.pc_intervals, error) &&
      next() && take(reader.sass(), model.sass, error) &&
      next() && take(reader.stats(), model.stats, error);
  if (!loaded) return *error;
  model.name = std::move(name);
  settle(model);
  return model;
}

}  // namespace wicprof::analyzer
