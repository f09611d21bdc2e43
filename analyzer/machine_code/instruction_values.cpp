#include "analyzer/machine_code/instruction_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace wicprof::analyzer {
namespace {

/// The word at the entry's stack pointer.
constexpr SassRegister kFirstWord = 1 << 28;
/// Offsets beyond this are no words of a stack.
constexpr std::int64_t kMaxOffset = 1 << 24;
/// Constants of the driver: the stack's end, and where the local memory begins among generic addresses, its lower and
/// upper half (sm_70 to sm_90).
constexpr std::string_view kStackEnd = "c[0x0][0x28]", kLocalMemory = "c[0x0][0x20]", kLocalUpper = "c[0x0][0x24]";

Value sum_of(const Value& a, const Value& b) {
  if (!a || !b || a->unknown != 0 || b->unknown != 0) return std::nullopt;
  return Sum{a->stack + b->stack, a->local + b->local, a->upper + b->upper, a->constant + b->constant};
}

Value constant(std::uint32_t number) { return Sum{.constant = static_cast<std::int32_t>(number)}; }
Value constant(bool truth) { return Sum{.constant = truth ? 1 : 0}; }

std::optional<std::uint32_t> number_of(const Value& value) {
  if (!value || value->is_address() || value->unknown != 0) return std::nullopt;
  return static_cast<std::uint32_t>(value->constant);
}

Value operand_value(const Values& values, std::string_view text) {
  bool negative = false;
  if (text.starts_with('-')) {
    negative = true;
    text.remove_prefix(1);
  }
  Value value;
  if (text.starts_with("RZ") || text.starts_with("URZ")) {
    value = Sum{};
  } else if (text.starts_with("0x")) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), number, 16);
    if (error == std::errc() && end == text.data() + text.size()) value = constant(number);
  } else if (text.starts_with(kLocalMemory)) {
    value = Sum{.local = 1};
  } else if (text.starts_with(kLocalUpper)) {
    value = Sum{.upper = 1};
  } else if (text.starts_with(kStackEnd)) {
    value = Sum{.stack = 1};
  } else if (const auto r = register_of(text)) {
    value = read(values, *r);
  }
  if (value && negative && value->unknown != 0) return std::nullopt;
  if (value && negative) value = Sum{-value->stack, -value->local, -value->upper, -value->constant};
  return value;
}

// The address in the last brackets of an operand: "desc[UR4][R4.64+0x8]".
Value address_value(const Values& values, std::string_view operand) {
  const std::size_t open = operand.rfind('['), close = operand.rfind(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  std::string_view inside = operand.substr(open + 1, close - open - 1);
  Value sum = Sum{};
  while (!inside.empty()) {
    const std::size_t plus = std::min(inside.find('+'), inside.size());
    sum = sum_of(sum, operand_value(values, inside.substr(0, plus)));
    inside.remove_prefix(std::min(plus + 1, inside.size()));
  }
  return sum;
}

bool is_part_of_word(std::string_view operation) {
  return has_part(operation, "U8") || has_part(operation, "S8") || has_part(operation, "U16") ||
         has_part(operation, "S16");
}

void set(Values& values, SassRegister r, const Value& value) {
  if (value) {
    values.insert_or_assign(r, *value);
  } else {
    values.erase(r);
  }
}

// "P0", "!UP1", "PT": its number; none for the constant.
std::optional<SassRegister> predicate_of(std::string_view text) {
  if (text.starts_with('!')) text.remove_prefix(1);
  SassRegister base = kPredicate;
  if (text.starts_with('U')) {
    text.remove_prefix(1);
    base = kUniformPredicate;
  }
  if (text.size() != 2 || text[0] != 'P' || text[1] < '0' || text[1] > '9') return std::nullopt;
  return base + (text[1] - '0');
}

std::optional<bool> truth_of(const Values& values, std::string_view text) {
  const bool inverted = text.starts_with('!');
  if (text.ends_with("PT")) return !inverted;
  const auto predicate = predicate_of(text);
  const auto number = predicate ? number_of(read(values, *predicate)) : std::nullopt;
  return number ? std::optional((*number != 0) != inverted) : std::nullopt;
}

// Bytes of two words, in the order that a selector gives.
Value permuted(const Value& a, std::uint32_t selector, const Value& b) {
  struct Byte {
    std::uint8_t value = 0;
    bool known = false;
  };
  std::array<Byte, 8> bytes{};
  const auto take = [&](const Value& word, std::size_t first) {
    if (!word || word->is_address()) return;
    for (std::size_t i = 0; i < 4; ++i) {
      bytes[first + i] = {static_cast<std::uint8_t>(static_cast<std::uint32_t>(word->constant) >> (8 * i)),
                          (word->unknown >> i & 1) == 0};
    }
  };
  take(a, 0);
  take(b, 4);
  std::uint32_t number = 0;
  std::uint8_t unknown = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t nibble = selector >> (4 * i) & 0xf;
    const Byte byte = bytes[nibble & 7];
    const std::uint8_t sign = (byte.value & 0x80) != 0 ? 0xff : 0;
    number |= static_cast<std::uint32_t>((nibble & 8) != 0 ? sign : byte.value) << (8 * i);
    if (!byte.known) unknown = static_cast<std::uint8_t>(unknown | 1u << i);
  }
  if (unknown == 0xf) return std::nullopt;
  Value value = constant(number);
  value->unknown = unknown;
  return value;
}

