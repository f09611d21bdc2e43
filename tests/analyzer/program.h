// The CUDA activity of a synthetic program, row by row: each kernel with its launching call.
#pragma once

#include <optional>
#include <string>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer::test_program {

struct Span {
  TimeNs begin = 0, end = 0;
};

/// One process (16), one context (1), device 0; times go into the trace unchanged.
struct Program {
  static constexpr store::ProcessId kProcess = 16;
  static constexpr std::uint32_t kContext = 1;

  TraceModel model;
  std::uint32_t correlation = 0;

  Program() {
    model.meta = {{"state", "complete"}};
    store::DeviceRow device{};
    device.kind = DeviceKind::cuda;
    device.name = "GPU 0";
    device.sm_count = 132;
    model.devices.push_back(device);
  }

  TraceModel& settled() {
    settle(model);
    return model;
  }

  store::CallList::Edited call(const std::string& name, std::uint32_t thread, Span span, std::int32_t result = 0,
                               std::uint32_t of = 0) {
    store::CallRow row{};
    row.id = static_cast<store::RowId>(model.calls.size()) + 1;
    row.name = name;
    row.thread = thread;
    row.correlation = of;
    row.result = result;
    row.start = span.begin;
    row.end = span.end;
    row.process = kProcess;
    return model.calls.emplace_back(row);
  }

  store::KernelList::Edited kernel(const std::string& name, std::uint32_t stream, Span span, std::uint32_t of = 0) {
    store::KernelRow row{};
    row.id = static_cast<store::RowId>(model.kernels.size()) + 1;
    row.name = name;
    row.start = span.begin;
    row.end = span.end;
    row.context = kContext;
    row.stream = stream;
    row.correlation = of;
    for (auto& size : row.grid) size = 1;
    for (auto& size : row.block) size = 1;
    row.process = kProcess;
    return model.kernels.emplace_back(row);
  }

  /// A kernel and its launching call, which takes 5 us.
  store::KernelList::Edited launch(const std::string& name, std::uint32_t stream, Span span, TimeNs called) {
    ++correlation;
    call("cudaLaunchKernel", 7, {called, called + 5'000}, 0, correlation);
    return kernel(name, stream, span, correlation);
  }

  /// A recording, numbered `event_sync`, of the program's only event.
  store::CudaEventRow& event(std::uint64_t event_sync, std::uint32_t stream, TimeNs called, std::optional<TimeNs> at) {
    ++correlation;
    call("cudaEventRecord", 7, {called, called + 1'000}, 0, correlation);
    store::CudaEventRow row;
    row.event = 1;
    row.event_sync = event_sync;
    row.at = at;
    row.context = kContext;
    row.stream = stream;
    row.correlation = correlation;
    row.process = kProcess;
    return model.cuda_events.emplace_back(row);
  }

  store::SyncRow& sync(SyncKind kind, std::uint32_t stream, Span span) {
    ++correlation;
    call("cudaSynchronize", 7, span, 0, correlation);
    store::SyncRow row;
    row.kind = kind;
    row.start = span.begin;
    row.end = span.end;
    row.context = kContext;
    if (kind == SyncKind::stream || kind == SyncKind::stream_waits_for_event) row.stream = stream;
    row.correlation = correlation;
    row.process = kProcess;
    return model.syncs.emplace_back(row);
  }

  store::SyncRow& stream_wait(std::uint32_t stream, std::uint64_t event_sync, TimeNs called) {
    store::SyncRow& row = sync(SyncKind::stream_waits_for_event, stream, {called, called + 1'000});
    row.event = 1;
    row.event_sync = event_sync;
    return row;
  }

  store::HostWaitList::Edited host_wait(const std::string& name, Span span, std::optional<TimeNs> cpu) {
    store::HostWaitRow row{};
    row.call = name;
    row.thread = 7;
    row.begin = span.begin;
    row.end = span.end;
    row.cpu = cpu;
    row.process = kProcess;
    return model.host_waits.emplace_back(row);
  }

  store::ThreadSampleRow& sample(std::uint32_t thread, const std::string& name, Span span, TimeNs cpu) {
    store::ThreadSampleRow row;
    row.thread = thread;
    row.name = name;
    row.begin = span.begin;
    row.end = span.end;
    row.cpu = cpu;
    row.process = kProcess;
    return model.thread_samples.emplace_back(row);
  }
};

}  // namespace wicprof::analyzer::test_program
