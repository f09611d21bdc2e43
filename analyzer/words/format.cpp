#include "analyzer/words/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace wicprof::analyzer {
namespace {

struct Unit {
  double size;
  std::string_view name;
};

/// Three significant digits, without an exponent; values from 1,000 on keep all digits before the point.
std::string three_digits(double value) {
  const double magnitude = std::fabs(value);
  if (magnitude >= 99.95) return fmt::format("{:.0f}", value);
  if (magnitude >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

/// The largest unit in which the value, rounded, is at least 1.
template <std::size_t N>
std::string with_unit(double value, const std::array<Unit, N>& units) {
  for (const Unit& unit : units) {
    if (std::fabs(value) >= unit.size * 0.9995) return fmt::format("{} {}", three_digits(value / unit.size), unit.name);
  }
  return fmt::format("{:.0f} {}", value, units.back().name);
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; }

/// The width in a terminal of UTF-8 text without wide or combining characters.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string_view first_characters(std::string_view text, std::size_t count) {
  std::size_t i = 0;
  while (i < text.size()) {
    if (!continues_character(text[i]) && count-- == 0) break;
    ++i;
  }
  return text.substr(0, i);
}

std::string_view last_characters(std::string_view text, std::size_t count) {
  return text.substr(first_characters(text, width_of(text) - count).size());
}

}  // namespace

std::string format_duration(TimeNs ns) {
  static constexpr std::array<Unit, 4> kUnits{{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  if (ns > -1000 && ns < 1000) return fmt::format("{} ns", ns);
  return with_unit(static_cast<double>(ns), kUnits);
}

std::string format_count(std::uint64_t count) {
  static constexpr std::array<Unit, 4> kUnits{{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  if (count >= 10'000) return with_unit(static_cast<double>(count), kUnits);
  if (count >= 1'000) return fmt::format("{},{:03}", count / 1'000, count % 1'000);
  return fmt::format("{}", count);
}

std::string format_number(double value) {
  static constexpr std::array<Unit, 4> kUnits{{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  if (std::fabs(value) >= 999.5) return with_unit(value, kUnits);
  if (value == std::floor(value)) return fmt::format("{:.0f}", value);
  return three_digits(value);
}

std::string format_percent(double share) {
  const double percent = share * 100;
  if (percent > 0 && percent < 0.1) return "<0.1 %";
  return fmt::format("{:.1f} %", percent);
}

std::string format_bytes(std::uint64_t bytes) {
  static constexpr std::array<Unit, 4> kUnits{
      {{1099511627776.0, "TiB"}, {1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}}};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  return with_unit(static_cast<double>(bytes), kUnits);
}

std::string count_of(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", format_count(count), noun, count == 1 ? "" : "s");
}

std::string_view memory_name(WordMemory memory) {
  switch (memory) {
    case WordMemory::device:
      return "device memory";
    case WordMemory::pinned_host:
      return "pinned host memory";
    case WordMemory::peer_device:
      return "another device's memory";
    case WordMemory::managed:
      return "managed memory";
    case WordMemory::unknown:
      break;
  }
  return "memory of an unknown kind";
}

std::string_view memory_key(WordMemory memory) {
  switch (memory) {
    case WordMemory::device:
      return "device";
    case WordMemory::pinned_host:
      return "pinned_host";
    case WordMemory::peer_device:
      return "peer_device";
    case WordMemory::managed:
      return "managed";
    case WordMemory::unknown:
      break;
  }
  return "unknown";
}

std::string way_name(Mode mode, StrategyId strategy) {
  if (mode == Mode::poll && strategy == StrategyId::poll) return "poll";
  return fmt::format("{} ({})", mode_name(mode), strategy_name(strategy));
}

std::string shorten(std::string_view text, std::size_t width) {
  const std::size_t length = width_of(text);
  if (length <= width) return std::string(text);
  if (width == 0) return {};
  const std::size_t front = width / 2;
  const std::size_t back = width - 1 - front;
  return fmt::format("{}\u2026{}", first_characters(text, front), last_characters(text, back));
}

std::string function_name(std::string_view name) {
  if (name.ends_with(')')) {
    std::size_t open = name.size(), depth = 0;
    do {
      --open;
      depth += name[open] == ')' ? 1 : 0;
      depth -= name[open] == '(' ? 1 : 0;
    } while (open > 0 && depth > 0);
    if (depth == 0 && open > 0) name = name.substr(0, open);
  }
  if (name.starts_with("void ")) name.remove_prefix(5);
  std::string result(name);
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (std::size_t at; (at = result.find(kAnonymous)) != result.npos;) result.erase(at, kAnonymous.size());
  return result;
}

std::string one_line(std::string_view text) {
  std::string line(text);
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto code = static_cast<unsigned char>(line[i]);
    if (code < 0x20 || code == 0x7f) line[i] = ' ';
    // U+0080 to U+009F are control characters too.
    const bool second = i > 0 && static_cast<unsigned char>(line[i - 1]) == 0xc2;
    if (second && code >= 0x80 && code < 0xa0) line[i - 1] = line[i] = ' ';
  }
  return line;
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string wrapped;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (word.empty()) continue;
    const std::size_t length = width_of(word);
    if (column > 0 && column + 1 + length > width) {
      wrapped += '\n';
      wrapped.append(indent, ' ');
      column = 0;
    }
    if (column > 0) wrapped += ' ';
    wrapped += word;
    column += length + (column > 0 ? 1 : 0);
  }
  return wrapped;
}

namespace {

/// Replaces the characters that would begin or end a tag or an entity, in one line of text.
std::string escape_tags(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : one_line(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char c : escape_tags(text)) {
    if (c == '"') {
      escaped += "&quot;";
    } else if (c == '\'') {
      escaped += "&#39;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string escape_markdown(std::string_view text) {
  static constexpr std::string_view kSpecial = "\\`*_{}[]#|~";
  std::string escaped;
  // escape_tags() adds no special character.
  for (const char c : escape_tags(text)) {
    if (kSpecial.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

TextTable::TextTable(std::string alignment, std::vector<std::string> header) : alignment_(std::move(alignment)) {
  rows_.push_back(std::move(header));
}

void TextTable::add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

std::string TextTable::str(std::size_t indent) const {
  std::vector<std::size_t> widths(alignment_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string padding(widths[i] - width_of(row[i]), ' ');
      if (i > 0) line += "  ";
      line += alignment_[i] == 'r' ? padding + row[i] : row[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

}  // namespace wicprof::analyzer
