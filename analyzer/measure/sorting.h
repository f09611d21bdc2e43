// Sorting for lists that are usually sorted already.
#pragma once

#include <algorithm>

namespace wicprof::analyzer {

/// Stable.
void sort_if_needed(auto&& list, const auto& earlier) {
  if (!std::is_sorted(list.begin(), list.end(), earlier)) std::stable_sort(list.begin(), list.end(), earlier);
}

}  // namespace wicprof::analyzer
