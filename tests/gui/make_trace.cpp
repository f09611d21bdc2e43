// Writes a trace with known times: 120 iterations of a program that polls for the first half and parks for
// the second, on two streams of a device, with copies, calls, NVTX ranges and managed memory.
//
//   make_trace FILE [ITERATIONS] [MODE]       MODE: both (as above), poll, park, pairs: polls, and runs kernels on a
//                                             GPU that follow each other directly, or ab: four blocks of a comparison
//                                             of both modes, of which the last one parks first; or energy: eight such
//                                             blocks of longer iterations, with a GPU's power, clock and temperature
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "protocol/events/call.h"
#include "protocol/events/copy.h"
#include "protocol/events/device_state.h"
#include "protocol/events/energy.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/intervention.h"
#include "protocol/events/kernel.h"
#include "protocol/events/nvtx.h"
#include "protocol/events/process.h"
#include "protocol/events/thread_sample.h"
#include "protocol/events/uvm.h"
#include "tests/store/support.h"

namespace {

using namespace wicprof;

constexpr DeviceId kDevice = simt_device(0), kGpu = 0;
constexpr std::uint32_t kPid = 4242, kThread = 4243, kSms = 4, kWaiters = 8;
constexpr TimeNs kStart = kSecond;

enum TextNumber : TextId {
  kDeviceName = 1,
  kSiteName,
  kKernelName,
  kOtherKernel,
  kCallName,
  kSyncName,
  kRangeName,
  kProcessName,
  kThreadName,
  kGpuName,
  kUp,
  kDown,
  kPersistent,
  kEarly,
  kHolder,
  kCrowded,
  kMeterName,
  kUuid
};

class Program {
 public:
  explicit Program(store::Recorder& recorder) : recorder_(recorder) {}

  void declare() {
    const auto text = [&](TextId id, const char* words) { recorder_.add(0, store::Text(id, words).header()); };
    text(kDeviceName, "a device of the test");
    text(kSiteName, "halo.ready");
    text(kKernelName, "void stencil<float>(float const*, float*)");
    text(kOtherKernel, "reduce_norm");
    text(kCallName, "cudaLaunchKernel");
    text(kSyncName, "cudaStreamSynchronize");
    text(kRangeName, "iteration");
    text(kProcessName, "halo");
    text(kThreadName, "halo");
    ProcessEvent process = make_event<ProcessEvent>();
    process.pid = kPid;
    process.name = kProcessName;
    process.command = kProcessName;
    process.rank = process.local_rank = -1;
    process.seen_ns = kStart;
    recorder_.set_ring_process(0, kPid);
    add(process);
    DeviceEvent device = make_event<DeviceEvent>();
    device.device = kDevice;
    device.name = kDeviceName;
    device.sm_count = kSms;
    device.kind = DeviceKind::simt;
    add(device);
    add(store::clock_event(kDevice, 0, 0, 0));
    add(store::clock_event(kDevice, 100 * kSecond, 100 * kSecond, 0));
    SiteEvent site = make_event<SiteEvent>();
    site.site = 1;
    site.name = kSiteName;
    site.word_memory = WordMemory::pinned_host;
    site.words = 1;
    add(site);
  }