template <class Number>
bool compares(std::string_view name, Number a, Number b) {
  if (has_part(name, "EQ")) return a == b;
  if (has_part(name, "NE")) return a != b;
  if (has_part(name, "LT")) return a < b;
  if (has_part(name, "LE")) return a <= b;
  if (has_part(name, "GT")) return a > b;
  return a >= b;
}

// The result of a comparison "ISETP.NE.AND P0, PT, a, b, P1".
std::optional<bool> comparison(std::string_view name, const Value& a, const Value& b, std::optional<bool> other) {
  const auto left = number_of(a), right = number_of(b);
  if (has_part(name, "EX") || has_part(name, "XOR")) return std::nullopt;
  std::optional<bool> holds;
  if (left && right) {
    holds = has_part(name, "U32") ? compares(name, *left, *right)
                                  : compares(name, static_cast<std::int32_t>(*left), static_cast<std::int32_t>(*right));
  }
  if (has_part(name, "OR")) {
    if (holds == true || other == true) return true;
    return holds && other ? std::optional(false) : std::nullopt;
  }
  if (holds == false || other == false) return false;
  return holds && other ? std::optional(true) : std::nullopt;
}

// What each bit of three numbers gives by a table of eight bits.
std::uint32_t by_table(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned index = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
    result |= (table >> index & 1) << i;
  }
  return result;
}

void forget_words(Values& values) { values.erase(values.lower_bound(kFirstWord - kMaxOffset), values.end()); }

}  // namespace

std::optional<SassRegister> register_of(std::string_view text) {
  text = text.substr(0, text.find('.'));
  SassRegister base = 0;
  if (text.starts_with('U')) {
    text.remove_prefix(1);
    base = kUniform;
  }
  if (!text.starts_with('R')) return std::nullopt;
  text.remove_prefix(1);
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return base + number;
}

Value read(const Values& values, SassRegister r) {
  const auto found = values.find(r);
  return found == values.end() ? std::nullopt : Value(found->second);
}

std::optional<StackAccess> stack_access(const Values& values, const SassInstruction& instruction) {
  const std::string_view first = first_part(instruction.operation);
  const bool local = first == "LDL" || first == "STL", generic = first == "LD" || first == "ST";
  if (!local && !generic) return std::nullopt;
  const auto address = std::ranges::find_if(
      instruction.operands, [](const std::string& operand) { return operand.find('[') != std::string::npos; });
  if (address == instruction.operands.end()) return std::nullopt;
  const Value where = address_value(values, *address);
  if (!where || where->stack != 1 || where->local != (local ? 0 : 1)) return std::nullopt;
  if (where->constant < -kMaxOffset || where->constant > kMaxOffset) return std::nullopt;
  StackAccess access;
  access.store = first.starts_with("ST");
  const auto word = static_cast<SassRegister>(kFirstWord + (where->constant & ~std::int64_t{3}));
  for (int i = 0; i < result_registers(instruction.operation); ++i) access.words.push_back(word + 4 * i);
  access.data = access.store ? instruction.operands.back() : instruction.operands.front();
  return access;
}

