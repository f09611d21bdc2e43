// PTX text with places to fill in.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace wicprof::rewriter {

/// Text for each `<name>`. PTX has names between < and > in no instruction.
using Filling = std::initializer_list<std::pair<std::string_view, std::string>>;

/// The text with all places filled in whose names stand in `filling`.
inline std::string fill(std::string text, Filling filling) {
  for (const auto& [name, value] : filling) {
    const std::string place = "<" + std::string(name) + ">";
    for (std::size_t at = 0; (at = text.find(place, at)) != std::string::npos; at += value.size()) {
      text.replace(at, place.size(), value);
    }
  }
  return text;
}

}  // namespace wicprof::rewriter
