// Sorting for lists that are usually sorted already, and searches in sorted lists.
#pragma once

#include <algorithm>
#include <iterator>

namespace wicprof::analyzer {

/// Stable.
void sort_if_needed(auto&& list, const auto& earlier) {
  if (!std::is_sorted(list.begin(), list.end(), earlier)) std::stable_sort(list.begin(), list.end(), earlier);
}

/// std::partition_point() of [begin, end), in steps that double from `near` on: few where the point is close to it.
template <class Iterator>
Iterator partition_near(Iterator begin, Iterator near, Iterator end, const auto& before) {
  auto step = decltype(end - begin){1};
  if (near != begin && !before(*std::prev(near))) {
    end = std::prev(near);
    for (; end - begin > step && !before(*(end - step)); step *= 2) end -= step;
    begin = end - std::min(step, end - begin);
  } else {
    begin = near;
    for (; end - begin > step && before(*(begin + step)); step *= 2) begin += step;
    end = begin + std::min(step, end - begin);
  }
  return std::partition_point(begin, end, before);
}

}  // namespace wicprof::analyzer
