// The value of one column of a row.
#pragma once

#include <cstdint>

namespace wicprof::store {

/// An integer, or NULL for an unknown value.
struct Value {
  std::int64_t integer = 0;
  bool known = true;
};
inline constexpr Value kNull{0, false};

template <class Number>
constexpr Value number(Number value) {
  return {static_cast<std::int64_t>(value), true};
}
template <class Number>
constexpr Value number_or_null(Number value, Number null) {
  return value == null ? kNull : number(value);
}

}  // namespace wicprof::store
