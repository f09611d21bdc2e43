// How long a trace of N events takes to be read and analysed, and how much memory: what `wic-prof analyze --format json`
// does, in a process of its own, for each N. The trace is made with the recorder, of a program that waits in kernels:
// of 16 events 8 are waits, 4 signals, 2 calls, 1 a kernel, 1 a copy or a host thread's wait. Generating is not timed.
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "bench/claim.h"
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
#include "store/recorder.h"

namespace {

using namespace wicprof;

constexpr DeviceId kDevice = cuda_device(0);
constexpr std::int64_t kEventsAnIteration = 16;
constexpr std::uint64_t kPeriod = 100'000;  // ns
constexpr std::uint32_t kWaits = 8;         // an iteration, at two sites by turns

/// Texts are events of variable length: the sink that the program uses makes them, here straight into the recorder.
void add_text(store::Recorder& recorder, TextId id, const std::string& text) {
  std::vector<std::uint64_t> room((sizeof(TextEvent) + text.size() + 15) / 8 + 2);
  auto* event = reinterpret_cast<TextEvent*>(room.data());
  *event = make_event<TextEvent>();
  event->id = id;
  event->length = static_cast<std::uint32_t>(text.size());
  std::memcpy(reinterpret_cast<char*>(event) + sizeof(TextEvent), text.data(), text.size());
  event->header.size = static_cast<decltype(event->header.size)>((sizeof(TextEvent) + text.size() + 7) / 8 * 8);
  recorder.add(0, event->header);
}

void declare(store::Recorder& recorder) {
  add_text(recorder, 1, "a GPU");
  add_text(recorder, 2, "solver.halo.left");
  add_text(recorder, 3, "solver.halo.right");
  add_text(recorder, 4, "void solver::relax_interior<float, 3>(solver::Grid<float>, solver::Grid<float>, unsigned int)");
  add_text(recorder, 5, "void solver::exchange_border<float, 3>(solver::Grid<float>, wic::Channel, unsigned int)");
  add_text(recorder, 6, "cudaLaunchKernel");
  add_text(recorder, 7, "cudaMemcpyAsync");
  add_text(recorder, 8, "cudaStreamSynchronize");
  DeviceEvent device = make_event<DeviceEvent>();
  device.device = kDevice;
  device.name = 1;
  device.sm_count = 132;
  device.kind = DeviceKind::cuda;
  recorder.add(0, device.header);
  for (std::uint32_t s = 1; s <= 2; ++s) {
    SiteEvent site = make_event<SiteEvent>();
    site.site = s;
    site.name = s + 1;
    site.word_memory = s == 1 ? WordMemory::pinned_host : WordMemory::device;
    recorder.add(0, site.header);
  }
}

void add_clock(store::Recorder& recorder, std::uint64_t at) {
  ClockEvent clock = make_event<ClockEvent>();
  clock.device = kDevice;
  clock.error_ns = 700;
  clock.device_ns = at;
  clock.host_ns = static_cast<TimeNs>(at);
  recorder.add(0, clock.header);
}

void add_iteration(store::Recorder& recorder, std::uint32_t i, std::uint64_t begin) {
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
    recorder.add(0, call.header);
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
  recorder.add(0, kernel.header);
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
    recorder.add(0, copy.header);
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
    recorder.add(0, wait.header);
  }
  for (std::uint32_t n = 0; n < kWaits; ++n) {
    const std::uint32_t site = 1 + n % 2;
    const std::uint64_t signalled = begin + 60'000 + n / 2 * 4'000 + jitter(n);
    if (n % 2 == 0) {
      SignalEvent signal = make_event<SignalEvent>();
      signal.site = 1 + n / 2 % 2;
      signal.device = kHostDevice;
      signal.iteration = i;
      signal.value = i + 1;
      signal.at_ns = begin + 60'000 + n / 4 * 4'000;
      recorder.add(0, signal.header);
    }
    WaitEvent wait = make_event<WaitEvent>();
    wait.site = site;
    wait.device = kDevice;
    wait.block = (i * kWaits + n) % 264;
    wait.sm = static_cast<std::uint16_t>(wait.block / 2);
    wait.iteration = i;
    wait.value = i + 1;
    wait.polls = static_cast<std::uint32_t>(100 + random % 1000);
    wait.arrived_ns = begin + 20'000 + jitter(n + 20);
    wait.resumed_ns = signalled + 1'500 + jitter(n + 7) / 8;
    wait.word_tag = static_cast<WordTag>(1 + wait.block);
    wait.status = WaitStatus::satisfied;
    recorder.add(0, wait.header);
  }
}

