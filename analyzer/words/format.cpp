#include "analyzer/words/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analyzer/words/runtime_names.h"
#include "analyzer/words/take_word.h"
#include "protocol/symbol_name.h"

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

std::string function_name(std::string_view full) {
  const std::string readable = demangled(full);
  std::string_view name = readable;
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
  return without_wrapper(std::move(result));
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
  const auto new_line = [&] {
    wrapped += '\n';
    wrapped.append(indent, ' ');
    column = 0;
  };
  while (!text.empty()) {
    std::string_view word = take_word(text);
    if (word.empty()) continue;
    if (column > 0 && column + 1 + width_of(word) > width) new_line();
    if (column > 0) {
      wrapped += ' ';
      ++column;
    }
    const bool is_path = word.find('/') != word.npos;  // a path in two lines could not be copied
    while (!is_path && width > 0 && width_of(word) > width) {
      const std::string_view part = first_characters(word, width);
      wrapped += part;
      word.remove_prefix(part.size());
      new_line();
    }
    wrapped += word;
    column += width_of(word);
  }
  return wrapped;
}

namespace {
/// Up to the first space outside of quotes.
std::size_t shell_word_length(std::string_view command) {
  bool quoted = false;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] == '\'') quoted = !quoted;
    if (command[i] == '\\' && !quoted) ++i;
    if (i < command.size() && command[i] == ' ' && !quoted) return i;
  }
  return command.size();
}
}  // namespace

std::string wrap_command(std::string_view command, std::size_t width, std::size_t indent) {
  std::string wrapped;
  std::size_t column = 0;
  while (!command.empty()) {
    const std::size_t end = shell_word_length(command);
    const std::string_view word = command.substr(0, end);
    command.remove_prefix(std::min(end + 1, command.size()));
    // " \\" has to fit behind the word unless the word is the last one.
    const std::size_t length = width_of(word) + (command.empty() ? 0 : 2);
    if (column > 0 && column + 1 + length > width) {
      wrapped += " \\\n";
      wrapped.append(indent, ' ');
      column = 0;
    } else if (column > 0) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += width_of(word);
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

namespace {

constexpr std::size_t kBetweenColumns = 2;
/// A shortened name keeps so many characters, unless the table still does not fit.
constexpr std::size_t kShortName = 12;
constexpr std::size_t kShortestName = 4;

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) longest = std::max(longest, width_of(take_word(text)));
  return longest;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// Takes columns from the widest of the columns above their least widths until the table fits. Returns what is left.
std::size_t narrow(std::vector<std::size_t>& widths, const std::vector<std::size_t>& least, std::size_t excess) {
  for (; excess > 0; --excess) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] > least[i] && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    }
    if (widest == widths.size()) break;
    --widths[widest];
  }
  return excess;
}

/// Each row as a sentence, for tables whose numbers do not fit beside each other.
std::string rows_in_words(const std::vector<std::vector<std::string>>& rows, std::size_t indent, std::size_t width) {
  const std::size_t hanging = indent + kBetweenColumns;
  std::string out;
  for (std::size_t row = 1; row < rows.size(); ++row) {
    std::string text = rows[row].front();
    for (std::size_t i = 1; i < rows[row].size(); ++i) {
      if (!rows[row][i].empty()) text += fmt::format("{}{} {}", i == 1 ? ": " : ", ", rows[0][i], rows[row][i]);
    }
    out += std::string(indent, ' ') + wrap(text, width > hanging ? width - hanging : 1, hanging) + '\n';
  }
  return out;
}

}  // namespace

std::vector<std::size_t> TextTable::widths(std::size_t available) const {
  const std::size_t columns = alignment_.size();
  std::vector<std::size_t> cells(columns, 0), all(columns), words(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    for (std::size_t row = 1; row < rows_.size(); ++row) cells[i] = std::max(cells[i], width_of(rows_[row][i]));
    all[i] = std::max(cells[i], width_of(rows_[0][i]));
    words[i] = std::max(cells[i], longest_word(rows_[0][i]));
  }
  std::size_t needed = columns > 0 ? kBetweenColumns * (columns - 1) : 0;
  for (const std::size_t width : all) needed += width;
  std::size_t excess = needed > available ? needed - available : 0;
  // First the heads take several lines, then names are shortened.
  excess = narrow(all, words, excess);
  for (const std::size_t least : {kShortName, kShortestName}) {
    std::vector<std::size_t> floor = all;
    for (std::size_t i = 0; i < columns; ++i) {
      if (alignment_[i] != 'r') floor[i] = std::min(all[i], std::max(least, longest_word(rows_[0][i])));
    }
    excess = narrow(all, floor, excess);
  }
  return excess == 0 ? all : std::vector<std::size_t>();
}

std::string TextTable::str(std::size_t indent, std::size_t width) const {
  const std::vector<std::size_t> all = widths(width > indent ? width - indent : 0);
  if (all.empty()) return rows_in_words(rows_, indent, width);
  std::string out;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    std::vector<std::vector<std::string>> cells(all.size());
    std::size_t height = 1;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string& text = rows_[row][i];
      const bool fits = width_of(text) <= all[i];
      if (row == 0 || alignment_[i] == 'w') {
        cells[i] = fits ? std::vector{text} : lines_of(wrap(text, all[i], 0));
      } else {
        cells[i] = {fits || alignment_[i] == 'r' ? text : shorten(text, all[i])};
      }
      height = std::max(height, cells[i].size());
    }
    for (std::size_t line = 0; line < height; ++line) {
      std::string text(indent, ' ');
      for (std::size_t i = 0; i < all.size(); ++i) {
        // Heads end on the same line, other cells begin on the same line.
        const std::size_t above = row == 0 ? height - cells[i].size() : 0;
        const bool blank = line < above || line - above >= cells[i].size();
        const std::string cell = blank ? std::string() : cells[i][line - above];
        const std::string padding(all[i] - std::min(all[i], width_of(cell)), ' ');
        if (i > 0) text.append(kBetweenColumns, ' ');
        text += alignment_[i] == 'r' ? padding + cell : cell + padding;
      }
      text.erase(text.find_last_not_of(' ') + 1);
      out += text + '\n';
    }
  }
  return out;
}

}  // namespace wicprof::analyzer
