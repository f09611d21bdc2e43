#include "cli/terminal/width.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace wicprof::cli {

namespace {

// 0: the variable does not hold a width.
std::size_t columns_variable() noexcept {
  const char* text = std::getenv("COLUMNS");
  if (text == nullptr) return 0;
  const char* const last = text + std::strlen(text);
  std::size_t columns = 0;
  const auto [end, error] = std::from_chars(text, last, columns);
  return error == std::errc() && end == last ? columns : 0;
}

}  // namespace

std::size_t text_width(int fd) noexcept {
  if (const std::size_t columns = columns_variable(); columns > 0) return std::clamp(columns, kNarrowest, kUnfolded);
  winsize size{};
  const bool known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? std::clamp<std::size_t>(size.ws_col, kNarrowest, kWidest) : kUnfolded;
}

std::size_t help_width(int fd) noexcept {
  const std::size_t columns = text_width(fd);
  return columns == kUnfolded ? 80 : columns;
}

}  // namespace wicprof::cli
