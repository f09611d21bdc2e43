// Memory streaming beside blocks that wait on one word in pinned host memory, under every strategy, compared with the
// same work without waiting blocks. Strategies alternate in one run.
#include <array>
#include <cstdio>
#include <map>

#include "bench/claim.h"
#include "hot_flag/program.h"

namespace {

using wicprof::Mode;
using wicprof::StrategyId;

struct Way {
  const char* name;
  sample::HotFlagWaiters role;
  StrategyId strategy;
  int warm_up;  // untimed iterations, in which the prediction learns the length of the wait
};

constexpr std::array kWays{
    Way{"absent", sample::HotFlagWaiters::absent, StrategyId::poll, 1},
    Way{"bare_poll", sample::HotFlagWaiters::bare, StrategyId::poll, 1},
    Way{"poll", sample::HotFlagWaiters::wait, StrategyId::poll, 1},
    Way{"backoff", sample::HotFlagWaiters::wait, StrategyId::backoff, 1},
    Way{"predicted_sleep", sample::HotFlagWaiters::wait, StrategyId::predicted_sleep, 16},
    Way{"park", sample::HotFlagWaiters::wait, StrategyId::automatic, 2},
};

struct Samples {
  std::vector<double> iteration_ns, stream_ns;
};

wicprof::Result<std::map<std::string, Samples>> measure(const std::string& devices, std::int64_t rounds,
                                                        std::int64_t timed, sample::HotFlagShape& shape) {
  wic::RuntimeOptions options;
  options.devices = devices;
  options.record = false;
  auto runtime = wic::Runtime::create(options);
  if (!runtime) return runtime.error();
  shape = sample::default_hot_flag_shape((*runtime)->device(0));
  const auto sites = sample::HotFlag::add_sites(**runtime);
  if (!sites) return sites.error();
  auto program = sample::HotFlag::make(**runtime, shape, 10'000'000'000);
  if (!program) return program.error();
  program->use_sites(*sites);
  std::map<std::string, Samples> samples;
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (const Way& way : kWays) {
      if (auto r = (*runtime)->set_wait(0, {Mode::park, way.strategy}); !r) return r.error();
      for (std::int64_t i = -way.warm_up; i < timed; ++i) {
        const auto times = program->iterate(way.role);
        if (!times) return times.error();
        if (i < 0) continue;
        samples[way.name].iteration_ns.push_back(times->iteration_ns);
        samples[way.name].stream_ns.push_back(times->stream_ns);
      }
    }
  }
  const auto check = program->check();
  if (!check) return check.error();
  if (!check->ok()) return wicprof::unavailable("the results are wrong");
  return samples;
}

}  // namespace

int main(int argc, char** argv) {
  wicprof::bench::Claim claim("hot_flag", "memory streaming beside waiting blocks, by strategy", argc, argv);
  const std::string devices = claim.option("devices", "simt:1");
  const std::int64_t rounds = claim.option("rounds", 10);
  const std::int64_t timed = claim.option("timed", 5);
  sample::HotFlagShape shape;
  const auto measured = measure(devices, rounds, timed, shape);
  if (!measured) {
    std::fprintf(stderr, "hot_flag: %s\n", measured.error().message.c_str());
    return 3;
  }
  using wicprof::bench::median;
  const std::map<std::string, wicprof::bench::Parameter> params{
      {"devices", devices},
      {"waiting_blocks", std::int64_t{shape.waiters}},
      {"streaming_blocks", std::int64_t{shape.streamers}},
      {"threads_a_block", std::int64_t{shape.threads}},
      {"streamed_bytes", static_cast<std::int64_t>(shape.bytes)},
      {"passes", std::int64_t{shape.passes}},
      {"timed_iterations", rounds * timed}};
  const Samples& absent = measured->at("absent");
  const double absent_stream = median(absent.stream_ns);
  const double poll_iteration = median(measured->at("poll").iteration_ns);
  for (const Way& way : kWays) {
    const Samples& s = measured->at(way.name);
    wicprof::bench::ClaimRow stream;
    stream.name = std::string("streaming_") + way.name;
    stream.params = params;
    stream.value = median(s.stream_ns) * 1e-6;
    stream.unit = "ms";
    if (way.role != sample::HotFlagWaiters::absent) {
      stream.compared_to = "streaming_absent";
      stream.ratio = median(s.stream_ns) / absent_stream;
    }
    if (std::string(way.name) == "park") {
      stream.bar = 1.02;
      stream.at_most = true;
    }
    claim.add(stream);
    if (way.role == sample::HotFlagWaiters::absent) continue;
    wicprof::bench::ClaimRow iteration;
    iteration.name = std::string("iteration_") + way.name;
    iteration.params = params;
    iteration.value = median(s.iteration_ns) * 1e-6;
    iteration.unit = "ms";
    iteration.compared_to = "iteration_poll (its time over this one's: the speed-up)";
    iteration.ratio = poll_iteration / median(s.iteration_ns);
    claim.add(iteration);
  }
  return claim.write();
}
