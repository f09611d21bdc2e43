#include <cstdio>

#include "common/known_delay.h"
#include "common/options.h"
#include "hot_flag/command_line.h"
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
  sample::HotFlagCommand asked;
  if (const auto status = sample::parse(asked, argc, argv)) return *status;
  const sample::SampleOptions& options = asked.options;

  auto runtime = wic::Runtime::create(options.runtime());
  if (!runtime) return sample::fail("hot_flag", runtime.error());
  if (!(*runtime)->warning().empty()) std::fprintf(stderr, "hot_flag: %s\n", (*runtime)->warning().c_str());
  sample::HotFlagShape shape = sample::default_hot_flag_shape((*runtime)->device(0));
  if (asked.threads != 0) shape.threads = asked.threads;
  if (asked.waiters) shape.waiters = *asked.waiters;
  if (asked.streamers != 0) shape.streamers = asked.streamers;
  if (asked.mib != 0) shape.bytes = asked.mib << 20;
  if (asked.passes != 0) shape.passes = asked.passes;
  shape.arithmetic = asked.arithmetic;

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
