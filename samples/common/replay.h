// Checks an iterated field of words against a sequential reference, which is much slower than a GPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "wic/device.h"

namespace sample {

using Words = std::vector<std::uint32_t>;

struct ReplayPlan {
  /// Limit on word updates by the reference, so that a check takes seconds.
  static constexpr std::uint64_t kMaxUpdates = std::uint64_t{1} << 29;
  static constexpr std::uint32_t kExtraIterations = 8;

  std::uint32_t max_iterations;  ///< that the reference can repeat; at least 1

  static ReplayPlan for_words(std::size_t words, std::uint64_t max_updates = kMaxUpdates) {
    const std::uint64_t iterations = max_updates / std::max<std::size_t>(words, 1);
    return {static_cast<std::uint32_t>(std::clamp<std::uint64_t>(iterations, 1, 1u << 31))};
  }
  /// 0: the reference repeats all iterations. Otherwise the program runs this many more, and the reference repeats
  /// those.
  std::uint32_t extra_after(std::uint32_t iterations) const {
    return iterations <= max_iterations ? 0 : std::min(max_iterations, kExtraIterations);
  }
};

/// The sum of all words modulo 2^32.
inline std::uint32_t total_of(const Words& field) {
  std::uint32_t sum = 0;
  for (const std::uint32_t word : field) sum += word;
  return sum;
}

/// Error: wic::failed with the first difference; where(i) describes the position of word i.
template <class Where>
wic::Result<> compare_words(const Words& got, const Words& expected, std::uint32_t iteration, const Where& where) {
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = expected.size(); i-- > 0;) {
    if (got[i] == expected[i]) continue;
    ++wrong;
    first = i;
  }
  if (wrong == 0) return wic::ok();
  return wic::failed(std::to_string(wrong) + " wrong words after iteration " + std::to_string(iteration) +
                     ", the first at " + where(first) + ": " + std::to_string(got[first]) + ", should be " +
                     std::to_string(expected[first]));
}

/// Checks a program whose iterations preserve the sum of all words modulo 2^32. The reference repeats a short run from
/// the start. After a long run the sum must be unchanged; then the program runs some extra iterations, and the
/// reference repeats those. Program must have iterations(), initial(), gather(), iterate(count), advance(field, count),
/// where(i).
template <class Program>
wic::Result<> check_by_replay(Program& program) {
  Words expected = program.initial();
  const ReplayPlan plan = ReplayPlan::for_words(expected.size());
  wic::Result<Words> field = program.gather();
  if (!field) return field.error();
  const auto where = [&](std::size_t i) { return program.where(i); };
  const std::uint32_t extra = plan.extra_after(program.iterations());
  if (extra == 0) {
    program.advance(expected, program.iterations());
    return compare_words(*field, expected, program.iterations(), where);
  }
  if (total_of(*field) != total_of(expected)) {
    return wic::failed("the sum of all words, which no iteration may change, differs after " +
                       std::to_string(program.iterations()) + " iterations");
  }
  expected = *std::move(field);
  if (wic::Result<> more = program.iterate(extra); !more) return more;
  const wic::Result<Words> later = program.gather();
  if (!later) return later.error();
  program.advance(expected, extra);
  return compare_words(*later, expected, program.iterations(), where);
}

}  // namespace sample
