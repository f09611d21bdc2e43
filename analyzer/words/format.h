// How reports write numbers, times and text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/events/site.h"
#include "protocol/strategy.h"
#include "protocol/time.h"

namespace wicprof::analyzer {

/// Three digits and a unit: "950 ns", "1.23 ms", "12.3 s".
std::string format_duration(TimeNs ns);
/// All digits below 10,000, then three digits and a prefix: "9,999", "12.3 k", "4.56 M".
std::string format_count(std::uint64_t count);
/// Three digits and a prefix from 1,000: "0.5", "12.3", "4.56 k".
std::string format_number(double value);
/// "12.3 %", "<0.1 %".
std::string format_percent(double share);
std::string format_bytes(std::uint64_t bytes);
/// "1 wait", "12.3 k waits".
std::string count_of(std::uint64_t count, std::string_view noun);
/// "pinned host memory", "device memory", ...
std::string_view memory_name(WordMemory memory);

/// The memory's key in JSON: "pinned_host", "device", ...
std::string_view memory_key(WordMemory memory);

/// "poll", "park (auto)": names the strategy unless the mode implies it.
std::string way_name(Mode mode, StrategyId strategy);

/// At most `width` characters; an ellipsis replaces the middle, since names differ at both ends.
std::string shorten(std::string_view text, std::size_t width);
/// A function's C++ name without result type, parameters and anonymous namespaces.
std::string function_name(std::string_view name);
/// Replaces control characters by spaces, so that a hostile name cannot control a terminal.
std::string one_line(std::string_view text);
/// Breaks `text` at spaces into lines of at most `width` characters; indents all lines but the first by `indent`. A
/// unit stays with its number. A word that fits no line is cut, unless it is a path.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);
/// Breaks a command for a shell, so that the lines can be copied as they are: each but the last ends with a backslash.
/// A word that fits no line stays whole.
std::string wrap_command(std::string_view command, std::size_t width, std::size_t indent);

std::string escape_html(std::string_view text);
std::string escape_markdown(std::string_view text);

/// A table with columns as wide as their longest cell. Where that is too wide, heads take several lines, then names are
/// shortened and prose is wrapped. Numbers that are too wide by themselves become sentences, one per row.
class TextTable {
 public:
  /// `alignment`: one character per column; 'l' for names; 'r' for numbers, which are never shortened; 'w' for prose.
  TextTable(std::string alignment, std::vector<std::string> header);
  void add(std::vector<std::string> row);
  /// Each line starts with `indent` spaces, and has at most `width` columns.
  std::string str(std::size_t indent, std::size_t width = kAnyWidth) const;

 private:
  static constexpr std::size_t kAnyWidth = static_cast<std::size_t>(-1);
  /// Of the columns, so that the table takes at most `available`; empty if the numbers do not fit.
  std::vector<std::size_t> widths(std::size_t available) const;

  std::string alignment_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace wicprof::analyzer
