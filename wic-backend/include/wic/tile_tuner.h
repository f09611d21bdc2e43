// Measures several ways to run a chain of kernels for a shape, and keeps the choice per shape. The first way is the one
// to beat, as a rule stream order: the tuner may choose it, and does where nothing is clearly faster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "wic/types.h"

namespace wic {

struct TunedPlan {
  std::string plan;
  double ns = 0;        ///< its median
  double first_ns = 0;  ///< the median of the first plan, measured in turn with it
  std::uint32_t rounds = 0;

  double gain() const { return ns > 0 ? first_ns / ns : 1; }
};

/// One host thread at a time.
class TileTuner {
 public:
  /// A plan needs this speed-up over the first one to be chosen: about the most by which two measurements of
  /// one plan differed (row polling_over_itself of docs/results/tiles.h100.json).
  static constexpr double kClearGain = 1.01;

  explicit TileTuner(std::uint32_t rounds = 15) : rounds_(rounds) {}

  /// The choice for the shape: the one that is kept, or after measuring. `measure` runs plan i once and returns its
  /// nanoseconds. All plans run in turn, once to warm up and then in a third of the rounds; the faster half and the
  /// first one run in the others. Errors: no plans; those of `measure`.
  Result<TunedPlan> choose(const std::string& shape, const std::vector<std::string>& plans,
                           const std::function<Result<double>(std::size_t)>& measure);

  const std::map<std::string, TunedPlan>& choices() const { return choices_; }
  /// One line per shape. Error: the file cannot be written.
  Result<> save(const std::string& path) const;
  /// Adds the choices of a file that save() wrote. Errors: no such file; a line that is none of save()'s, by number.
  Result<> load(const std::string& path);

 private:
  std::uint32_t rounds_;
  std::map<std::string, TunedPlan> choices_;
};

}  // namespace wic
