#include "krylov/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace sample::krylov {

std::vector<AppOption> krylov_options() {
  return {{"cpu-percent", "the CPU's share of the work; 0: half on the CPU device, 1 on GPUs", "0", 0, 99},
          {"threads", "threads of the CPU's rank; 0: half of the cores, at most 8", "0", 0, 256},
          {"seed", "seed of the numbering", "1", 1, 1'000'000}};
}

KrylovChoice krylov_choice(const AppOptions& options, std::uint32_t ranks, const char* name) {
  KrylovChoice choice;
  const std::uint32_t percent = options.number("cpu-percent");
  choice.cpu_percent = percent != 0 ? percent : options.on_gpu ? 1 : 100.0 / ranks;
  choice.seed = options.number("seed");
  const std::uint32_t threads = options.number("threads");
  choice.cluster.prefix = options.prefix + name;
  choice.cluster.way = options.way;
  choice.cluster.rival = options.rival;
  choice.cluster.shape = {options.blocks, options.block_size};
  choice.cluster.host_threads = threads != 0 ? threads : std::clamp(std::thread::hardware_concurrency() / 2, 1u, 8u);
  choice.cluster.timeout_ns = options.timeout_ns;
  return choice;
}

wic::Result<> check_ranks(std::uint32_t ranks, std::uint32_t count, const char* what) {
  if (ranks > kMaxRanks) {
    return wic::bad_input(fmt::format("{} devices; at most {} are supported", ranks - 1, kMaxRanks - 1));
  }
  if (count < ranks) {
    return wic::bad_input(fmt::format("{} {} for {} ranks; choose a larger --size", count, what, ranks));
  }
  return wic::ok();
}

}  // namespace sample::krylov
