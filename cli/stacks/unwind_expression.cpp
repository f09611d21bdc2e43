#include "cli/stacks/unwind_expression.h"

#include <vector>

#include "cli/stacks/byte_reader.h"

namespace wicprof::cli {

namespace {

/// Of two operands, the lower one of the stack first; nullopt: no such operation.
std::optional<std::uint64_t> combined(std::uint8_t operation, std::uint64_t a, std::uint64_t b) {
  const auto of = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  switch (operation) {
    case 0x1a:
      return a & b;
    case 0x1c:
      return a - b;
    case 0x1e:
      return a * b;
    case 0x21:
      return a | b;
    case 0x22:
      return a + b;
    case 0x24:
      return b < 64 ? a << b : 0;
    case 0x25:
      return b < 64 ? a >> b : 0;
    case 0x27:
      return a ^ b;
    case 0x29:
      return a == b;
    case 0x2a:
      return of(a) >= of(b);
    case 0x2b:
      return of(a) > of(b);
    case 0x2c:
      return of(a) <= of(b);
    case 0x2d:
      return of(a) < of(b);
    case 0x2e:
      return a != b;
    default:
      return std::nullopt;
  }
}

/// A number that an operation brings along, or that of a register; nullopt: the operation brings none.
std::optional<std::uint64_t> brought(std::uint8_t operation, ByteReader& reader, const FrameValues& values) {
  if (operation >= 0x30 && operation <= 0x4f) return operation - 0x30u;
  if (operation >= 0x70 && operation < 0x70 + kFrameRegisters)
    return values[operation - 0x70u] + static_cast<std::uint64_t>(reader.sleb());
  switch (operation) {
    case 0x08:
      return reader.next<std::uint8_t>();
    case 0x09:
      return static_cast<std::uint64_t>(std::int64_t{reader.next<std::int8_t>()});
    case 0x0a:
      return reader.next<std::uint16_t>();
    case 0x0b:
      return static_cast<std::uint64_t>(std::int64_t{reader.next<std::int16_t>()});
    case 0x0c:
      return reader.next<std::uint32_t>();
    case 0x0d:
      return static_cast<std::uint64_t>(std::int64_t{reader.next<std::int32_t>()});
    case 0x03:
    case 0x0e:
    case 0x0f:
      return reader.next<std::uint64_t>();
    case 0x10:
      return reader.uleb();
    case 0x11:
      return static_cast<std::uint64_t>(reader.sleb());
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::uint64_t> evaluate(AddressSpace& memory, std::uint64_t at, const FrameValues& values,
                                      std::optional<std::uint64_t> first) {
  ByteReader reader(memory, at);
  const std::uint64_t length = reader.uleb(), end = reader.at() + length;
  std::vector<std::uint64_t> stack;
  if (first) stack.push_back(*first);
  while (reader.good() && reader.at() < end) {
    const auto operation = reader.next<std::uint8_t>();
    if (const auto value = brought(operation, reader, values)) {
      stack.push_back(*value);
      continue;
    }
    if (stack.empty()) return std::nullopt;
    if (operation == 0x06) {  // the word there
      const auto word = memory.value<std::uint64_t>(stack.back());
      if (!word) return std::nullopt;
      stack.back() = *word;
    } else if (operation == 0x12) {
      stack.push_back(stack.back());
    } else if (operation == 0x23) {
      stack.back() += reader.uleb();
    } else {
      const std::uint64_t b = stack.back();
      stack.pop_back();
      const auto value = stack.empty() ? std::nullopt : combined(operation, stack.back(), b);
      if (!value) return std::nullopt;
      stack.back() = *value;
    }
  }
  return reader.good() && !stack.empty() ? std::optional(stack.back()) : std::nullopt;
}

}  // namespace wicprof::cli
