// The members of a struct as a tuple of references: what serialisation needs to know about it.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace wicprof::gui {

/// Converts to every type, in unevaluated expressions only.
struct AnyMember {
  template <class T>
  operator T() const;
};

template <class Struct, std::size_t... kIndex>
consteval bool takes(std::index_sequence<kIndex...>) {
  return requires { Struct{(static_cast<void>(kIndex), AnyMember{})...}; };
}

/// How many members an aggregate has, found by trying initialisers. Over-counts structs with C arrays or a base class;
/// members() then does not compile.
template <class Struct, std::size_t kCount = 37>
consteval std::size_t member_count() {
  if constexpr (takes<Struct>(std::make_index_sequence<kCount>())) {
    return kCount;
  } else {
    return member_count<Struct, kCount - 1>();
  }
}

/// References to the members of an aggregate without a base class and with at most 36 members.
template <class Struct>
auto members(Struct& value) {
  static_assert(std::is_aggregate_v<Struct>);
  constexpr std::size_t kCount = member_count<Struct>();
#define WICPROF_TIE(count, ...)      \
  if constexpr (kCount == (count)) { \
    auto& [__VA_ARGS__] = value;     \
    return std::tie(__VA_ARGS__);    \
  } else
  // clang-format off
  WICPROF_TIE(1, a)
  WICPROF_TIE(2, a, b)
  WICPROF_TIE(3, a, b, c)
  WICPROF_TIE(4, a, b, c, d)
  WICPROF_TIE(5, a, b, c, d, e)
  WICPROF_TIE(6, a, b, c, d, e, f)
  WICPROF_TIE(7, a, b, c, d, e, f, g)
  WICPROF_TIE(8, a, b, c, d, e, f, g, h)
  WICPROF_TIE(9, a, b, c, d, e, f, g, h, i)
  WICPROF_TIE(10, a, b, c, d, e, f, g, h, i, j)
  WICPROF_TIE(11, a, b, c, d, e, f, g, h, i, j, k)
  WICPROF_TIE(12, a, b, c, d, e, f, g, h, i, j, k, l)
  WICPROF_TIE(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
  WICPROF_TIE(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
  WICPROF_TIE(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
  WICPROF_TIE(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
  WICPROF_TIE(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
  WICPROF_TIE(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
  WICPROF_TIE(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
  WICPROF_TIE(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
  WICPROF_TIE(21, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
  WICPROF_TIE(22, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
  WICPROF_TIE(23, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
  WICPROF_TIE(24, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
  WICPROF_TIE(25, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y)
  WICPROF_TIE(26, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z)
  WICPROF_TIE(27, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa)
  WICPROF_TIE(28, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab)
  WICPROF_TIE(29, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac)
  WICPROF_TIE(30, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac, ad)
  WICPROF_TIE(31, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac, ad, ae)
  WICPROF_TIE(32, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac, ad, ae, af)
  WICPROF_TIE(33, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac, ad, ae, af,
              ag)
  WICPROF_TIE(34, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac, ad, ae, af,
              ag, ah)
  WICPROF_TIE(35, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac, ad, ae, af,
              ag, ah, ai)
  WICPROF_TIE(36, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac, ad, ae, af,
              ag, ah, ai, aj)
  // clang-format on
  {
    static_assert(kCount <= 36, "add a line above");
  }
#undef WICPROF_TIE
}

}  // namespace wicprof::gui
