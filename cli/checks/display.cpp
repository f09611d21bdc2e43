// The display for the window.
#include <fmt/format.h>

#include <cstdlib>

#include "cli/checks/check.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct Display>(const Machine&) {
  for (const char* name : {"WAYLAND_DISPLAY", "DISPLAY"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    return {{"display", CheckState::ok, fmt::format("{}={}", name, value), {}, false}};
  }
  return {{"display",
           CheckState::not_applicable,
           "neither DISPLAY nor WAYLAND_DISPLAY is set; reports (html, md) need none",
           {},
           false}};
}

}  // namespace wicprof::cli
