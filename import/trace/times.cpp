#include "import/trace/times.h"

namespace wicprof::imports {

std::optional<std::int64_t> nanoseconds_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  std::int64_t value = 0;
  int fraction = -1;  // digits behind the point; -1: no point yet
  for (const char c : text) {
    if (c == '.' && fraction < 0) {
      fraction = 0;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    if (fraction == 3) continue;
    if (fraction >= 0) ++fraction;
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, c - '0', &value))
      return std::nullopt;
  }
  for (int digits = fraction < 0 ? 0 : fraction; digits < 3; ++digits) {
    if (__builtin_mul_overflow(value, 10, &value)) return std::nullopt;
  }
  return negative ? -value : value;
}

}  // namespace wicprof::imports
