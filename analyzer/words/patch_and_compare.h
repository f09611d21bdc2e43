// How a program whose waiting loops are patched waits in both ways, as often as a verdict needs.
#pragma once

#include <string_view>

namespace wicprof::analyzer {

/// Options of wic-prof run.
inline constexpr std::string_view kPatchAndCompare = "--rewrite --ab";

}  // namespace wicprof::analyzer
