// The colours of all pictures: each state has the same colour in the window, in the HTML report and in figures. The
// palette is by Okabe and Ito, extended so that readers with any colour vision deficiency can distinguish all states
// (tests/analyzer/colours_test.cpp measures the distances).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "store/summaries/lanes.h"

namespace wicprof::analyzer {

using store::index_of;
using store::kStates;
using store::State;

/// The states of warps during and between their waits, in the order in which pictures stack them.
inline constexpr std::array kWarpStates{State::polling, State::parked, State::at_barrier, State::computing};

/// 0xRRGGBB.
using Colour = std::uint32_t;

/// A colour's variants for light and dark pages.
struct ColourPair {
  Colour light, dark;
  constexpr Colour on(bool dark_page) const { return dark_page ? dark : light; }
};

struct StateLook {
  std::string_view name;   ///< for legends
  std::string_view token;  ///< the CSS variable is --token
  ColourPair colour;
};

inline constexpr std::array<StateLook, kStates> kStateLooks{{
    {"computing", "kernel", {0x8a939c, 0x79828b}},
    {"polling", "poll", {0xd55e00, 0xf08a3c}},
    {"parked", "park", {0x0072b2, 0x56b4e9}},
    {"host waiting", "host", {0x009e73, 0x1f9d6b}},
    {"transferring", "transfer", {0x742a5e, 0xf7c3e2}},
    {"ready, no CPU", "off-cpu", {0xc9a500, 0xf0e442}},
    {"in a call", "call", {0x656d74, 0x555e67}},
    {"NVTX range", "range", {0xe3a5cf, 0x8f5aa8}},
    {"signal", "mark", {0x1b1f24, 0xe6e9ec}},
    {"waiting on a barrier", "barrier", {0x74c0f5, 0x1769d2}},
}};
constexpr const StateLook& look_of(State state) { return kStateLooks[index_of(state)]; }
/// Of a kernel's bar, as far as the kernel's samples poll: hatched on the colour of computing.
inline constexpr StateLook kSampledPolling{"polling, by samples", "poll", look_of(State::polling).colour};

/// What pictures colour, and legends name: states, and polling that samples found.
class Looks {
 public:
  constexpr Looks() = default;
  constexpr Looks(std::initializer_list<State> states) {
    for (const State state : states) add(state);
  }
  constexpr void add(State state) { bits_ |= 1u << index_of(state); }
  constexpr void add_sampled_polling() { bits_ |= 1u << kStates; }
  constexpr void add(Looks other) { bits_ |= other.bits_; }
  constexpr bool has(State state) const { return (bits_ >> index_of(state) & 1) != 0; }
  constexpr bool has_sampled_polling() const { return (bits_ >> kStates & 1) != 0; }
  /// Calls `visit(look, hatched)` for each, in the order of the table.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = 0; i < kStates; ++i) {
      if (has(static_cast<State>(i))) visit(kStateLooks[i], false);
      if (i == index_of(State::polling) && has_sampled_polling()) visit(kSampledPolling, true);
    }
  }

 private:
  std::uint32_t bits_ = 0;
};

/// Colours of pages, text, lines and verdicts.
struct Theme {
  Colour page, card, text, faint, line, lane, bad, bad_soft, good, good_soft, warn, warn_soft, accent;
};
inline constexpr Theme kLightTheme{0xf6f7f8, 0xffffff, 0x1b1f24, 0x5d6670, 0xd9dee3, 0xeceff2, 0xb3261e,
                                   0xfbe9e7, 0x00694d, 0xe2f3ed, 0x8a5a00, 0xfdf3dc, 0x0072b2};
inline constexpr Theme kDarkTheme{0x14171a, 0x1d2125, 0xe6e9ec, 0x9aa4ae, 0x363d44, 0x2a3036, 0xff9a90,
                                  0x3d2220, 0x6fd6b3, 0x173329, 0xf0c465, 0x382c14, 0x56b4e9};
constexpr const Theme& theme_of(bool dark_page) { return dark_page ? kDarkTheme : kLightTheme; }

/// Colours of a drawing's series that are not states (traces, sites), for light and dark pages.
inline constexpr std::array<Colour, 8> kSeriesColours{0xd55e00, 0x0072b2, 0x009e73, 0xcc79a7,
                                                      0xe69f00, 0x56b4e9, 0x8a939c, 0xb3a800};

/// White or the light theme's nearly black text colour, whichever is easier to read on `fill`.
Colour text_on(Colour fill);
/// "#d55e00".
std::string css_colour(Colour colour);
/// The colours of states and theme as declarations of CSS variables: --poll, --page, --bad-soft and so on.
std::string css_variables(bool dark_page);

}  // namespace wicprof::analyzer
