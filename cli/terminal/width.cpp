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

std::size_t known_columns(int fd) noexcept {
  const std::size_t columns = columns_variable();
  winsize size{};
  return columns == 0 && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : columns;
}

std::size_t text_width(int fd) noexcept {
  const std::size_t columns = known_columns(fd);
  return columns == 0 ? kUnknownWidth : std::clamp(columns, kNarrowest, kWidest);
}

}  // namespace wicprof::cli
