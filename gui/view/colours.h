// The one colour language of pictures: what something is doing has one colour everywhere, in the window and in the HTML
// report (analyzer/reports/html_style.h, whose tokens these are; a test holds the two together). Okabe and Ito's colours,
// which people with any colour vision can tell apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "store/lanes.h"

namespace wicprof::gui {

using store::index_of;
using store::kStates;
using store::State;

/// 0xRRGGBB.
using Colour = std::uint32_t;

struct StateLook {
  std::string_view name;   ///< for legends
  std::string_view token;  ///< its name in html_style.h; empty = the report does not show it
  Colour light, dark;      ///< on a light and on a dark page
};

inline constexpr std::array<StateLook, kStates> kStateLooks{{
    {"computing", "kernel", 0x8a939c, 0x78828c},
    {"polling", "poll", 0xd55e00, 0xf08a3c},
    {"parked", "park", 0x0072b2, 0x56b4e9},
    {"host waiting", "host", 0x009e73, 0x2bc596},
    {"transferring", "transfer", 0x882e72, 0xd98cc0},
    {"descheduled", "off-cpu", 0xc9a500, 0xf0e442},
    {"in a call", "call", 0xa9b4be, 0x56616c},
    {"NVTX range", "range", 0x7a6fb5, 0x9f95d6},
    {"signal", "mark", 0x1b1f24, 0xe6e9ec},
}};
constexpr const StateLook& look_of(State state) { return kStateLooks[index_of(state)]; }

/// What is not a state: pages, text, lines, verdicts.
struct Theme {
  Colour page, card, text, faint, line, lane, bad, bad_soft, good, good_soft, warn, warn_soft, accent;
};
inline constexpr Theme kLightTheme{0xf6f7f8, 0xffffff, 0x1b1f24, 0x5d6670, 0xd9dee3, 0xeceff2, 0xb3261e,
                                   0xfbe9e7, 0x00694d, 0xe2f3ed, 0x8a5a00, 0xfdf3dc, 0x0072b2};
inline constexpr Theme kDarkTheme{0x14171a, 0x1d2125, 0xe6e9ec, 0x9aa4ae, 0x363d44, 0x2a3036, 0xff9a90,
                                  0x3d2220, 0x6fd6b3, 0x173329, 0xf0c465, 0x382c14, 0x56b4e9};

}  // namespace wicprof::gui
