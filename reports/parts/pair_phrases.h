// Pairs of kernels of which the second could start earlier, in words that several reports share.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

/// "gemm2 behind gemm1".
std::string pair_name(const DependentPair& pair);
/// The kernel's name without its parameters, shortened.
std::string short_name(const PairKernel& kernel);
/// A time that is computed: "515 us".
std::string nanoseconds(double ns);
/// "515 us (0 to 1.1 ms)"; "unknown" without a bound.
std::string bound_text(const std::optional<Bound>& bound);
/// "1.25, last 25 %", "persistent", "unknown".
std::string waves_text(const PairKernel& kernel);

/// The pair in time, on a line of at most `width` characters: A and B where all SMs have blocks of the first or the
/// second kernel, a and b in a last wave that is not full, "." for the gap. Empty if the waves are not known.
std::string wave_line(const DependentPair& pair, std::size_t width);
inline constexpr std::string_view kWaveLineLegend =
    "A, B: a mean launch of the first and the second kernel with blocks on all SMs; a, b: its last wave, which is not "
    "full; a dot: the gap";

/// How many runs the table is about, the others, and the sums of the gains.
std::string pairs_summary(const DependentKernels& kernels);
/// What the figures assume.
inline constexpr std::string_view kPairsAssume =
    "Computed for blocks that take equally long, from no gain to the most that is possible. The second kernel must "
    "read "
    "the first one's results part by part, which a trace does not show; waiting and signalling cost extra.";

}  // namespace wicprof::reports
