// Watches how a recorder completes a trace, which takes a while for a large one, and may end that.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace wicprof::store {

/// What is left to do after the last row.
enum class FinishStep : std::uint8_t { matching, indexing, summarising };
/// Called every few milliseconds from within the step. `part`: what is done of it, 0 to 1; empty where that is not
/// known. False: give up this step.
using FinishWatch = std::function<bool(FinishStep step, std::optional<double> part)>;

}  // namespace wicprof::store
