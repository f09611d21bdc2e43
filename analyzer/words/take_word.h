// Where a line of text may break.
#pragma once

#include <string_view>

namespace wicprof::analyzer {

/// Takes the next word from `text`, with the unit behind it if the word ends with a number: a line may break before and
/// after it, and nowhere else. Empty between two spaces.
std::string_view take_word(std::string_view& text);

}  // namespace wicprof::analyzer
