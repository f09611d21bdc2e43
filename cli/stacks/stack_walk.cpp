#include "cli/stacks/stack_walk.h"

#include <map>
#include <optional>

namespace wicprof::cli {

namespace {

constexpr std::size_t kMostOfStack = 2000;  // a deep recursion of an interpreter; walking so far takes some 10 ms

using Objects = std::map<std::uint64_t, std::optional<MappedObject>>;  // by the begin of a mapping

std::optional<std::uint64_t> value_of(AddressSpace& memory, const RegisterRule& rule, const FrameValues& values,
                                      unsigned number, std::uint64_t frame) {
  using Kind = RegisterRule::Kind;
  const std::uint64_t place = frame + static_cast<std::uint64_t>(rule.number);
  switch (rule.kind) {
    case Kind::undefined:
      return 0;
    case Kind::same:
      return values[number];
    case Kind::at_offset:
      return memory.value<std::uint64_t>(place);
    case Kind::offset:
      return place;
    case Kind::of_register:
      return rule.number < kFrameRegisters ? std::optional(values[static_cast<unsigned>(rule.number)]) : std::nullopt;
    case Kind::at_expression:
    case Kind::expression: {
      const auto value = evaluate(memory, rule.expression, values, frame);
      return value && rule.kind == Kind::at_expression ? memory.value<std::uint64_t>(*value) : value;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> frame_address(AddressSpace& memory, const UnwindRules& rules, const FrameValues& values) {
  if (rules.frame.kind == RegisterRule::Kind::expression)
    return evaluate(memory, rules.frame.expression, values, std::nullopt);
  if (rules.frame.kind != RegisterRule::Kind::of_register || rules.frame.number >= kFrameRegisters) return std::nullopt;
  return values[static_cast<unsigned>(rules.frame.number)] + static_cast<std::uint64_t>(rules.frame_offset);
}

/// The registers of the caller; nullopt: not known.
std::optional<FrameValues> caller(AddressSpace& memory, const UnwindRules& rules, const FrameValues& values) {
  const auto frame = frame_address(memory, rules, values);
  if (!frame || *frame <= values[kStackPointer]) return std::nullopt;  // a stack grows down
  FrameValues of_caller{};
  for (unsigned i = 0; i < kFrameRegisters; ++i) {
    const auto value = value_of(memory, rules.registers[i], values, i, *frame);
    if (!value) return std::nullopt;
    of_caller[i] = *value;
  }
  of_caller[kStackPointer] = *frame;
  return of_caller;
}

/// Whether that is where a handler of a signal returns to: the call of rt_sigreturn, whoever has written it.
bool returns_from_signal(AddressSpace& memory, std::uint64_t address) {
  constexpr std::array<std::uint8_t, 9> kLong{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
  constexpr std::array<std::uint8_t, 7> kShort{0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
  return memory.value<std::array<std::uint8_t, 9>>(address) == kLong ||
         memory.value<std::array<std::uint8_t, 7>>(address) == kShort;
}

}  // namespace

StackWalk walk_stack(AddressSpace& memory, FrameValues values) {
  StackWalk walk;
  Objects objects;
  while (walk.frames.size() < kMostOfStack) {
    const std::uint64_t code = values[kReturnAddress] - (walk.frames.empty() ? 0 : 1);
    walk.frames.push_back({code, values[kStackPointer]});
    const Mapping* const mapping = memory.at(code);
    if (mapping == nullptr || !mapping->executable()) return walk;
    const auto [object, added] = objects.try_emplace(mapping->begin);
    if (added) object->second = MappedObject::of(memory, *mapping);
    if (!object->second) return walk;
    walk.in_signal = returns_from_signal(memory, values[kReturnAddress]);
    const auto rules = walk.in_signal ? std::nullopt : unwind_rules(memory, *object->second, code);
    if (!rules) return walk;
    walk.in_signal = rules->of_signal;
    if (walk.in_signal) return walk;
    walk.whole = rules->registers[kReturnAddress].kind == RegisterRule::Kind::undefined;
    if (walk.whole) return walk;
    const std::optional<FrameValues> next = caller(memory, *rules, values);
    if (!next) return walk;
    values = *next;
  }
  return walk;
}

}  // namespace wicprof::cli
