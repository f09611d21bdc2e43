// How wide a text for people may be.
#pragma once

#include <cstddef>

namespace wicprof::cli {

/// Columns of a text whose reader's screen is unknown: a pipe or a file.
inline constexpr std::size_t kUnknownWidth = 80;
/// Tables need some room, and longer lines of prose are hard to read. Not calibrated.
inline constexpr std::size_t kNarrowest = 40, kWidest = 120;

/// The variable COLUMNS if it is a number, else the width of the terminal behind `fd`; 0: there is neither. Any thread.
std::size_t known_columns(int fd) noexcept;

/// The columns for a text that goes to `fd`: known_columns(), from kNarrowest to kWidest, else kUnknownWidth.
std::size_t text_width(int fd) noexcept;

}  // namespace wicprof::cli
