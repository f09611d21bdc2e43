#include "hot_flag/command_line.h"

#include <CLI/CLI.hpp>

namespace sample {

std::optional<int> parse(HotFlagCommand& command, int argc, char** argv) {
  CLI::App app{
      "hot_flag: some blocks stream memory while others wait on one word in pinned host memory.\n"
      "Example: wic-prof run --schedule poll:2s,park:2s -- hot_flag --devices cuda:0 --seconds 4"};
  add_options(app, command.options);
  app.add_option("--threads", command.threads, "threads per block, a multiple of 32")->check(CLI::Range(32u, 256u));
  app.add_option("--waiters", command.waiters, "blocks that wait; 0: streaming alone")
      ->check(CLI::Range(0u, 1'000'000u));
  app.add_option("--streamers", command.streamers, "blocks that stream")->check(CLI::Range(1u, 1'000'000u));
  app.add_option("--size", command.mib, "MiB streamed")->check(CLI::Range(1u, 65'536u));
  app.add_option("--passes", command.passes, "passes over that memory per iteration")->check(CLI::Range(1u, 10'000u));
  app.add_option("--arithmetic", command.arithmetic, "multiplications per word and pass")
      ->check(CLI::Range(0u, 1'000'000u));
  if (const auto status = parse(app, argc, argv)) return status;
  if (command.threads % 32 != 0) return fail("hot_flag", wic::bad_input("--threads must be a multiple of 32"));
  return std::nullopt;
}

}  // namespace sample