  void iteration(std::uint32_t number, TimeNs begin, TimeNs period, StrategyId strategy) {
    const TimeNs release = begin + period * 8 / 10;
    for (std::uint32_t w = 0; w < kWaiters * kSms; ++w) {
      WaitEvent wait = make_event<WaitEvent>();
      wait.site = 1;
      wait.device = kDevice;
      wait.block = w;
      wait.sm = static_cast<std::uint16_t>(w % kSms);
      wait.iteration = number;
      wait.polls = strategy == StrategyId::poll ? 400 : 1;
      wait.arrived_ns = static_cast<std::uint64_t>(begin + period / 10 + w * period / 200);
      wait.resumed_ns = static_cast<std::uint64_t>(release + 1'000 + 20 * w);
      wait.value = number + 1;
      wait.strategy = static_cast<std::uint8_t>(strategy);
      wait.waited = 1;
      add(wait);
    }
    SignalEvent signal = store::signal_event(number, static_cast<std::uint64_t>(release));
    add(signal);
    // Blocks of four warps, one of which waits for all. Beside them a kernel of one block; its number 0 is also the
    // number of the first waiting block.
    kernel(kDevice, kKernelName, begin, begin + period * 9 / 10, 7, number * 10 + 1, 32, 128);
    kernel(kDevice, kOtherKernel, begin + period / 5, begin + period / 2, 8, number * 10 + 2, 1, 32);
    CopyEvent copy = make_event<CopyEvent>();
    copy.device = copy.peer_device = kDevice;
    copy.kind = CopyKind::host_to_device;
    copy.start_ns = begin + period * 6 / 10;
    copy.end_ns = begin + period * 7 / 10;
    copy.bytes = 1 << 20;
    copy.context = 1;
    copy.stream = 8;
    add(copy);
    call(kCallName, begin - 20'000, begin - 5'000, number * 10 + 1);
    HostWaitEvent wait = make_event<HostWaitEvent>();
    wait.call = kSyncName;
    wait.thread = kThread;
    wait.begin_ns = begin + period / 10;
    wait.end_ns = begin + period * 85 / 100;
    wait.cpu_ns = strategy == StrategyId::poll ? wait.end_ns - wait.begin_ns : 1'000;
    wait.involuntary_switches = HostWaitEvent::kUnknownSwitches;
    wait.run_delay_ns = -1;
    add(wait);
    NvtxEvent range = make_event<NvtxEvent>();
    range.name = kRangeName;
    range.thread = kThread;
    range.start_ns = begin;
    range.end_ns = begin + period;
    add(range);
    if (number % 4 == 0) {
      UvmEvent uvm = make_event<UvmEvent>();
      uvm.kind = UvmKind::host_to_device;
      uvm.device = kDevice;
      uvm.peer_device = kHostDevice;
      uvm.bytes = 65536;
      uvm.start_ns = begin + period * 3 / 10;
      uvm.end_ns = begin + period * 4 / 10;
      uvm.count = 1;
      add(uvm);
    }
    if (number % 20 == 0) {
      ThreadSampleEvent sample = make_event<ThreadSampleEvent>();
      sample.pid = kPid;
      sample.thread = kThread;
      sample.name = kThreadName;
      sample.begin_ns = begin;
      sample.end_ns = begin + period;
      sample.cpu_ns = period / 2;
      sample.run_delay_ns = period / 4;
      add(sample);
    }
  }

  /// An H100.
  void declare_gpu() {
    const auto text = [&](TextId id, const char* words) { recorder_.add(0, store::Text(id, words).header()); };
    text(kGpuName, "a GPU of the test");
    text(kUp, "ffn_up");
    text(kDown, "ffn_down");
    text(kPersistent, "persistent_gemm");
    text(kEarly, "early_norm");
    text(kHolder, "reduce_all");
    text(kCrowded, "crowded_gemm");
    DeviceEvent device = make_event<DeviceEvent>();
    device.device = kGpu;
    device.name = kGpuName;
    device.kind = DeviceKind::cuda;
    device.sm_count = 132;
    device.compute_major = 9;
    device.max_threads_per_sm = 2'048;
    device.max_blocks_per_sm = 32;
    device.registers_per_sm = 65'536;
    device.shared_bytes_per_sm = 228 * 1'024;
    device.reserved_shared_bytes_per_block = 1'024;
    add(device);
    add(store::clock_event(kGpu, 0, 0, 0));
    add(store::clock_event(kGpu, 100 * kSecond, 100 * kSecond, 0));
  }

  /// 1.25 waves of 100 us; 2 waves of 50 us; one block per SM; a kernel that starts before the end of the one before.
  /// Then one block per SM beside a kernel that holds 16 SMs, and alone.
  void pairs(std::uint32_t number, TimeNs at) {
    kernel(kGpu, kUp, at, at + 200'000, 9, number * 10 + 3, 165, 2'048 / 2);
    kernel(kGpu, kDown, at + 201'500, at + 301'500, 9, number * 10 + 4, 264, 2'048 / 2);
    kernel(kGpu, kPersistent, at + 303'000, at + 403'000, 9, number * 10 + 5, 132, 384);
    kernel(kGpu, kEarly, at + 390'000, at + 450'000, 9, number * 10 + 6, 264, 256);
    kernel(kGpu, kHolder, at + 500'000, at + 800'000, 10, number * 10 + 7, 16, 2'048 / 2);
    kernel(kGpu, kCrowded, at + 520'000, at + 720'000, 9, number * 10 + 8, 132, 2'048 / 2);
    kernel(kGpu, kCrowded, at + 850'000, at + 950'000, 9, number * 10 + 9, 132, 2'048 / 2);
  }

  void declare_meter() {
    recorder_.add(0, store::Text(kMeterName, "GPU 0 (a GPU of the test)").header());
    recorder_.add(0, store::Text(kUuid, "GPU-00000000-0000-0000-0000-000000000001").header());
  }

  /// Polling takes 50 W more than parking, which takes 130 W; that varies by up to 5 W.
  void meter(TimeNs at, TimeNs since, bool parks) {
    used_uj_ += static_cast<std::uint64_t>(at - since) * (parks ? 130 + readings_ % 6 : 180 + readings_ % 5) / 1'000;
    EnergyEvent energy = make_event<EnergyEvent>();
    energy.meter = kMeterName;
    energy.at_ns = at;
    energy.energy_uj = used_uj_;
    add(energy);
    DeviceStateEvent state = make_event<DeviceStateEvent>();
    state.uuid = kUuid;
    state.at_ns = at;
    state.sm_clock_mhz = parks ? 1'200 : 1'800;
    state.max_sm_clock_mhz = 1'980;
    state.temperature_c = 40 + static_cast<std::int32_t>(readings_++ / 20);
    state.slowdown_reasons = 0;
    add(state);
  }

  void change(TimeNs at, bool parked, bool parks) {
    const auto number = [](bool park) {
      return static_cast<std::uint32_t>(park ? StrategyId::shared_watch : StrategyId::poll);
    };
    InterventionEvent event = make_event<InterventionEvent>();
    event.sequence = ++changes_;
    event.old_strategy = number(parked);
    event.new_strategy = number(parks);
    event.requested_ns = at - 50'000;
    event.effective_ns = at;
    event.old_mode = parked ? 1 : 0;
    event.new_mode = parks ? 1 : 0;
    add(event);
  }

 private:
  template <class Event>
  void add(const Event& event) {
    recorder_.add(0, event.header);
  }
  void kernel(DeviceId device, TextId name, TimeNs start, TimeNs end, std::uint32_t stream, std::uint32_t correlation,
              std::uint32_t blocks, std::uint32_t threads) {
    KernelEvent event = make_event<KernelEvent>();
    event.device = device;
    event.name = name;
    event.start_ns = start;
    event.end_ns = end;
    event.context = 1;
    event.stream = stream;
    event.correlation = correlation;
    for (int i = 0; i < 3; ++i) event.grid[i] = event.block[i] = 1;
    event.grid[0] = blocks;
    event.block[0] = threads;
    event.registers_per_thread = device == kGpu ? 64 : 32;
    add(event);
  }
  void call(TextId name, TimeNs start, TimeNs end, std::uint32_t correlation) {
    CallEvent event = make_event<CallEvent>();
    event.name = name;
    event.thread = kThread;
    event.start_ns = start;
    event.end_ns = end;
    event.correlation = correlation;
    event.api = CallApi::runtime;
    add(event);
  }

  store::Recorder& recorder_;
  std::uint32_t changes_ = 0, readings_ = 0;
  std::uint64_t used_uj_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const auto iterations = static_cast<std::uint32_t>(argc > 2 ? std::atoi(argv[2]) : 120);
  const std::string_view mode = argc > 3 ? argv[3] : "both";
  store::RecorderOptions options = store::options_for(argv[1]);
  options.overwrite = true;
  options.meta = {{store::MetaKey::app, "halo"},
                  {store::MetaKey::command, "./halo"},
                  {store::MetaKey::session, "test"},
                  {store::MetaKey::mode, mode == "park" ? "park" : "poll"}};
  Result<store::Recorder> recorder = store::Recorder::create(options);
  if (!recorder) {
    std::fprintf(stderr, "%s\n", recorder.error().message.c_str());
    return 1;
  }
  Program program(*recorder);
  program.declare();
  if (mode == "pairs") program.declare_gpu();
  const bool energy = mode == "energy", compares = mode == "ab" || energy;
  if (energy) program.declare_meter();
  const std::uint32_t phases = mode == "both" ? 2 : mode == "ab" ? 8 : energy ? 16 : 1, each = iterations / phases;
  std::string ab_phases;
  TimeNs at = kStart, begun = kStart;
  for (std::uint32_t i = 0; i < iterations; ++i) {
    // Of comparisons: poll first, park first, and so on.
    const auto parks_in = [&](std::uint32_t phase) {
      return mode == "park" || (mode == "both" && phase > 0) || (compares && (phase % 4 == 1 || phase % 4 == 2));
    };
    const std::uint32_t phase = std::min(i / each, phases - 1);
    const bool parks = parks_in(phase);
    if (phase > 0 && i == phase * each) program.change(at, parks_in(phase - 1), parks);
    // Iterations differ in length by up to 5 %, as in a real program.
    const TimeNs period =
        ((parks ? 600'000 : 1'000'000) + (i * 7919 % 50) * (parks ? 600 : 1'000)) * (energy ? 500 : 1);
    program.iteration(i, at, period, parks ? StrategyId::shared_watch : StrategyId::poll);
    if (mode == "pairs") program.pairs(i, at + 10'000);
    at += period;
    if (energy) program.meter(at, at - period, parks);
    if (!compares || (i + 1) % each != 0) continue;
    ab_phases += (ab_phases.empty() ? "" : ",") + std::string(mode_name(parks ? Mode::park : Mode::poll)) + ":" +
                 std::to_string(begun) + ":" + std::to_string(at);
    begun = at;
  }
  if (!ab_phases.empty()) recorder->set_meta(store::MetaKey::ab_phases, ab_phases);
  const Result<> done = recorder->finish();
  if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
