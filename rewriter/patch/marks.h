// What the patch inserts stands between two comments, so that it can be taken out again.
#pragma once

#include <string>
#include <string_view>

namespace wicprof::rewriter {

// The original contains neither, because it contains no kMark.
inline constexpr std::string_view kMark = "__wic_";
inline constexpr std::string_view kBegin = "/*__wic_begin*/";
inline constexpr std::string_view kEnd = "/*__wic_end*/";

inline std::string marked(const std::string& text) { return std::string(kBegin) + text + std::string(kEnd); }

}  // namespace wicprof::rewriter
