// Words that an unknown one may be meant for: verbs, options, words of the outputs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace wicprof::analyzer {

/// Lower case, with one space in place of each row of spaces, '_' and '-'; none at the ends.
std::string plain_word(std::string_view word);

/// The words of `known` that are similar to `word`, as plain_word() has both, or that are part of one another; best
/// first, each once, at most three.
std::vector<std::string_view> nearest(std::string_view word, const std::vector<std::string_view>& known);

/// "did you mean run or report? ", or empty where no word of `known` is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace wicprof::analyzer
