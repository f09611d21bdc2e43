#include "analyzer/machine_code/nvdisasm.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "analyzer/machine_code/sass.h"
#include "code/toolkit_files.h"

namespace wicprof::analyzer {
namespace {

/// Functions called by the wanted ones are kept to this depth, as with_callees() follows calls.
constexpr int kMaxCallDepth = 8;

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Line {
  std::string_view file;
  std::uint32_t number = 0;
  bool operator==(const Line&) const = default;
};

// Parses `//## File "FILE", line N`, optionally followed by ` inlined at "FILE", line N` several times. Innermost
// first.
std::vector<Line> source_lines(std::string_view text) {
  std::vector<Line> lines;
  for (std::size_t open = text.find('"'); open != text.npos; open = text.find('"', open)) {
    const std::string_view rest = text.substr(open + 1);
    const std::size_t quote = rest.find('"');
    constexpr std::string_view kLine = "\", line ";
    if (quote == rest.npos || !rest.substr(quote).starts_with(kLine)) break;
    const std::string_view digits = rest.substr(quote + kLine.size());
    Line line{rest.substr(0, quote)};
    std::from_chars(digits.data(), digits.data() + digits.size(), line.number);
    lines.push_back(line);
    open += 1 + quote + kLine.size();
  }
  return lines;
}

struct Instruction {
  std::uint64_t address;
  std::string_view text;
  std::string_view file;
  std::uint32_t line;
};

// One `.text` section with the addresses of its labels.
struct Section {
  std::string name;
  std::vector<Instruction> instructions;
  std::map<std::string, std::uint64_t, std::less<>> labels;
  std::set<std::string, std::less<>> functions;  // labels declared as functions
};

class Parser {
 public:
  Parser(std::uint64_t module, const std::set<std::string>& symbols) : module_(module), symbols_(symbols) {}

  std::vector<store::SassRow> parse(std::string_view listing) {
    while (!listing.empty()) {
      const std::size_t end = std::min(listing.find('\n'), listing.size());
      take(trimmed(listing.substr(0, end)));
      listing.remove_prefix(std::min(end + 1, listing.size()));
    }
    close_section();
    return std::move(rows_);
  }

 private:
  void take(std::string_view line) {
    if (line.empty()) return;
    constexpr std::string_view kFunction = "Function : ";  // cuobjdump
    if (line.starts_with(".section")) {
      const std::string_view name = trimmed(line.substr(8));
      open_section(name.substr(0, name.find(',')));
    } else if (line.starts_with(kFunction)) {
      open_section(".text." + std::string(trimmed(line.substr(kFunction.size()))));
    } else if (line.starts_with(".type") && line.find("@function") != line.npos) {
      const std::string_view name = trimmed(line.substr(5));
      section_.functions.emplace(name.substr(0, name.find(',')));
    } else if (line.starts_with("//##")) {
      take_source_line(line);
    } else if (line.ends_with(':') && line.find(' ') == line.npos) {
      take_label(line.substr(0, line.size() - 1));
    } else {
      take_instruction(line);
    }
  }

  void open_section(std::string_view name) {
    constexpr std::string_view kText = ".text.";
    const std::string opened(name.starts_with(kText) ? name.substr(kText.size()) : std::string_view());
    if (!opened.empty() && opened == section_.name) return;
    close_section();
    section_.name = opened;
  }

  void take_label(std::string_view label) {
    // In listings without .section lines, only this label names the section.
    if (label.starts_with(".text.")) return open_section(label);
    open_labels_.emplace_back(label);
  }

  void take_source_line(std::string_view text) {
    const std::vector<Line> lines = source_lines(text);
    if (lines.empty()) return;
    if (!lines_open_) frames_.clear();
    lines_open_ = true;
    for (const Line& line : lines) {
      // Consecutive comments repeat the frame at which the previous one's code was inlined.
      if (frames_.empty() || frames_.back() != line) frames_.push_back(line);
    }
  }

  Line current_line() const {
    for (const Line& frame : frames_) {
      if (!is_toolkit_file(frame.file)) return frame;
    }
    return frames_.empty() ? Line() : frames_.front();
  }

