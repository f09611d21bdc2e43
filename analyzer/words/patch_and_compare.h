// How a program whose waiting loops are patched waits in both ways, as often as a verdict needs.
#pragma once

#include <string_view>

namespace wicprof::analyzer {

/// Options of wic-prof run: six phases of each mode.
inline constexpr std::string_view kPatchAndCompare = "--rewrite --schedule poll:2s,park:2s --cycles 6";

}  // namespace wicprof::analyzer
