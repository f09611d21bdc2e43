// Sorting of lists that are mostly sorted already.
#pragma once

#include <algorithm>

namespace wicprof::analyzer {

/// Not stable.
void sort_if_needed(auto& list, const auto& earlier) {
  if (!std::is_sorted(list.begin(), list.end(), earlier)) std::sort(list.begin(), list.end(), earlier);
}

}  // namespace wicprof::analyzer