std::optional<Written> result_of(const Values& values, const SassInstruction& instruction) {
  const std::string_view name = instruction.operation;
  std::string_view first = first_part(name);
  if (first.starts_with('U') && first != "UNKNOWN") first.remove_prefix(1);
  const std::vector<std::string>& operands = instruction.operands;
  if (operands.size() < 2) return std::nullopt;
  const auto value = [&](std::size_t i) {
    return i < operands.size() ? operand_value(values, operands[i]) : std::nullopt;
  };
  const auto truth = [&](std::size_t i) { return i < operands.size() ? truth_of(values, operands[i]) : std::nullopt; };
  const auto to_register = [&](const Value& result) -> std::optional<Written> {
    const auto r = register_of(operands.front());
    return r && result ? std::optional(Written{*r, result}) : std::nullopt;
  };
  const auto to_predicate = [&](std::optional<bool> result) -> std::optional<Written> {
    const auto r = predicate_of(operands.front());
    return r && result ? std::optional(Written{*r, constant(*result)}) : std::nullopt;
  };
  if (first == "MOV" || first == "R2UR" || first == "LDC") return to_register(value(1));
  if (first == "ISETP" && operands.size() >= 5) {
    return to_predicate(comparison(name, value(2), value(3), truth(4)));
  }
  if (first == "SEL" && operands.size() == 4) {
    const auto chosen = truth(3);
    if (chosen) return to_register(value(*chosen ? 1 : 2));
    return value(1) == value(2) ? to_register(value(1)) : std::nullopt;
  }
  if (first == "PRMT" && operands.size() == 4) {
    const auto selector = number_of(value(2));
    return selector ? to_register(permuted(value(1), *selector, value(3))) : std::nullopt;
  }
  if (first == "PLOP3" && operands.size() >= 6) {
    const auto a = truth(2), b = truth(3), c = truth(4);
    const auto table = number_of(value(5));
    if (!a || !b || !c || !table) return std::nullopt;
    return to_predicate((by_table(*a, *b, *c, *table) & 1) != 0);
  }
  if (first == "LOP3" && operands.size() >= 5) {
    const std::size_t at = predicate_of(operands.front()) ? 2 : 1;
    const auto a = number_of(value(at)), b = number_of(value(at + 1)), c = number_of(value(at + 2));
    const auto table = number_of(value(at + 3));
    if (!a || !b || !c || !table) return std::nullopt;
    const std::uint32_t number = by_table(*a, *b, *c, *table);
    return at == 2 ? to_predicate(number != 0) : to_register(constant(number));
  }
  const bool with_carry = has_part(name, "X");
  // The upper half of an address; the carry does not matter.
  const auto upper_half = [&](const Value& sum) {
    return !with_carry || (sum && sum->upper != 0) ? sum : std::nullopt;
  };
  if (first == "IMAD" && !has_part(name, "WIDE") && !has_part(name, "HI")) {
    const Value a = value(1), b = value(2), c = value(3);
    if (a == Sum{} || b == Sum{}) return to_register(upper_half(c));
    if (with_carry) return std::nullopt;
    return b == Sum{.constant = 1} ? to_register(sum_of(a, c)) : std::nullopt;
  }
  if (first == "IADD3" || first == "VIADD" || first == "IADD") {
    Value sum = Sum{};
    for (std::size_t i = 1; i < operands.size(); ++i) {
      const bool carry = operands[i].ends_with("PT") || predicate_of(operands[i]).has_value();
      if (!carry) sum = sum_of(sum, value(i));
    }
    return to_register(upper_half(sum));
  }
  return std::nullopt;
}

std::optional<bool> takes_effect(const Values& values, const SassInstruction& instruction) {
  if (!instruction.conditional) return true;
  const bool by_warp = has_part(instruction.operation, "DIV") || has_part(instruction.operation, "CONV");
  if (!instruction.text.starts_with('@') || instruction.guard.size() != 1 || by_warp) return std::nullopt;
  return truth_of(values, std::string_view(instruction.text).substr(1, instruction.text.find(' ') - 1));
}

void execute(Values& values, const SassInstruction& instruction, bool certain) {
  if (instruction.kind == SassKind::call) {  // of unknown code, which restores the stack pointer
    const Value stack = read(values, kStackPointer);
    values.erase(values.begin(), values.lower_bound(kFirstWord - kMaxOffset));
    set(values, kStackPointer, stack);
    return;
  }
  const auto assign = [&](SassRegister r, const Value& value) {
    if (certain || read(values, r) == value) {
      set(values, r, value);
    } else {
      values.erase(r);
    }
  };
  if (const auto access = stack_access(values, instruction)) {
    const bool part = is_part_of_word(instruction.operation);
    const auto data = register_of(access->data);
    for (std::size_t i = 0; i < access->words.size(); ++i) {
      const auto r = data ? std::optional(*data + static_cast<SassRegister>(i)) : std::nullopt;
      if (access->store) {
        const Value stored = r ? read(values, *r) : operand_value(values, access->data);
        assign(access->words[i], part ? std::nullopt : stored);
      } else if (r) {
        assign(*r, part ? std::nullopt : read(values, access->words[i]));
      }
    }
    return;
  }
  if (first_part(instruction.operation) == "STL") return forget_words(values);  // any of them may have been written
  const std::optional<Written> result = result_of(values, instruction);
  for (const SassRegister r : instruction.writes) {
    if (!result || r != result->r) values.erase(r);
  }
  if (result) return assign(result->r, result->value);
  // The stack pointer is not among `writes`.
  if (!instruction.operands.empty() && register_of(instruction.operands.front()) == kStackPointer &&
      instruction.kind != SassKind::store) {
    values.erase(kStackPointer);
  }
}

}  // namespace wicprof::analyzer
