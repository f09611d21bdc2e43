// A short program as a script of records: two sites, a handoff between two blocks, kernels, copies, calls, ranges.
#pragma once

#include <string>

#include "protocol/events/call.h"
#include "protocol/events/copy.h"
#include "protocol/events/device.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/intervention.h"
#include "protocol/events/kernel.h"
#include "protocol/events/notice.h"
#include "protocol/events/nvtx.h"
#include "protocol/events/pc_sample.h"
#include "protocol/events/signal.h"
#include "protocol/events/site.h"
#include "protocol/events/thread_sample.h"
#include "protocol/events/uvm.h"
#include "protocol/events/wait.h"
#include "tests/fuzz/record_script.h"

namespace wicprof::fuzz {

inline std::string made_records(int iterations) {
  constexpr TimeNs kBegin = 1'000'000'000'000;
  std::string script;
  const char* const texts[] = {"left", "right", "void relax<float>(int)", "cudaStreamSynchronize", "step", "GPU 0"};
  for (std::uint8_t id = 1; id <= 6; ++id) script += step_of_text(id, texts[id - 1]);
  for (const DeviceId id : {kHostDevice, DeviceId{0}}) {
    auto device = make_event<DeviceEvent>();
    device.device = id;
    device.name = 6;
    device.sm_count = 4;
    device.kind = id == kHostDevice ? DeviceKind{} : DeviceKind::cuda;
    script += step_of(device);
  }
  for (SiteId id = 1; id <= 2; ++id) {
    auto site = make_event<SiteEvent>();
    site.site = site.name = id;
    script += step_of(site);
  }
  for (int i = 0; i < iterations; ++i) {
    const TimeNs at = kBegin + i * 100'000;
    for (SiteId site = 1; site <= 2; ++site) {
      auto wait = make_event<WaitEvent>();
      wait.site = site;
      wait.device = kHostDevice;
      wait.block = site;
      wait.iteration = static_cast<std::uint32_t>(i);
      wait.arrived_ns = static_cast<std::uint64_t>(at) + site * 1000;
      wait.resumed_ns = wait.arrived_ns + 30'000;
      wait.value = static_cast<std::uint64_t>(i) + 1;
      wait.polls = 40;
      script += step_of(wait);
      auto signal = make_event<SignalEvent>();
      signal.site = site;
      signal.device = kHostDevice;
      signal.at_ns = wait.resumed_ns - 500;
      signal.value = wait.value;
      script += step_of(signal);
    }
    auto kernel = make_event<KernelEvent>();
    kernel.name = 3;
    kernel.start_ns = at + 5'000;
    kernel.end_ns = at + 60'000;
    kernel.grid[0] = kernel.block[0] = 32;
    kernel.correlation = static_cast<std::uint32_t>(i) + 1;
    script += step_of(kernel);
    auto copy = make_event<CopyEvent>();
    copy.start_ns = at + 60'000;
    copy.end_ns = at + 70'000;
    copy.bytes = 4096;
    copy.kind = CopyKind::host_to_device;
    script += step_of(copy);
    auto call = make_event<CallEvent>();
    call.name = 4;
    call.thread = 7;
    call.start_ns = at;
    call.end_ns = at + 4'000;
    call.correlation = kernel.correlation;
    script += step_of(call);
    auto wait = make_event<HostWaitEvent>();
    wait.call = 4;
    wait.begin_ns = at + 10'000;
    wait.end_ns = at + 80'000;
    script += step_of(wait);
    auto range = make_event<NvtxEvent>();
    range.name = 5;
    range.start_ns = at;
    range.end_ns = at + 90'000;
    script += step_of(range);
  }
  auto sample = make_event<PcSampleEvent>();
  sample.samples = 100;
  script += step_of(sample);
  auto fault = make_event<UvmEvent>();
  fault.start_ns = fault.end_ns = kBegin + 3'000;
  script += step_of(fault);
  auto change = make_event<InterventionEvent>();
  script += step_of(change);
  auto notice = make_event<NoticeEvent>();
  script += step_of(notice);
  auto thread = make_event<ThreadSampleEvent>();
  script += step_of(thread);
  return script;
}

}  // namespace wicprof::fuzz
