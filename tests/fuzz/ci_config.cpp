// The TOML configuration of `wic-prof ci`.
#include "cli/ci/config.h"

#include "tests/fuzz/target.h"

namespace wicprof::fuzz {

void run(std::string_view input) {
  const Result<cli::CiConfig> config = cli::parse_ci_config(input, "folder/ci.toml");
  if (!config) {
    require(config.error().message.starts_with("folder/ci.toml"), "an error names the file");
    return;
  }
  require(config->repeat >= 1 && config->repeat <= 1000 && config->warm_up >= 0, "accepted counts are in range");
  require(config->modes.size() <= 2 && config->timeout >= 0, "accepted modes and times are in range");
  require(config->gate.compare.tolerance >= 0 && config->gate.compare.tolerance < 1, "a tolerance is a share");
  (void)cli::only_runs(*config);
}

std::vector<std::string> seeds() {
  return {
      R"([run]
repeat = 3
warm_up = 1
modes = ["poll", "park"]
strategy = "auto"
timeout = "2m"
trace = "cuda,host"
[limits]
wait_share = 0.5
p99_wake_latency = "50us"
polls_per_wait = 1e3
missed_deadlines = 0
predicted_gain = 1.5
[limits.site."left hand"]
p99_wake_latency = "1.5ms"
[gain]
at_least = 1.1
)",
      R"([run]
reference = ["./old", "--size", "3"]
[compare]
tolerance = 0.02
min_iterations = 20
nvtx = "step"
[baseline]
trace = "base.wicprof"
any_device = true
[verdict]
allow_inconclusive = false
allow_missing_data = true
)",
      "a.b.c = [1979-05-27T07:32:00Z, 0x1f, inf, {x = '''y'''}]\n[[t]]\n# \xc3\xa9\n", "[run]\na. \xc3\xa9 = 1\n"};
}

}  // namespace wicprof::fuzz
