// Texts for people: names from outside must not control the terminal that shows them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wicprof {

/// The number of bytes of the UTF-8 character at the begin; 0: it is none.
std::size_t utf8_length(std::string_view text);

enum class Colours {
  none,
  ours,  ///< the sequences of `inked` (reports/text/screen.h) pass: colours are all that they change
};

/// Whether a text is what a terminal shows as it is, line breaks and tabs included: UTF-8 without control characters
/// and without marks that change the direction of writing.
bool is_plain(std::string_view text, Colours colours = Colours::none);

/// The text with U+FFFD in the place of all that is not plain.
std::string plain_text(std::string_view text, Colours colours = Colours::none);

}  // namespace wicprof
