// How wide a text for people may be.
#pragma once

#include <cstddef>

namespace wicprof::cli {

/// Columns of a text that no terminal shows and that another program may read: no line is folded.
inline constexpr std::size_t kUnfolded = 1'000'000;
/// Tables need some room, and longer lines of prose are hard to read. Not calibrated.
inline constexpr std::size_t kNarrowest = 40, kWidest = 120;

/// The columns for a text that goes to `fd`, at least kNarrowest: the variable COLUMNS if it is a number, else the
/// width of the terminal behind `fd` up to kWidest, else kUnfolded. Any thread.
std::size_t text_width(int fd) noexcept;

/// The columns of a help text: 80 where nothing else is known, since its two columns are laid out.
std::size_t help_width(int fd) noexcept;

}  // namespace wicprof::cli
