#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/known_delay.h"
#include "common/options.h"
#include "hot_flag/program.h"

namespace {

using wic::Result;

int report(const sample::SampleOptions& options, sample::HotFlag& program, const std::vector<double>& iteration_ns,
           const std::vector<double>& stream_ns) {
  const auto check = program.check();
  if (!check) return sample::fail("hot_flag", check.error());
  const double stream = sample::median(stream_ns);
  std::printf("hot_flag: %u iterations on %s, iteration p50 %.3f ms, streaming p50 %.3f ms (%.2f GB/s), %s\n",
              program.iterations(), options.devices.c_str(), sample::median(iteration_ns) / 1e6, stream / 1e6,
              stream > 0 ? program.bytes_per_iteration() / stream : 0.0, check->ok() ? "ok" : "FAILED");
  if (!check->ok()) {
    std::printf("hot_flag: %u missed deadlines, %u wrong elements, %u waiters with wrong sums\n",
                check->missed_deadlines, check->wrong_elements, check->wrong_waiters);
  }
  return check->ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "hot_flag: some blocks stream memory while others wait on one word in pinned host memory.\n"
      "Example: wic-prof run --schedule poll:2s,park:2s -- hot_flag --devices cuda:0 --seconds 4"};
  sample::SampleOptions options;
  sample::HotFlagShape asked;
  asked.passes = 0;
  std::int64_t waiters = -1;
  std::size_t mib = 0;
  sample::add_options(app, options);
  app.add_option("--threads", asked.threads, "threads per block, a multiple of 32")->check(CLI::Range(32u, 256u));
  app.add_option("--waiters", waiters, "blocks that wait; 0: streaming alone")->check(CLI::Range(0, 1'000'000));
  app.add_option("--streamers", asked.streamers, "blocks that stream")->check(CLI::Range(1u, 1'000'000u));
  app.add_option("--size", mib, "MiB streamed")->check(CLI::Range(1u, 65'536u));
  app.add_option("--passes", asked.passes, "passes over that memory per iteration")->check(CLI::Range(1u, 10'000u));
  if (const auto status = sample::parse(app, argc, argv)) return *status;
  if (asked.threads % 32 != 0) {
    return sample::fail("hot_flag", wic::bad_input("--threads must be a multiple of 32"));
  }

  auto runtime = wic::Runtime::create(options.runtime());
  if (!runtime) return sample::fail("hot_flag", runtime.error());
  if (!(*runtime)->warning().empty()) std::fprintf(stderr, "hot_flag: %s\n", (*runtime)->warning().c_str());
  sample::HotFlagShape shape = sample::default_hot_flag_shape((*runtime)->device(0));
  if (asked.threads != 0) shape.threads = asked.threads;
  if (waiters >= 0) shape.waiters = static_cast<std::uint32_t>(waiters);
  if (asked.streamers != 0) shape.streamers = asked.streamers;
  if (mib != 0) shape.bytes = mib << 20;
  if (asked.passes != 0) shape.passes = asked.passes;

  const auto sites = sample::HotFlag::add_sites(**runtime);
  if (!sites) return sample::fail("hot_flag", sites.error());
  auto program = sample::HotFlag::make(**runtime, shape, options.timeout_ns());
  if (!program) return sample::fail("hot_flag", program.error());
  program->use_sites(*sites);

  std::vector<double> iteration_ns;
  std::vector<double> stream_ns;
  const sample::KnownDelay delay(**runtime);
  for (sample::Progress progress(options); progress.more(); progress.next()) {
    const wic::TimeNs begin = wic::now_ns();
    const auto times = program->iterate();
    delay.after(begin);
    if (!times) return sample::fail("hot_flag", times.error());
    iteration_ns.push_back(times->iteration_ns);
    stream_ns.push_back(times->stream_ns);
  }
  return report(options, *program, iteration_ns, stream_ns);
}
