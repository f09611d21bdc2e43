// How the time in which the rewriter reads, judges and patches a module grows with the module.
//
// Modules of tests/rewriter/made_loops.h: of one form, those with --loops loops and those with --times as many.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/claim.h"
#include "made_loops.h"
#include "rewriter/patch/patch.h"
#include "rewriter/waits/recognize.h"

namespace {

using namespace wicprof;

// A time that grows with the square would have 8. Trees, and memory beyond the caches, take some more per entry.
constexpr double kGrowthBar = 2;
constexpr double kSecondsBar = 1;  // per 100,000 lines
constexpr double kLinesOfBar = 100'000;

/// The best of `runs`, in seconds of the CPU; the number of loops found must be right.
std::optional<double> seconds_of(const std::string& text, std::size_t loops, int runs) {
  double best = 0;
  for (int run = 0; run < runs; ++run) {
    const std::clock_t begin = std::clock();
    const Result<rewriter::Module> module = rewriter::read_module(text);
    if (!module) return std::nullopt;
    const Result<rewriter::Patch> patch = rewriter::patch(*module, rewriter::recognize(*module));
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    if (patch && patch->sites.size() != std::min<std::size_t>(loops, rewriter::kMostSitesOfFunction) &&
        patch->sites.size() != loops) {
      return std::nullopt;
    }
    if (run == 0 || seconds < best) best = seconds;
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Claim claim("rewrite_speed", "how the time of a module's analysis grows with the module", argc, argv);
  const auto loops = static_cast<int>(claim.option("loops", std::int64_t{1000}));
  const auto times = static_cast<int>(claim.option("times", std::int64_t{8}));
  const auto runs = static_cast<int>(claim.option("runs", std::int64_t{3}));
  for (const std::string_view form : rewriter::kMadeForms) {
    const std::string small = rewriter::made_loops(form, loops), large = rewriter::made_loops(form, loops * times);
    const std::optional<double> few = seconds_of(small, static_cast<std::size_t>(loops), runs),
                                many = seconds_of(large, static_cast<std::size_t>(loops * times), runs);
    if (!few || !many) {
      std::fprintf(stderr, "rewrite_speed: the loops of %s are not found\n", std::string(form).c_str());
      return 2;
    }
    const auto lines = static_cast<double>(std::count(large.begin(), large.end(), '\n'));
    const double longer = static_cast<double>(large.size()) / static_cast<double>(small.size());
    const std::map<std::string, bench::Parameter> params = {{"loops", std::int64_t{loops} * times},
                                                            {"lines", lines},
                                                            {"seconds_of_fewer", *few},
                                                            {"fewer_loops", std::int64_t{loops}}};
    claim.add({.name = std::string(form) + "_growth",
               .params = params,
               .value = *many,
               .unit = "s",
               .compared_to = "the time of the module with fewer loops, times how much longer this one is",
               .ratio = *many / (*few * longer),
               .bar = kGrowthBar,
               .at_most = true});
    claim.add({.name = std::string(form) + "_per_100000_lines",
               .params = params,
               .value = *many / lines * kLinesOfBar,
               .unit = "s per 100,000 lines",
               .compared_to = "1 s",
               .ratio = *many / lines * kLinesOfBar / kSecondsBar,
               .bar = kSecondsBar,
               .at_most = true});
  }
  return claim.write();
}
