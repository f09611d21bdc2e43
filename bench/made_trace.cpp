#include "bench/made_trace.h"

#include <cstdio>
#include <cstring>
#include <vector>

#include "protocol/events/call.h"
#include "protocol/events/clock.h"
#include "protocol/events/copy.h"
#include "protocol/events/device.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/kernel.h"
#include "protocol/events/signal.h"
#include "protocol/events/site.h"
#include "protocol/events/text.h"
#include "protocol/events/wait.h"
#include "protocol/ring.h"
#include "protocol/time.h"
#include "store/write/recorder.h"

namespace wicprof::bench {

namespace {

constexpr DeviceId kDevice = cuda_device(0);

/// Texts are events of variable length, which a program's sink builds; this function builds them for the recorder.
void add_text(const PutEvent& put, TextId id, const std::string& text) {
  std::vector<std::uint64_t> storage((sizeof(TextEvent) + text.size() + 15) / 8 + 2);
  auto* event = reinterpret_cast<TextEvent*>(storage.data());
  *event = make_event<TextEvent>();
  event->id = id;
  event->length = static_cast<std::uint32_t>(text.size());
  std::memcpy(reinterpret_cast<char*>(event) + sizeof(TextEvent), text.data(), text.size());
  event->header.size = static_cast<decltype(event->header.size)>((sizeof(TextEvent) + text.size() + 7) / 8 * 8);
  put(event->header);
}

}  // namespace

void put_declarations(const PutEvent& put, std::uint64_t begin) {
  add_text(put, 1, "a GPU");
  add_text(put, 2, "solver.halo.left");
  add_text(put, 3, "solver.halo.right");
  add_text(put, 4, "void solver::relax_interior<float, 3>(solver::Grid<float>, solver::Grid<float>, unsigned int)");
  add_text(put, 5, "void solver::exchange_border<float, 3>(solver::Grid<float>, wic::Channel, unsigned int)");
  add_text(put, 6, "cudaLaunchKernel");
  add_text(put, 7, "cudaMemcpyAsync");
  add_text(put, 8, "cudaStreamSynchronize");
  DeviceEvent device = make_event<DeviceEvent>();
  device.device = kDevice;
  device.name = 1;
  device.sm_count = 132;
  device.kind = DeviceKind::cuda;
  put(device.header);
  for (std::uint32_t s = 1; s <= 2; ++s) {
    SiteEvent site = make_event<SiteEvent>();
    site.site = s;
    site.name = s + 1;
    site.word_memory = s == 1 ? WordMemory::pinned_host : WordMemory::device;
    put(site.header);
  }
  put_clock(put, begin);
}

void put_clock(const PutEvent& put, std::uint64_t at) {
  ClockEvent clock = make_event<ClockEvent>();
  clock.device = kDevice;
  clock.error_ns = 700;
  clock.device_ns = at;
  clock.host_ns = static_cast<TimeNs>(at);
  put(clock.header);
}

void put_iteration(const PutEvent& put, std::uint32_t i, std::uint64_t begin) {
  const std::uint64_t random = (i + 1) * 0x9e3779b97f4a7c15ull;
  const auto jitter = [&](std::uint32_t n) { return (random >> (n % 40)) % 8'000; };
  const std::uint32_t correlation = 2 * i + 1;
  for (std::uint32_t n = 0; n < 2; ++n) {
    CallEvent call = make_event<CallEvent>();
    call.name = n == 0 ? 6 : i % 2 == 0 ? 7 : 8;
    call.thread = 4711;
    call.start_ns = static_cast<TimeNs>(begin + n * 5'000);
    call.end_ns = call.start_ns + 4'000;
    call.correlation = correlation + n;
    call.api = CallApi::runtime;
    put(call.header);
  }
  KernelEvent kernel = make_event<KernelEvent>();
  kernel.device = kDevice;
  kernel.name = 4 + i % 2;
  kernel.start_ns = static_cast<TimeNs>(begin + 10'000);
  kernel.end_ns = static_cast<TimeNs>(begin + kPeriod - 1'000);
  kernel.context = 1;
  kernel.stream = 7;
  kernel.correlation = correlation;
  for (int d = 0; d < 3; ++d) kernel.grid[d] = kernel.block[d] = 1;
  kernel.grid[0] = 264;
  kernel.block[0] = 256;
  kernel.registers_per_thread = 32;
  put(kernel.header);
  if (i % 2 == 0) {
    CopyEvent copy = make_event<CopyEvent>();
    copy.device = copy.peer_device = kDevice;
    copy.start_ns = static_cast<TimeNs>(begin + 12'000);
    copy.end_ns = copy.start_ns + 6'000;
    copy.bytes = 65'536;
    copy.context = 1;
    copy.stream = 8;
    copy.correlation = correlation + 1;
    copy.kind = CopyKind::host_to_device;
    put(copy.header);
  } else {
    HostWaitEvent wait = make_event<HostWaitEvent>();
    wait.call = 8;
    wait.thread = 4711;
    wait.begin_ns = static_cast<TimeNs>(begin + 5'000);
    wait.end_ns = static_cast<TimeNs>(begin + kPeriod - 500);
    wait.cpu_ns = 20'000;
    wait.correlation = correlation + 1;
    wait.run_delay_ns = -1;
    wait.involuntary_switches = HostWaitEvent::kUnknownSwitches;
    put(wait.header);
  }
  for (std::uint32_t n = 0; n < kWaitsPerIteration; ++n) {
    const std::uint32_t site = 1 + n % 2;
    const std::uint64_t signalled = begin + 60'000 + n / 2 * 4'000 + jitter(n);
    if (n % 2 == 0) {
      SignalEvent signal = make_event<SignalEvent>();
      signal.site = 1 + n / 2 % 2;
      signal.device = kHostDevice;
      signal.iteration = i;
      signal.value = i + 1;
      signal.at_ns = begin + 60'000 + n / 4 * 4'000;
      put(signal.header);
    }
    WaitEvent wait = make_event<WaitEvent>();
    wait.site = site;
    wait.device = kDevice;
    wait.block = (i * kWaitsPerIteration + n) % 264;
    wait.sm = static_cast<std::uint16_t>(wait.block / 2);
    wait.iteration = i;
    wait.value = i + 1;
    wait.polls = static_cast<std::uint32_t>(100 + random % 1000);
    wait.arrived_ns = begin + 20'000 + jitter(n + 20);
    wait.resumed_ns = signalled + 1'500 + jitter(n + 7) / 8;
    wait.word_tag = static_cast<WordTag>(1 + wait.block);
    wait.status = WaitStatus::satisfied;
    put(wait.header);
  }
}

bool make_trace(const std::string& path, std::int64_t events) {
  store::RecorderOptions options;
  options.path = path;
  options.overwrite = true;
  Result<store::Recorder> recorder = store::Recorder::create(options);
  if (!recorder) {
    std::fprintf(stderr, "%s\n", recorder.error().message.c_str());
    return false;
  }
  const auto begin = static_cast<std::uint64_t>(now_ns());
  const PutEvent put = [&](const EventHeader& event) { recorder->add(0, event); };
  put_declarations(put, begin);
  const auto iterations = static_cast<std::uint32_t>(events / kEventsPerIteration);
  for (std::uint32_t i = 0; i < iterations; ++i) {
    const std::uint64_t at = begin + i * kPeriod;
    if (i % 5'000 == 0) put_clock(put, at);
    put_iteration(put, i, at);
    recorder->tick();
  }
  put_clock(put, begin + iterations * kPeriod);
  const bool lost = recorder->progress().lost != 0;
  if (const Result<> finished = recorder->finish(); !finished || lost) {
    std::fprintf(stderr, "%s\n", lost ? "events were lost" : finished.error().message.c_str());
    return false;
  }
  return true;
}

}  // namespace wicprof::bench
