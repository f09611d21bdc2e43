// Time that a recorder takes to complete a trace of N waits: matching with signals, indexes, summaries, and the rest.
// The program is one whose blocks all wait for one word per iteration, as hot_flag's do: the most waits per second that
// a GPU's program makes.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/claim.h"
#include "bench/made_trace.h"
#include "protocol/events/signal.h"
#include "protocol/events/wait.h"
#include "protocol/time.h"
#include "store/write/recorder.h"

namespace {

using namespace wicprof;

constexpr std::uint32_t kWaiters = 528;    // blocks that wait for the word
constexpr std::uint64_t kPeriod = 84'000;  // ns per iteration, as hot_flag's while it parks
constexpr DeviceId kDevice = cuda_device(0);

void put_iteration(store::Recorder& recorder, std::uint32_t i, std::uint64_t begin) {
  SignalEvent signal = make_event<SignalEvent>();
  signal.site = 1;
  signal.device = kHostDevice;
  signal.iteration = i;
  signal.value = i + 1;
  signal.at_ns = begin + 60'000;
  signal.word_tag = 18'720;
  recorder.add(0, signal.header);
  const std::uint64_t random = (i + 1) * 0x9e3779b97f4a7c15ull;
  for (std::uint32_t n = 0; n < kWaiters; ++n) {
    WaitEvent wait = make_event<WaitEvent>();
    wait.site = 1;
    wait.device = kDevice;
    wait.block = n;
    wait.sm = static_cast<std::uint16_t>(n % 132);
    wait.iteration = i;
    wait.value = i + 1;
    wait.arrived_ns = begin + 2'000 + (random >> (n % 40)) % 4'000;
    wait.resumed_ns = signal.at_ns + 3'000 + (random >> (n % 37)) % 2'000;
    wait.word_tag = 18'720;
    recorder.add(0, wait.header);
  }
}

struct Times {
  bool good = false;
  double recording = 0, matching = 0, indexing = 0, summarising = 0, folding = 0;
  double completing() const { return matching + indexing + summarising + folding; }
};

Times measure(const std::string& path, std::uint32_t iterations) {
  Times times;
  store::RecorderOptions options;
  options.path = path;
  options.overwrite = true;
  Result<store::Recorder> recorder = store::Recorder::create(options);
  if (!recorder) {
    std::fprintf(stderr, "complete_trace: %s\n", recorder.error().message.c_str());
    return times;
  }
  TimeNs at = now_ns();
  const auto lap = [&] {
    const TimeNs before = at;
    at = now_ns();
    return static_cast<double>(at - before) * 1e-9;
  };
  const auto begin = static_cast<std::uint64_t>(at);
  const bench::PutEvent put = [&](const EventHeader& event) { recorder->add(0, event); };
  bench::put_declarations(put, begin);
  for (std::uint32_t i = 0; i < iterations; ++i) {
    if (i % 1'000 == 0) bench::put_clock(put, begin + i * kPeriod);
    put_iteration(*recorder, i, begin + i * kPeriod);
    recorder->tick();
  }
  bench::put_clock(put, begin + iterations * kPeriod);
  times.recording = lap();
  // The watch is asked many times in each step; the time between two steps' first answers is a step's.
  std::array<double*, 3> parts{&times.matching, &times.indexing, &times.summarising};
  store::FinishStep step = store::FinishStep::matching;
  const Result<> finished = recorder->finish([&](store::FinishStep now, std::optional<double>) {
    *parts[static_cast<std::size_t>(step)] += lap();
    step = now;
    return true;
  });
  times.folding = lap();
  times.good = static_cast<bool>(finished) && recorder->progress().lost == 0;
  if (!times.good) std::fprintf(stderr, "complete_trace: the trace is not complete\n");
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Claim claim("complete_trace", "seconds to complete a trace of N waits for one word, by step", argc, argv);
  const std::int64_t waits = claim.option("waits", std::int64_t{8'000'000});
  const std::int64_t small = claim.option("small", std::int64_t{1'000'000});
  const std::string folder = claim.option("folder", std::string("/tmp"));
  const std::string path = folder + "/complete_trace." + std::to_string(getpid()) + ".wicprof";
  const Times few = measure(path, static_cast<std::uint32_t>(small / kWaiters));
  const Times many = measure(path, static_cast<std::uint32_t>(waits / kWaiters));
  for (const char* suffix : {"", "-wal", "-shm"}) unlink((path + suffix).c_str());
  if (!few.good || !many.good) return 2;

  const std::map<std::string, bench::Parameter> params = {{"waits", waits},
                                                          {"waiters_per_word", std::int64_t{kWaiters}}};
  const std::pair<const char*, double> steps[] = {{"recording", many.recording},
                                                  {"matching", many.matching},
                                                  {"indexing", many.indexing},
                                                  {"summarising", many.summarising},
                                                  {"folding", many.folding}};
  for (const auto& [name, seconds] : steps) claim.add({name, params, seconds, "s"});
  const double growth = many.completing() / static_cast<double>(waits) * static_cast<double>(small) / few.completing();
  claim.add(
      {"completing", params, many.completing(), "s", "the time per wait of the smaller trace", growth, 1.25, true});
  return claim.write();
}
