#include "analyzer/machine_code/sass.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace wicprof::analyzer {
namespace {

template <std::size_t N>
bool one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

// Splits at commas outside brackets.
std::vector<std::string> split_operands(std::string_view text) {
  std::vector<std::string> operands;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[' || c == '(' || c == '{') ++depth;
    if (c == ']' || c == ')' || c == '}') --depth;
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    const std::string_view operand = trimmed(text.substr(begin, i - begin));
    if (!operand.empty()) operands.emplace_back(operand);
    begin = i + 1;
  }
  return operands;
}

bool letter_or_digit(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

struct Found {
  SassRegister number;
  bool pair;  // ".64"
};

// The registers named in `text`, in order.
std::vector<Found> registers_in(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, SassRegister>, 4> kSpaces = {
      {{"UR", kUniform}, {"UP", kUniformPredicate}, {"R", 0}, {"P", kPredicate}}};
  std::vector<Found> found;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i > 0 && letter_or_digit(text[i - 1])) continue;
    for (const auto& [prefix, base] : kSpaces) {
      if (text.substr(i, prefix.size()) != prefix) continue;
      const char* digits = text.data() + i + prefix.size();
      int number = 0;
      const auto [end, error] = std::from_chars(digits, text.data() + text.size(), number);
      if (error != std::errc() || end == digits || number < 0 || number > 255) continue;
      const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
      if (!rest.empty() && letter_or_digit(rest.front())) continue;
      found.push_back({base + number, rest.starts_with(".64")});
      break;
    }
  }
  return found;
}

void add(std::vector<SassRegister>& to, SassRegister first, int count = 1) {
  for (int i = 0; i < count; ++i) {
    // A function restores it, so it varies in no loop.
    if (first + i == kStackPointer) continue;
    if (std::ranges::find(to, first + i) == to.end()) to.push_back(first + i);
  }
}

SassKind kind_of(std::string_view operation) {
  static constexpr std::array<std::string_view, 4> kLoads = {"LDG", "LD", "LDS", "ULDG"};
  static constexpr std::array<std::string_view, 3> kAtomics = {"ATOM", "ATOMG", "ATOMS"};
  static constexpr std::array<std::string_view, 10> kStores = {"STG",  "ST",     "STS",     "STAS",    "RED",
                                                               "REDG", "UBLKCP", "UTMASTG", "UTMALDG", "LDGSTS"};
  static constexpr std::array<std::string_view, 6> kFences = {"MEMBAR", "ERRBAR", "CGAERRBAR",
                                                              "CCTL",   "FENCE",  "UCCTL"};
  static constexpr std::array<std::string_view, 4> kBarriers = {"BAR", "UCGABAR_WAIT", "UCGABAR_ARV", "B2R"};
  static constexpr std::array<std::string_view, 7> kEnds = {"EXIT", "RET", "BRX", "JMX", "BRXU", "JMXU", "KILL"};
  static constexpr std::array<std::string_view, 24> kTensor = {
      "HMMA",  "IMMA",  "DMMA",      "BMMA",         "QMMA",    "OMMA",    "HGMMA", "IGMMA",
      "QGMMA", "BGMMA", "UTCHMMA",   "UTCQMMA",      "UTCOMMA", "UTCIMMA", "LDSM",  "LDTM",
      "STTM",  "MOVM",  "WARPGROUP", "WARPGROUPSET", "SUST",    "SULD",    "TEX",   "TLD"};
  static constexpr std::array<std::string_view, 22> kFloating = {
      "FADD", "FMUL", "FFMA",  "FFMA2", "FMNMX", "FSEL",  "FSETP",  "FSET",   "FCHK", "MUFU", "DADD",
      "DMUL", "DFMA", "DSETP", "HADD2", "HMUL2", "HFMA2", "HSETP2", "HMNMX2", "F2F",  "FRND", "FSWZADD"};
  // The prefix U marks the variant for uniform registers.
  static constexpr std::array<std::string_view, 27> kInteger = {
      "IADD3",  "IADD",  "IMAD",   "LEA",  "SHF",   "SHL",    "SHR",   "LOP3",  "ISETP",
      "IMNMX",  "VIADD", "VIMNMX", "IABS", "POPC",  "FLO",    "PRMT",  "BREV",  "VIADDMNMX",
      "UIADD3", "UIMAD", "ULEA",   "USHF", "ULOP3", "UISETP", "UPRMT", "UPOPC", "UFLO"};
  const std::string_view first = first_part(operation);
  if (one_of(first, kLoads)) return SassKind::load;
  if (one_of(first, kAtomics)) return SassKind::atomic;
  if (first == "SYNCS") return has_part(operation, "PHASECHK") ? SassKind::try_wait : SassKind::store;
  if (one_of(first, kStores)) return SassKind::store;
  if (one_of(first, kFences)) return SassKind::fence;
  if (one_of(first, kBarriers)) return SassKind::barrier;
  if (first == "NANOSLEEP") return SassKind::sleep;
  if (first == "CALL") return SassKind::call;
  if (first == "BRA" || first == "UBRA" || first == "JMP") return SassKind::branch;
  if (one_of(first, kEnds)) return SassKind::end;
  if (one_of(first, kTensor)) return SassKind::tensor;
  // ptxas uses IMAD.MOV and HFMA2.MMA as moves, to balance the pipes.
  if (has_part(operation, "MOV") || (first == "HFMA2" && has_part(operation, "MMA"))) return SassKind::other;
  if (one_of(first, kFloating) || first == "F2I" || first == "I2F" || first == "F2FP" || first == "I2FP") {
    return SassKind::floating;
  }
  if (one_of(first, kInteger)) return SassKind::integer;
  return SassKind::other;
}

bool writes_nothing(SassKind kind, std::string_view first) {
  switch (kind) {
    case SassKind::store:
    case SassKind::fence:
    case SassKind::barrier:
    case SassKind::sleep:
    case SassKind::branch:
    case SassKind::call:
    case SassKind::end:
      return true;
    default:
      break;
  }
  static constexpr std::array<std::string_view, 15> kNone = {"STL",   "BSSY",      "BSYNC",   "BREAK",     "WARPSYNC",
                                                             "YIELD", "NOP",       "DEPBAR",  "LDGDEPBAR", "BMOV",
                                                             "BPT",   "WARPGROUP", "PREEXIT", "ACQBULK",   "PMTRIG"};
  return one_of(first, kNone);
}

bool is_predicate(const std::string& operand) {
  return operand == "PT" || operand == "UPT" ||
         ((operand.starts_with("P") || operand.starts_with("UP")) && !registers_in(operand).empty());
}

bool is_register(const std::string& operand) {
  return operand.starts_with("RZ") || operand.starts_with("URZ") ||
         (operand.find('[') == std::string::npos && !is_predicate(operand) && !operand.starts_with("-") &&
          !registers_in(operand).empty());
}

// How many leading operands are results.
std::size_t result_operands(const SassInstruction& instruction, std::string_view first) {
  if (writes_nothing(instruction.kind, first)) return 0;
  const std::vector<std::string>& operands = instruction.operands;
  const std::size_t count = operands.size();
  if (first.ends_with("SETP") || first.ends_with("SETP2") || first.ends_with("PLOP3")) {
    return count > 1 && is_predicate(operands[1]) ? 2 : std::min<std::size_t>(count, 1);
  }
  std::size_t results = 0;
  if (results < count && is_predicate(operands[results])) ++results;
  // A vote's second operand is its input.
  if (results == 1 && (first == "VOTE" || first == "VOTEU" || instruction.kind == SassKind::try_wait)) return results;
  if (results < count && is_register(operands[results])) ++results;
  // Carries.
  const bool carries =
      first.starts_with("IADD") || first.starts_with("LEA") || first.starts_with("UIADD") || first == "ULEA";
  while (carries && results < count && is_predicate(operands[results]) && count - results > 3) ++results;
  return results;
}

// The words of the stack at an operand such as [R1+0x8].
std::vector<SassRegister> stack_words(std::string_view operand, int count) {
  const std::size_t open = operand.rfind('[');
  if (open == std::string_view::npos) return {};
  const std::string_view inside = operand.substr(open + 1);
  const std::vector<Found> found = registers_in(inside);
  if (found.size() != 1 || found.front().number != kStackPointer) return {};
  int offset = 0;
  if (const std::size_t plus = inside.find("+0x"); plus != std::string_view::npos) {
    std::from_chars(inside.data() + plus + 3, inside.data() + inside.size(), offset, 16);
  }
  std::vector<SassRegister> words;
  for (int i = 0; i < count; ++i) words.push_back(kStack + offset + 4 * i);
  return words;
}

// Values that pass through memory of the thread or of its block, or through a vote of the block.
void add_passed_values(SassInstruction& instruction, std::string_view first) {
  const int words = result_registers(instruction.operation);
  for (const std::string& operand : instruction.operands) {
    if (first != "STL" && first != "LDL") break;
    for (const SassRegister word : stack_words(operand, words)) {
      add(first == "STL" ? instruction.writes : instruction.reads, word);
    }
  }
  if (first == "STS") add(instruction.writes, kSharedMemory);
  if (first == "LDS") add(instruction.reads, kSharedMemory);
  if (first == "BAR" && has_part(instruction.operation, "RED")) add(instruction.writes, kBlockVote);
  if (first == "B2R" && has_part(instruction.operation, "RESULT")) {
    instruction.writes = instruction.reads;
    instruction.reads = {kBlockVote};
  }
}

}  // namespace

int result_registers(std::string_view operation) {
  const std::string_view first = first_part(operation);
  if (has_part(operation, "128")) return 4;
  if (has_part(operation, "64") || has_part(operation, "WIDE")) return 2;
  if (first == "CS2R") return has_part(operation, "32") ? 1 : 2;
  return 1;
}

bool reads_clock(const SassInstruction& instruction) {
  return instruction.text.find("SR_CLOCK") != std::string::npos ||
         instruction.text.find("SR_GLOBALTIMER") != std::string::npos;
}

bool is_exchange(const SassInstruction& atomic) {
  return has_part(atomic.operation, "CAS") || has_part(atomic.operation, "CAST") || has_part(atomic.operation, "EXCH");
}

bool returns(const SassInstruction& instruction) {
  return instruction.kind == SassKind::end && first_part(instruction.operation) == "RET";
}

std::string_view first_part(std::string_view operation) { return operation.substr(0, operation.find('.')); }

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<std::size_t> index_of(const std::vector<SassInstruction>& function, std::uint64_t offset) {
  const auto found = std::lower_bound(function.begin(), function.end(), offset,
                                      [](const SassInstruction& i, std::uint64_t wanted) { return i.offset < wanted; });
  if (found == function.end() || found->offset != offset) return std::nullopt;
  return static_cast<std::size_t>(found - function.begin());
}

std::vector<std::size_t> successors_of(const std::vector<SassInstruction>& function, std::size_t index) {
  const SassInstruction& instruction = function[index];
  const bool leaves = instruction.kind == SassKind::branch || instruction.kind == SassKind::end;
  std::vector<std::size_t> successors;
  if (!leaves || instruction.conditional) successors.push_back(index + 1);
  if (instruction.kind == SassKind::end) successors.push_back(function.size());
  if (instruction.kind != SassKind::branch) return successors;
  successors.push_back(index_of(function, *instruction.target).value_or(function.size()));
  return successors;
}

std::vector<std::vector<std::size_t>> successors_of(const std::vector<SassInstruction>& function) {
  std::vector<std::vector<std::size_t>> all;
  for (std::size_t i = 0; i < function.size(); ++i) all.push_back(successors_of(function, i));
  return all;
}

bool has_part(std::string_view operation, std::string_view part) {
  for (std::size_t begin = 0; begin <= operation.size();) {
    const std::size_t end = std::min(operation.find('.', begin), operation.size());
    if (operation.substr(begin, end - begin) == part) return true;
    begin = end + 1;
  }
  return false;
}

SassInstruction decode(const store::SassRow& row) {
  SassInstruction instruction;
  instruction.offset = row.offset;
  instruction.text = row.text;
  instruction.target = row.target;
  instruction.file = row.file;
  instruction.line = row.line;

  std::string_view rest = trimmed(row.text);
  while (rest.ends_with(';')) rest = trimmed(rest.substr(0, rest.size() - 1));
  if (rest.starts_with('@')) {
    const std::size_t space = std::min(rest.find(' '), rest.size());
    const std::string_view guard = rest.substr(0, space);
    for (const Found& found : registers_in(guard)) add(instruction.guard, found.number);
    instruction.conditional = guard != "@PT" && guard != "@UPT";
    rest = trimmed(rest.substr(space));
  }
  const std::size_t space = std::min(rest.find(' '), rest.size());
  instruction.operation = rest.substr(0, space);
  instruction.operands = split_operands(rest.substr(space));
  const std::string_view first = first_part(instruction.operation);
  instruction.kind = kind_of(instruction.operation);
  if (instruction.kind == SassKind::branch && !row.target) {
    instruction.kind = instruction.conditional ? SassKind::other : SassKind::end;
  }
  // Branches that only divergent, or only converged, warps take.
  if (instruction.kind == SassKind::branch &&
      (has_part(instruction.operation, "DIV") || has_part(instruction.operation, "CONV"))) {
    instruction.conditional = true;
  }
  instruction.strong = instruction.kind == SassKind::load &&
                       (has_part(instruction.operation, "STRONG") || has_part(instruction.operation, "MMIO") ||
                        has_part(instruction.operation, "CV"));

  const std::size_t results = result_operands(instruction, first);
  const int width = result_registers(instruction.operation);
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const std::string& operand = instruction.operands[i];
    if (operand.starts_with('`')) {  // a label
      if (instruction.kind == SassKind::call) {
        instruction.callee = operand.substr(std::min<std::size_t>(2, operand.size()));
        while (instruction.callee.ends_with(')')) instruction.callee.pop_back();
      }
      continue;
    }
    const std::vector<Found> found = registers_in(operand);
    if (i < results) {
      for (const Found& result : found) add(instruction.writes, result.number, is_predicate(operand) ? 1 : width);
      continue;
    }
    if (instruction.kind == SassKind::branch && is_predicate(operand.starts_with('!') ? operand.substr(1) : operand)) {
      for (const Found& decides : found) add(instruction.guard, decides.number);
      instruction.conditional = instruction.conditional || !found.empty();
    }
    for (const Found& source : found) add(instruction.reads, source.number, source.pair ? 2 : 1);
    // The address is in the last brackets; earlier brackets contain a descriptor.
    const std::size_t bracket = operand.rfind('[');
    const bool memory = instruction.kind == SassKind::load || instruction.kind == SassKind::store ||
                        instruction.kind == SassKind::atomic || instruction.kind == SassKind::try_wait;
    if (memory && bracket != std::string::npos && instruction.address.empty()) {
      for (const Found& source : registers_in(std::string_view(operand).substr(bracket))) {
        add(instruction.address, source.number, source.pair ? 2 : 1);
      }
    }
  }
  // The floating-point pipe also creates constants: HFMA2 R4, -RZ, RZ, 0, 0.
  if (instruction.kind == SassKind::floating && instruction.reads.empty()) instruction.kind = SassKind::other;
  add_passed_values(instruction, first);
  for (const SassRegister decides : instruction.guard) add(instruction.reads, decides);
  return instruction;
}

}  // namespace wicprof::analyzer
