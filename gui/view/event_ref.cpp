#include "gui/view/event_ref.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/trace/device_work.h"
#include "analyzer/waits/sites.h"
#include "analyzer/words/format.h"
#include "analyzer/words/writers.h"

namespace wicprof::gui {

using analyzer::format_duration;
using analyzer::TraceModel;

namespace {

/// Calls `body` with the model's list of this kind.
template <class Body>
auto with_list(const TraceModel& model, EventKind kind, Body&& body) {
  switch (kind) {
    case EventKind::wait:
      return body(model.waits);
    case EventKind::signal:
      return body(model.signals);
    case EventKind::host_wait:
      return body(model.host_waits);
    case EventKind::kernel:
      return body(model.kernels);
    case EventKind::copy:
      return body(model.copies);
    case EventKind::call:
      return body(model.calls);
    case EventKind::nvtx:
      return body(model.nvtx);
    case EventKind::migration:
      return body(model.uvm);
    case EventKind::thread_sample:
      break;
  }
  return body(model.thread_samples);
}

std::string_view migration_name(UvmKind kind) {
  switch (kind) {
    case UvmKind::cpu_fault:
      return "CPU page fault";
    case UvmKind::gpu_fault:
      return "GPU page faults";
    case UvmKind::host_to_device:
      return "migration to the device";
    case UvmKind::device_to_host:
      return "migration to the host";
    case UvmKind::thrashing:
      return "thrashing";
    case UvmKind::throttling:
      return "throttling";
    case UvmKind::remote_map:
      return "mapped remotely";
    case UvmKind::device_to_device:
      break;
  }
  return "migration between devices";
}

std::string_view status_name(WaitStatus status) {
  switch (status) {
    case WaitStatus::satisfied:
      return "satisfied";
    case WaitStatus::deadline_passed:
      return "deadline passed";
    case WaitStatus::producer_lost:
      break;
  }
  return "producer lost";
}

class Facts {
 public:
  void add(std::string name, std::string value) { list_.push_back({std::move(name), std::move(value)}); }
  template <class T>
  void number(std::string name, const T& value) {
    add(std::move(name), fmt::format("{}", value));
  }
  void times(const TraceModel& model, TimeNs begin, TimeNs end) {
    add("begins", fmt::format("{:.6f} s", static_cast<double>(begin - model.begin) / kSecond));
    if (end > begin) add("takes", format_duration(end - begin));
  }
  std::vector<Fact> take() { return std::move(list_); }

