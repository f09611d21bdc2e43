// How a field of words is checked that a program iterates on: by a sequential reference, which is slow beside GPUs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/result.h"

namespace sample {

using Words = std::vector<std::uint32_t>;

struct ReplayPlan {
  /// Words that the reference updates at most: seconds.
  static constexpr std::uint64_t kUpdates = std::uint64_t{1} << 29;
  static constexpr std::uint32_t kExtraIterations = 8;

  std::uint32_t most;  ///< iterations that it can repeat; one at least

  static ReplayPlan for_words(std::size_t words) {
    return {
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kUpdates / std::max<std::size_t>(words, 1), 1, 1u << 31))};
  }
  /// 0: it repeats all of them. Else the program goes on for so many more, and those are repeated.
  std::uint32_t extra_after(std::uint32_t iterations) const {
    return iterations <= most ? 0 : std::min(most, kExtraIterations);
  }
};

/// Modulo 2^32.
inline std::uint32_t total_of(const Words& field) {
  std::uint32_t sum = 0;
  for (const std::uint32_t word : field) sum += word;
  return sum;
}

/// Error: wicprof::failed with the first difference; where(i) says in words which place i is.
template <class Where>
wicprof::Result<> compare_words(const Words& got, const Words& expected, std::uint32_t iteration, const Where& where) {
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = expected.size(); i-- > 0;) {
    if (got[i] == expected[i]) continue;
    ++wrong;
    first = i;
  }
  if (wrong == 0) return wicprof::ok();
  return wicprof::failed(std::to_string(wrong) + " wrong words after iteration " + std::to_string(iteration) +
                         ", the first at " + where(first) + ": " + std::to_string(got[first]) + ", should be " +
                         std::to_string(expected[first]));
}

/// Checks a program whose iterations keep the sum of all words, modulo 2^32. Repeats a run that is short enough from
/// its beginning. Of a longer one, the sum must be what it was, and the reference repeats some iterations that are
/// added to it. Program has: iterations(), initial(), gather(), iterate(count), advance(field, count), where(i).
template <class Program>
wicprof::Result<> check_by_replay(Program& program) {
  Words expected = program.initial();
  const ReplayPlan plan = ReplayPlan::for_words(expected.size());
  wicprof::Result<Words> field = program.gather();
  if (!field) return field.error();
  const auto where = [&](std::size_t i) { return program.where(i); };
  const std::uint32_t extra = plan.extra_after(program.iterations());
  if (extra == 0) {
    program.advance(expected, program.iterations());
    return compare_words(*field, expected, program.iterations(), where);
  }
  if (total_of(*field) != total_of(expected)) {
    return wicprof::failed("the sum of all words, which no iteration changes, is another after " +
                           std::to_string(program.iterations()) + " iterations");
  }
  expected = *std::move(field);
  if (wicprof::Result<> more = program.iterate(extra); !more) return more;
  const wicprof::Result<Words> later = program.gather();
  if (!later) return later.error();
  program.advance(expected, extra);
  return compare_words(*later, expected, program.iterations(), where);
}

}  // namespace sample
