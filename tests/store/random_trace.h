// A trace with events of every kind at random times: bursts, long events, nested events.
#pragma once

#include <random>
#include <string>

#include "protocol/events/call.h"
#include "protocol/events/copy.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/kernel.h"
#include "protocol/events/nvtx.h"
#include "protocol/events/site.h"
#include "protocol/events/thread_sample.h"
#include "protocol/events/uvm.h"
#include "tests/store/support.h"

namespace wicprof::store {

struct RandomTrace {
  std::uint32_t seed = 1;
  std::uint32_t waits = 500;         ///< other kinds: a tenth to a half of this number
  std::uint64_t spread = 3'000'000;  ///< ns
  bool finished = true;
};

inline void record_random(const std::string& path, const RandomTrace& what) {
  std::mt19937_64 random(what.seed);
  const auto below = [&](std::uint64_t n) { return n == 0 ? 0 : random() % n; };
  // Half of the events begin in a sixteenth of the time; lengths range from 0 to most of the trace, most are short.
  const auto moment = [&] {
    return static_cast<TimeNs>(1'000'000 +
                               (below(2) == 0 ? below(what.spread) : what.spread / 3 + below(what.spread / 16)));
  };
  const auto length = [&] {
    return static_cast<TimeNs>(below(8) == 0 ? below(what.spread >> below(12)) : below(2'000));
  };
  Result<Recorder> recorder = Recorder::create(options_for(path));
  ASSERT_TRUE(recorder) << recorder.error().message;
  const auto text = [&](TextId id, const char* words) { recorder->add(0, Text(id, words).header()); };
  text(1, "left");
  text(2, "right");
  text(3, "void relax<float>(int)");
  text(4, "cudaLaunchKernel");
  text(5, "a phase");
  text(6, "a domain");
  text(7, "worker");
  for (SiteId s = 1; s <= 2; ++s) {
    SiteEvent site = make_event<SiteEvent>();
    site.site = s;
    site.name = s;
    site.pollers = s == 1 ? Pollers::leader : Pollers::each_thread;
    recorder->add(0, site.header);
  }
  std::uint32_t iteration = 0;
  for (std::uint32_t i = 0; i < what.waits; ++i) {
    WaitEvent wait = make_event<WaitEvent>();
    wait.site = static_cast<SiteId>(1 + below(2));
    wait.device = kHostDevice;
    wait.block = static_cast<std::uint32_t>(below(6));
    wait.warp = static_cast<decltype(wait.warp)>(below(2));
    wait.sm = static_cast<decltype(wait.sm)>(wait.block % 3);
    wait.iteration = below(20) == 0 ? iteration = 0 : iteration++;
    wait.arrived_ns = static_cast<std::uint64_t>(moment());
    wait.resumed_ns = wait.arrived_ns + static_cast<std::uint64_t>(length());
    wait.strategy = static_cast<std::uint8_t>(below(2) == 0 ? StrategyId::poll : StrategyId::shared_watch);
    if (below(10) == 0) wait.switched_after_ns = static_cast<decltype(wait.switched_after_ns)>(1 + below(1'000));
    wait.value = wait.iteration + 1;
    wait.polls = i % 3;
    recorder->add(0, wait.header);
    if (i % 2 == 0) {
      SignalEvent signal = signal_event(wait.iteration, static_cast<std::uint64_t>(moment()));
      signal.site = wait.site;
      recorder->add(0, signal.header);
    }
    if (i % 3 == 0) {
      CallEvent call = make_event<CallEvent>();
      call.name = 4;
      call.thread = static_cast<std::uint32_t>(10 + below(2));
      call.start_ns = moment();
      call.end_ns = call.start_ns + length();
      recorder->add(0, call.header);
      HostWaitEvent host = make_event<HostWaitEvent>();
      host.call = 4;
      host.thread = call.thread;
      host.begin_ns = moment();
      host.end_ns = host.begin_ns + length();
      host.cpu_ns =
          below(3) == 0 ? -1 : static_cast<TimeNs>(below(static_cast<std::uint64_t>(host.end_ns - host.begin_ns) + 1));
      host.run_delay_ns = -1;
      host.involuntary_switches = HostWaitEvent::kUnknownSwitches;
      recorder->add(0, host.header);
    }
    if (i % 4 == 0) {
      KernelEvent kernel = make_event<KernelEvent>();
      kernel.name = 3;
      kernel.stream = static_cast<std::uint32_t>(below(2));
      kernel.start_ns = moment();
      kernel.end_ns = kernel.start_ns + length();
      // Kernels of three shapes; some waiting blocks belong to no kernel.
      kernel.device = kHostDevice;
      kernel.grid[0] = i % 16 == 0 ? 3 : 6;
      kernel.block[0] = i % 48 == 0 ? 512 : i % 16 == 0 ? 64 : 128;
      kernel.grid[1] = kernel.grid[2] = kernel.block[1] = kernel.block[2] = 1;
      recorder->add(0, kernel.header);
      CopyEvent copy = make_event<CopyEvent>();
      copy.stream = kernel.stream;
      copy.start_ns = moment();
      copy.end_ns = copy.start_ns + length();
      copy.bytes = 1024;
      recorder->add(0, copy.header);
    }
    if (i % 10 == 0) {
      NvtxEvent range = make_event<NvtxEvent>();
      range.kind = NvtxKind::range;
      range.name = 5;
      range.domain = below(2) == 0 ? 6 : 0;
      range.thread = 10;
      range.start_ns = moment();
      range.end_ns = range.start_ns + length();
      recorder->add(0, range.header);
      UvmEvent uvm = make_event<UvmEvent>();
      uvm.kind = below(2) == 0 ? UvmKind::gpu_fault : UvmKind::host_to_device;
      uvm.start_ns = moment();
      uvm.end_ns = uvm.start_ns + length();
      recorder->add(0, uvm.header);
      ThreadSampleEvent sample = make_event<ThreadSampleEvent>();
      sample.thread = 10;
      sample.name = 7;
      sample.begin_ns = moment();
      sample.end_ns = sample.begin_ns + 10'000;
      sample.run_delay_ns = static_cast<TimeNs>(below(4'000));
      recorder->add(0, sample.header);
    }
  }
  if (!what.finished) return;
  const Result<> done = recorder->finish();
  ASSERT_TRUE(done) << done.error().message;
}

}  // namespace wicprof::store