 private:
  std::vector<Fact> list_;
};

void add_facts(Facts& facts, const TraceModel& model, const store::WaitRow& row) {
  facts.add("site", model.site_name(row.site));
  facts.add("device", model.device_key(row.device) + " " + model.device_name(row.device));
  facts.add("waiter", fmt::format("block {}, warp {}, SM {}", row.block, row.warp, row.sm));
  facts.number("iteration", row.iteration);
  facts.times(model, row.arrived, row.resumed);
  if (row.ready) {
    facts.add("woken", row.resumed >= *row.ready && *row.ready >= row.arrived
                           ? format_duration(row.resumed - *row.ready) + " after the signal"
                           : std::string("already signalled on arrival"));
  }
  facts.add("polls", analyzer::format_count(row.polls));
  facts.add("strategy", std::string(strategy_name(row.strategy)));
  if (row.switched) facts.add("changed", format_duration(*row.switched - row.arrived) + " after arrival");
  facts.add("ended", std::string(status_name(row.status)));
  facts.number("value", row.value);
}

void add_facts(Facts& facts, const TraceModel& model, const store::SignalRow& row) {
  facts.add("site", model.site_name(row.site));
  facts.add("from", sender_of(model, row));
  facts.number("iteration", row.iteration);
  facts.number("value", row.value);
  facts.times(model, row.at, row.at);
}

void add_facts(Facts& facts, const TraceModel& model, const store::HostWaitRow& row) {
  if (row.site != 0) facts.add("site", model.site_name(row.site));
  if (const std::string place = model.site_place(row.site); !place.empty()) facts.add("place", place);
  if (row.in_call()) facts.add("call", row.call.text());
  facts.add("thread", fmt::format("{} of process {}", row.thread, row.process));
  facts.times(model, row.begin, row.end);
  if (row.cpu) facts.add("CPU time", format_duration(*row.cpu));
  if (row.run_delay) facts.add("off CPU", format_duration(*row.run_delay));
  if (row.polls) facts.add("polls", analyzer::format_count(*row.polls));
  facts.add("ended", std::string(status_name(row.status)));
}

void add_facts(Facts& facts, const TraceModel& model, const store::KernelRow& row) {
  facts.add("kernel", analyzer::function_name(row.name));
  facts.add("device", model.device_key(row.device) + " " + model.device_name(row.device));
  facts.number("stream", row.stream);
  facts.times(model, row.start, row.end);
  if (row.is_graph()) return facts.add("is", "the launch of a whole graph");
  facts.add("grid", fmt::format("{} x {} x {}", row.grid[0], row.grid[1], row.grid[2]));
  facts.add("block", fmt::format("{} x {} x {}", row.block[0], row.block[1], row.block[2]));
  facts.number("registers", row.registers_per_thread);
  facts.add("shared memory", analyzer::format_bytes(row.static_shared_bytes + row.dynamic_shared_bytes));
}

void add_facts(Facts& facts, const TraceModel& model, const store::CopyRow& row) {
  facts.add("what", std::string(analyzer::copy_kind_name(row.kind)));
  facts.number("stream", row.stream);
  facts.times(model, row.start, row.end);
  facts.add("bytes", analyzer::format_bytes(row.bytes));
  if (row.end > row.start) {
    const double rate = static_cast<double>(row.bytes) / static_cast<double>(row.end - row.start);
    facts.add("rate", fmt::format("{:.3g} GB/s", rate));
  }
}

void add_facts(Facts& facts, const TraceModel& model, const store::CallRow& row) {
  facts.add("call", row.name);
  facts.add("thread", fmt::format("{} of process {}", row.thread, row.process));
  facts.times(model, row.start, row.end);
  if (row.queries != 0) facts.number("equal queries", row.queries);
  facts.number("result", row.result);
  facts.number("correlation", row.correlation);
}

void add_facts(Facts& facts, const TraceModel& model, const store::NvtxRow& row) {
  facts.add("name", row.name);
  if (!row.domain.empty()) facts.add("domain", row.domain);
  facts.add("thread", fmt::format("{} of process {}", row.thread, row.process));
  facts.times(model, row.start, row.end);
}

void add_facts(Facts& facts, const TraceModel& model, const store::UvmRow& row) {
  facts.add("what", std::string(migration_name(row.kind)));
  facts.times(model, row.start, row.end);
  facts.add("address", fmt::format("0x{:x}", row.address));
  facts.add("bytes", analyzer::format_bytes(row.bytes));
  if (row.count > 1) facts.add("faults", analyzer::format_count(row.count));
  if (!row.cause.empty()) facts.add("cause", row.cause);
}

void add_facts(Facts& facts, const TraceModel& model, const store::ThreadSampleRow& row) {
  facts.add("thread", fmt::format("{} {}", row.thread, row.name));
  facts.times(model, row.begin, row.end);
  facts.add("on CPU", format_duration(row.cpu));
  if (row.run_delay) facts.add("off CPU", format_duration(*row.run_delay));
  facts.add("switches", fmt::format("{} voluntary, {} involuntary", row.voluntary_switches, row.involuntary_switches));
}

}  // namespace

std::string_view kind_name(EventKind kind) {
  switch (kind) {
    case EventKind::wait:
      return "wait";
    case EventKind::signal:
      return "signal";
    case EventKind::host_wait:
      return "host wait";
    case EventKind::kernel:
      return "kernel";
    case EventKind::copy:
      return "copy";
    case EventKind::call:
      return "call";
    case EventKind::nvtx:
      return "NVTX";
    case EventKind::migration:
      return "managed memory";
    case EventKind::thread_sample:
      break;
  }
  return "thread";
}

bool is_in(const TraceModel& model, EventRef ref) {
  return with_list(model, ref.kind, [&](const auto& list) { return ref.index < list.size(); });
}

EventRow row_of(const TraceModel& model, EventRef ref) {
  return {ref.kind, with_list(model, ref.kind, [&](const auto& list) { return list[ref.index].id; })};
}

std::optional<EventRef> find_row(const TraceModel& model, EventRow row) {
  return with_list(model, row.kind, [&](const auto& list) -> std::optional<EventRef> {
    const auto found = std::find_if(list.begin(), list.end(), [&](const auto& r) { return r.id == row.row; });
    if (found == list.end()) return std::nullopt;
    return EventRef{row.kind, static_cast<std::uint32_t>(found - list.begin())};
  });
}

std::pair<TimeNs, TimeNs> time_of(const TraceModel& model, EventRef ref) {
  return with_list(model, ref.kind, [&](const auto& list) { return store::times_of(list[ref.index]); });
}

std::string title_of(const TraceModel& model, EventRef ref) {
  switch (ref.kind) {
    case EventKind::wait:
      return "wait at " + model.site_name(model.waits[ref.index].site);
    case EventKind::signal:
      return "signal to " + model.site_name(model.signals[ref.index].site);
    case EventKind::host_wait: {
      const store::HostWaitRow& row = model.host_waits[ref.index];
      return row.site != 0 ? "wait at " + model.site_name(row.site) : row.call.text();
    }
    case EventKind::kernel:
      return analyzer::function_name(model.kernels[ref.index].name);
    case EventKind::copy:
      return fmt::format("{}, {}", analyzer::copy_kind_name(model.copies[ref.index].kind),
                         analyzer::format_bytes(model.copies[ref.index].bytes));
    case EventKind::call:
      return model.calls[ref.index].name;
    case EventKind::nvtx:
      return model.nvtx[ref.index].name;
    case EventKind::migration:
      return std::string(migration_name(model.uvm[ref.index].kind));
    case EventKind::thread_sample:
      break;
  }
  const store::ThreadSampleRow& sample = model.thread_samples[ref.index];
  const TimeNs length = sample.end - sample.begin;
  std::string title =
      fmt::format("on a CPU {} of {}", analyzer::format_duration(sample.cpu), analyzer::format_duration(length));
  if (const auto delay = store::noticeable_delay(sample.begin, sample.end, sample.run_delay))
    title += fmt::format(", ready without one {}", analyzer::format_duration(*delay));
  return title;
}

std::string sender_of(const TraceModel& model, const store::SignalRow& signal) {
  if (const std::string_view writer = analyzer::writer_words(signal.writer).text; !writer.empty())
    return std::string(writer);
  if (signal.device != kHostDevice)
    return fmt::format("{} block {}, warp {}, SM {}", model.device_key(signal.device), signal.block, signal.warp,
                       signal.sm);
  return signal.thread == 0 ? "a host thread" : fmt::format("host thread {}", signal.thread);
}

std::vector<Fact> facts_of(const TraceModel& model, EventRef ref) {
  Facts facts;
  with_list(model, ref.kind, [&](const auto& list) { add_facts(facts, model, list[ref.index]); });
  return facts.take();
}

}  // namespace wicprof::gui