  void take_instruction(std::string_view line) {
    // Some disassemblers print scheduling information first: [B------:R-:W-:-:S04].
    if (line.starts_with("[B")) line = trimmed(line.substr(std::min(line.find(']') + 1, line.size())));
    if (!line.starts_with("/*") || section_.name.empty()) return;
    const std::size_t end = line.find("*/");
    if (end == line.npos) return;
    const std::optional<std::uint64_t> address = hexadecimal(line.substr(2, end - 2));
    if (!address) return;  // an encoding: /* 0x... */
    std::string_view text = trimmed(line.substr(end + 2));
    text = trimmed(text.substr(0, text.find("/*")));
    text = trimmed(text.substr(0, text.find("//")));
    while (!text.empty() && (text.front() == '{' || text.front() == '}')) text = trimmed(text.substr(1));
    while (!text.empty() && (text.back() == ';' || text.back() == '}')) text = trimmed(text.substr(0, text.size() - 1));
    if (text.empty() || !(text.front() == '@' || (text.front() >= 'A' && text.front() <= 'Z'))) return;  // data
    lines_open_ = false;
    for (const std::string& label : open_labels_) section_.labels[label] = *address;
    open_labels_.clear();
    const Line source = current_line();
    section_.instructions.push_back({*address, text, source.file, source.number});
  }

  void close_section() {
    if (!section_.instructions.empty()) {
      const std::uint64_t begin = section_.instructions.front().address;
      if (symbols_.contains(section_.name)) add_function(section_.name, begin, section_.instructions.back().address);
      for (const auto& [label, address] : section_.labels) {
        const bool inside = label != section_.name && section_.functions.contains(label) && symbols_.contains(label);
        if (inside) add_function(label, address, end_of_function(address));
      }
    }
    section_ = {};
    open_labels_.clear();
    frames_.clear();
    lines_open_ = false;
  }

  // The last address before the next function in the section.
  std::uint64_t end_of_function(std::uint64_t begin) const {
    std::uint64_t end = section_.instructions.back().address + 1;
    for (const auto& [label, address] : section_.labels) {
      if (address > begin && section_.functions.contains(label)) end = std::min(end, address);
    }
    return end - 1;
  }

  void add_function(const std::string& symbol, std::uint64_t begin, std::uint64_t last) {
    for (const Instruction& instruction : section_.instructions) {
      if (instruction.address < begin || instruction.address > last) continue;
      store::SassRow row;
      row.module = module_;
      row.symbol = symbol;
      row.offset = instruction.address - begin;
      row.text = std::string(instruction.text);
      row.file = std::string(instruction.file);
      row.line = instruction.line;
      if (const auto target = target_of(instruction.text); target && *target >= begin && *target <= last) {
        row.target = *target - begin;
      }
      rows_.push_back(std::move(row));
    }
  }

  // The target address of a branch, from a label or an address.
  std::optional<std::uint64_t> target_of(std::string_view text) const {
    if (text.starts_with('@')) text = trimmed(text.substr(std::min(text.find(' '), text.size())));
    const std::string_view operation = text.substr(0, text.find_first_of(" ."));
    if (operation != "BRA" && operation != "JMP" && operation != "UBRA" && operation != "CALL") return std::nullopt;
    if (const std::size_t quote = text.find("`("); quote != text.npos) {
      const std::string_view label = text.substr(quote + 2, text.find(')', quote) - quote - 2);
      const auto found = section_.labels.find(label);
      return found == section_.labels.end() ? std::nullopt : std::optional(found->second);
    }
    const std::size_t last = text.find_last_of(" ,");
    if (last == text.npos || !text.substr(last + 1).starts_with("0x")) return std::nullopt;
    return hexadecimal(text.substr(last + 3));
  }

  std::uint64_t module_;
  const std::set<std::string>& symbols_;
  Section section_;
  std::vector<std::string> open_labels_;  // labels of the next instruction
  std::vector<Line> frames_;              // source lines, innermost first
  bool lines_open_ = false;               // more frames may follow
  std::vector<store::SassRow> rows_;
};

// The functions outside of its own section that an instruction calls, by label: "CALL.ABS.NOINC `(f)".
std::string_view callee_of(const store::SassRow& row) {
  const std::size_t call = row.text.find("CALL.");
  const std::size_t quote = row.text.find("`(");
  if (call == std::string::npos || quote == std::string::npos || row.target) return {};
  const std::string_view label = std::string_view(row.text).substr(quote + 2);
  return label.substr(0, label.find(')'));
}

}  // namespace

std::vector<store::SassRow> parse_nvdisasm(std::string_view listing, std::uint64_t module,
                                           const std::set<std::string>& symbols) {
  std::set<std::string> wanted = symbols;
  std::vector<store::SassRow> rows;
  for (int depth = 0; depth <= kMaxCallDepth; ++depth) {
    rows = Parser(module, wanted).parse(listing);
    const std::size_t known = wanted.size();
    for (const store::SassRow& row : rows) {
      if (const std::string_view callee = callee_of(row); !callee.empty()) wanted.emplace(callee);
    }
    if (wanted.size() == known) break;
  }
  return rows;
}

}  // namespace wicprof::analyzer
