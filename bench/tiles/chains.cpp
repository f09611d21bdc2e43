#include <cstdio>

#include "bench/tiles/random_chains.h"
#include "bench/tiles/tables.h"

namespace wicprof::bench {

Result<> add_launches(TilesBench& bench) {
  const TimeNs begin = wic::now_ns();
  const auto counts =
      run_random_chains(*bench.runtime, bench.sites[kPolling], static_cast<std::uint64_t>(bench.options.launches),
                        bench.options.launch_seconds * 1'000'000'000, 2027);
  if (!counts) return counts.error();
  const double right = 1 - static_cast<double>(counts->failed) / static_cast<double>(counts->chains);
  bench.claim.add({"random_launches",
                   {{"chains", static_cast<std::int64_t>(counts->chains)},
                    {"beside_a_kernel_that_holds_sms", static_cast<std::int64_t>(counts->held)},
                    {"seconds", static_cast<double>(wic::now_ns() - begin) / 1e9}},
                   static_cast<double>(counts->launches),
                   "launches",
                   "chains without deadlock, all numbers right",
                   right,
                   1.0});
  const double of_asked = static_cast<double>(counts->launches) / static_cast<double>(bench.options.launches);
  bench.claim.add({"random_launches_done",
                   {},
                   static_cast<double>(counts->launches),
                   "launches",
                   "those asked for",
                   of_asked,
                   1.0});
  std::fprintf(stderr, "tiles: %.0f launches, %.0f chains failed\n", static_cast<double>(counts->launches),
               static_cast<double>(counts->failed));
  return ok();
}

Result<> add_faults(TilesBench& bench) {
  const auto counts =
      run_faulty_chains(*bench.runtime, bench.sites[kPolling], static_cast<std::uint32_t>(bench.options.faults), 99);
  if (!counts) return counts.error();
  const auto all = static_cast<double>(counts->faults);
  bench.claim.add({"faults",
                   {{"longest_ms", counts->longest_ms}, {"deadline_ms", 20.0}},
                   all,
                   "chains that break a rule",
                   "those that ended with an error that names the deadline",
                   counts->named / all,
                   1.0});
  bench.claim.add({"faults_recovered",
                   {},
                   static_cast<double>(counts->recovered),
                   "chains that were right after a reset",
                   "all of them",
                   static_cast<double>(counts->recovered) / all,
                   1.0});
  std::fprintf(stderr, "tiles: %.0f faults, %.0f named, %.0f recovered, at most %.1f ms\n", all,
               static_cast<double>(counts->named), static_cast<double>(counts->recovered), counts->longest_ms);
  return ok();
}

}  // namespace wicprof::bench