// Whether the trace of so many events was written.
bool generate(const std::string& path, std::int64_t events) {
  store::RecorderOptions options;
  options.path = path;
  options.overwrite = true;
  Result<store::Recorder> recorder = store::Recorder::create(options);
  if (!recorder) {
    std::fprintf(stderr, "analyze_speed: %s\n", recorder.error().message.c_str());
    return false;
  }
  const auto begin = static_cast<std::uint64_t>(now_ns());
  declare(*recorder);
  add_clock(*recorder, begin);
  const auto iterations = static_cast<std::uint32_t>(events / kEventsAnIteration);
  for (std::uint32_t i = 0; i < iterations; ++i) {
    const std::uint64_t at = begin + i * kPeriod;
    if (i % 5'000 == 0) add_clock(*recorder, at);
    add_iteration(*recorder, i, at);
    recorder->tick();
  }
  add_clock(*recorder, begin + iterations * kPeriod);
  const bool lost = recorder->progress().lost != 0;
  if (const Result<> finished = recorder->finish(); !finished || lost) {
    std::fprintf(stderr, "analyze_speed: %s\n", lost ? "events were lost" : finished.error().message.c_str());
    return false;
  }
  return true;
}

struct Cost {
  bool good = false;
  double seconds = 0, cpu_seconds = 0, load_seconds = 0, peak_bytes = 0;
};

// What the child tells on its pipe.
struct Told {
  double load = 0, whole = 0;
  std::uint64_t waits = 0;
};

bool analyse(const std::string& path, int pipe) {
  Told told;
  mallopt(M_MMAP_THRESHOLD, 1 << 20);  // as load_trace() of wic-prof
  const TimeNs begin = now_ns();
  const Result<store::Reader> reader = store::Reader::open(path);
  if (!reader) return false;
  const Result<analyzer::TraceModel> model = analyzer::load(*reader, "trace");
  if (!model) return false;
  told.load = static_cast<double>(now_ns() - begin) * 1e-9;
  const std::string answer = analyzer::analysis_json(*model, analyzer::analyze(*model));
  told.whole = static_cast<double>(now_ns() - begin) * 1e-9;
  told.waits = answer.empty() ? 0 : model->waits.size();
  return write(pipe, &told, sizeof told) == sizeof told;
}

// In a process of its own: its peak of memory is that of this work alone, and generating leaves nothing behind.
bool in_child(const auto& work, rusage& used) {
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) _exit(work() ? 0 : 1);
  int status = 0;
  return pid > 0 && wait4(pid, &status, 0, &used) == pid && status == 0;
}

Cost measure(const std::string& path, std::int64_t events) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  rusage used{};
  Told told;
  Cost cost;
  cost.good = in_child([&] { return analyse(path, ends[1]); }, used) &&
              read(ends[0], &told, sizeof told) == sizeof told &&
              told.waits == static_cast<std::uint64_t>(events / kEventsAnIteration * kWaits);
  close(ends[0]);
  close(ends[1]);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
  cost.seconds = told.whole;
  cost.load_seconds = told.load;
  cost.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  cost.peak_bytes = static_cast<double>(used.ru_maxrss) * 1024;
  return cost;
}

std::vector<std::int64_t> numbers(const std::string& list) {
  std::vector<std::int64_t> all;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) {
    const long long number = std::atoll(word.c_str());
    if (number < kEventsAnIteration) return {};
    all.push_back(number / kEventsAnIteration * kEventsAnIteration);
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Claim claim("analyze_speed", "time and memory to analyse a trace of so many events", argc, argv);
  const std::vector<std::int64_t> sizes = numbers(claim.option("events", std::string("100000,1000000,10000000")));
  const std::int64_t repetitions = claim.option("repetitions", 3);
  const std::string folder = claim.option("folder", std::string("/tmp"));
  if (sizes.empty()) {
    std::fprintf(stderr, "analyze_speed: --events needs numbers of at least 16, separated by commas\n");
    return 2;
  }
  double before = 0;  // ns an event, of the size before
  for (const std::int64_t events : sizes) {
    const std::string path = folder + "/analyze_speed." + std::to_string(getpid()) + ".wicprof";
    rusage unused{};
    bool good = in_child([&] { return generate(path, events); }, unused);
    std::vector<double> seconds, cpu, load, peak;
    for (std::int64_t i = 0; good && i < repetitions; ++i) {
      const Cost cost = measure(path, events);
      good = cost.good;
      seconds.push_back(cost.seconds);
      cpu.push_back(cost.cpu_seconds);
      load.push_back(cost.load_seconds);
      peak.push_back(cost.peak_bytes);
    }
    for (const char* suffix : {"", "-wal", "-shm"}) unlink((path + suffix).c_str());
    if (!good) {
      std::fprintf(stderr, "analyze_speed: the trace of %lld events could not be made or analysed\n",
                   static_cast<long long>(events));
      return 2;
    }
    const std::map<std::string, bench::Parameter> params = {{"events", events}, {"repetitions", repetitions}};
    const std::string name = std::to_string(events);
    const double took = bench::median(seconds), an_event = took * 1e9 / static_cast<double>(events);
    // The promise is about 10 M events; below, cost has to be in proportion or less.
    const bool promised = events >= 10'000'000;
    const auto bar = [&](double value) { return promised ? std::optional(value) : std::nullopt; };
    claim.add({"seconds_" + name, params, took, "s", promised ? "5 s" : "", promised ? std::optional(took / 5) : std::nullopt, bar(1), true});
    claim.add({"cpu_seconds_" + name, params, bench::median(cpu), "s"});
    claim.add({"load_seconds_" + name, params, bench::median(load), "s"});
    const double bytes = bench::median(peak);
    claim.add({"peak_" + name, params, bytes / 1e6, "MB", promised ? "1.5 GB" : "", promised ? std::optional(bytes / 1.5e9) : std::nullopt, bar(1), true});
    bench::ClaimRow each{"ns_an_event_" + name, params, an_event, "ns"};
    if (before > 0) {
      each.compared_to = "the size before";
      each.ratio = an_event / before;
      each.bar = 1.25;
      each.at_most = true;
    }
    claim.add(each);
    before = an_event;
  }
  return claim.write();
}
