// The colours of the HTML report, and no others: style.css, the drawings and the script name them by token. The window's are
// the same (gui/view/colours.h; a test holds the two together). They are Okabe and Ito's, which people with any colour
// vision can tell apart.
#pragma once

#include <string>
#include <string_view>

namespace wicprof::analyzer::html {

inline constexpr std::string_view kLightColours = R"css(
  --page: #f6f7f8; --card: #ffffff; --text: #1b1f24; --faint: #5d6670; --line: #d9dee3; --lane: #eceff2;
  --poll: #d55e00; --park: #0072b2; --host: #009e73; --kernel: #8a939c; --mark: #1b1f24;
  --transfer: #882e72; --off-cpu: #c9a500; --call: #a9b4be; --range: #7a6fb5;
  --bad: #b3261e; --bad-soft: #fbe9e7; --good: #00694d; --good-soft: #e2f3ed; --warn: #8a5a00; --warn-soft: #fdf3dc;
)css";

inline constexpr std::string_view kDarkColours = R"css(
  --page: #14171a; --card: #1d2125; --text: #e6e9ec; --faint: #9aa4ae; --line: #363d44; --lane: #2a3036;
  --poll: #f08a3c; --park: #56b4e9; --host: #2bc596; --kernel: #78828c; --mark: #e6e9ec;
  --transfer: #d98cc0; --off-cpu: #f0e442; --call: #56616c; --range: #9f95d6;
  --bad: #ff9a90; --bad-soft: #3d2220; --good: #6fd6b3; --good-soft: #173329; --warn: #f0c465; --warn-soft: #382c14;
)css";

/// Dark where the browser asks for it or the page's switch says so; paper is light.
inline std::string colour_css() {
  const std::string light(kLightColours), dark(kDarkColours);
  return ":root { color-scheme: light;" + light + "}\n@media screen {\n@media (prefers-color-scheme: dark) {\n" +
         ":root:not([data-theme=light]) { color-scheme: dark;" + dark + "} }\n:root[data-theme=dark] { color-scheme: dark;" +
         dark + "}\n}\n";
}

}  // namespace wicprof::analyzer::html
