// The members of a struct, one by one: what serialisation needs to know about it.
#pragma once

#include <cstddef>
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

inline constexpr std::size_t kMostMembers = 37;

/// How many members an aggregate has, found by trying initialisers: a struct takes as many as it has members, or fewer.
/// Over-counts structs with C arrays or a base class; visit_members() then does not compile.
template <class Struct, std::size_t kTaken = 0, std::size_t kRefused = kMostMembers + 2>
consteval std::size_t member_count() {
  if constexpr (kTaken + 1 == kRefused) {
    return kTaken;
  } else {
    constexpr std::size_t kMiddle = (kTaken + kRefused) / 2;
    if constexpr (takes<Struct>(std::make_index_sequence<kMiddle>())) {
      return member_count<Struct, kMiddle, kRefused>();
    } else {
      return member_count<Struct, kTaken, kMiddle>();
    }
  }
}

/// Calls visit(member...) with all members of an aggregate without a base class and with at most kMostMembers members.
/// Not by way of a std::tuple, which was half of the time of compiling its only user.
template <class Struct, class Visit>
void visit_members(Struct& value, Visit&& visit) {
  static_assert(std::is_aggregate_v<Struct>);
  constexpr std::size_t kCount = member_count<std::remove_const_t<Struct>>();
#define WICPROF_ALL(count, ...)      \
  if constexpr (kCount == (count)) { \
    auto& [__VA_ARGS__] = value;     \
    visit(__VA_ARGS__);              \
  } else
  // clang-format off
  WICPROF_ALL(1, a)
  WICPROF_ALL(2, a, b)
  WICPROF_ALL(3, a, b, c)
  WICPROF_ALL(4, a, b, c, d)
  WICPROF_ALL(5, a, b, c, d, e)
  WICPROF_ALL(6, a, b, c, d, e, f)
  WICPROF_ALL(7, a, b, c, d, e, f, g)
  WICPROF_ALL(8, a, b, c, d, e, f, g, h)
  WICPROF_ALL(9, a, b, c, d, e, f, g, h, i)
  WICPROF_ALL(10, a, b, c, d, e, f, g, h, i, j)
  WICPROF_ALL(11, a, b, c, d, e, f, g, h, i, j, k)
  WICPROF_ALL(12, a, b, c, d, e, f, g, h, i, j, k, l)
  WICPROF_ALL(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
  WICPROF_ALL(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
  WICPROF_ALL(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
  WICPROF_ALL(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
  WICPROF_ALL(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
  WICPROF_ALL(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
  WICPROF_ALL(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
  WICPROF_ALL(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
  WICPROF_ALL(21, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
  WICPROF_ALL(22, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
  WICPROF_ALL(23, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
  WICPROF_ALL(24, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
  WICPROF_ALL(25, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y)
  WICPROF_ALL(26, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z)
  WICPROF_ALL(27, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa)
  WICPROF_ALL(28, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab)
  WICPROF_ALL(29, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac)
  WICPROF_ALL(30, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac, ad)
  WICPROF_ALL(31, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac, ad, ae)
  WICPROF_ALL(32, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac, ad, ae, af)
  WICPROF_ALL(33, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac, ad, ae, af,
              ag)
  WICPROF_ALL(34, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac, ad, ae, af,
              ag, ah)
  WICPROF_ALL(35, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac, ad, ae, af,
              ag, ah, ai)
  WICPROF_ALL(36, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac, ad, ae, af,
              ag, ah, ai, aj)
  WICPROF_ALL(37, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac, ad, ae, af,
              ag, ah, ai, aj, ak)
  // clang-format on
  {
    static_assert(kCount <= kMostMembers, "add a line above");
  }
#undef WICPROF_ALL
}

}  // namespace wicprof::gui
