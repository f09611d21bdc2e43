// PTX text with places to fill in.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace wicprof::rewriter {

/// Text for each `<name>`. PTX has names between < and > in no instruction.
using Filling = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// Appends `text` to `filled`, with all places filled in whose names stand in `filling`, also those in what fills them.
inline void append_filled(std::string& filled, std::string_view text, Filling filling) {
  for (;;) {
    const std::size_t begin = text.find('<'), end = text.find('>', begin);
    filled += text.substr(0, begin);
    if (end == text.npos) {
      if (begin != text.npos) filled += text.substr(begin);
      return;
    }
    const std::string_view name = text.substr(begin + 1, end - begin - 1);
    const auto* const found =
        std::find_if(filling.begin(), filling.end(), [&](const auto& f) { return f.first == name; });
    if (found != filling.end()) {
      append_filled(filled, found->second, filling);
    } else {
      filled += text.substr(begin, end + 1 - begin);
    }
    text.remove_prefix(end + 1);
  }
}

/// The text with all places filled in whose names stand in `filling`, also those in what fills them.
inline std::string fill(std::string_view text, Filling filling) {
  std::string filled;
  append_filled(filled, text, filling);
  return filled;
}

}  // namespace wicprof::rewriter
