#include "cli/stacks/unwind_rules.h"

#include <vector>

#include "cli/stacks/byte_reader.h"

namespace wicprof::cli {

namespace {

/// What the functions of a file have in common (a CIE).
struct CommonEntry {
  std::uint64_t code_unit = 1;
  std::int64_t data_unit = 1;
  std::uint8_t pointers = 0;
  bool has_data = false, of_signal = false;
  CodeRange instructions;
};

/// Of one function (an FDE).
struct FunctionEntry {
  CodeRange code, instructions;
};

/// Reads an entry's length. Returns where the entry ends.
std::uint64_t end_of_entry(ByteReader& reader) {
  std::uint64_t length = reader.next<std::uint32_t>();
  if (length == 0xffffffff) length = reader.next<std::uint64_t>();
  return reader.at() + length;
}

std::optional<CommonEntry> common_entry(AddressSpace& memory, std::uint64_t at) {
  ByteReader reader(memory, at);
  CommonEntry entry;
  entry.instructions.end = end_of_entry(reader);
  if (reader.next<std::uint32_t>() != 0) return std::nullopt;
  const std::uint8_t version = reader.next<std::uint8_t>();
  const std::optional<std::string> augmentation = memory.text(reader.at(), 16);
  if ((version != 1 && version != 3) || !augmentation) return std::nullopt;
  reader.skip(augmentation->size() + 1);
  entry.code_unit = reader.uleb();
  entry.data_unit = reader.sleb();
  const std::uint64_t return_address = version == 1 ? reader.next<std::uint8_t>() : reader.uleb();
  if (return_address != kReturnAddress) return std::nullopt;
  std::uint64_t instructions = reader.at();
  for (const char each : *augmentation) {
    if (each == 'z') {
      const std::uint64_t length = reader.uleb();
      instructions = reader.at() + length;
      entry.has_data = true;
    } else if (each == 'R') {
      entry.pointers = reader.next<std::uint8_t>();
    } else if (each == 'P') {
      reader.skip_encoded(reader.next<std::uint8_t>());
    } else if (each == 'L') {
      reader.skip(1);
    } else if (each == 'S') {
      entry.of_signal = true;
    } else {
      return std::nullopt;
    }
  }
  entry.instructions.begin = instructions;
  return reader.good() ? std::optional(entry) : std::nullopt;
}

/// Where the entry of the function lies that may hold `address`; 0: not known.
std::uint64_t find_entry(AddressSpace& memory, std::uint64_t index, std::uint64_t address) {
  constexpr std::uint8_t kSortedTable = 0x3b;  // of two words of 32 bits each, relative to the index
  ByteReader reader(memory, index);
  const std::uint8_t version = reader.next<std::uint8_t>();
  const std::uint8_t frame_encoding = reader.next<std::uint8_t>(), count_encoding = reader.next<std::uint8_t>();
  const std::uint8_t table_encoding = reader.next<std::uint8_t>();
  (void)reader.encoded(frame_encoding);
  const std::uint64_t count = reader.encoded(count_encoding), table = reader.at();
  if (!reader.good() || version != 1 || table_encoding != kSortedTable) return 0;
  const auto word = [&](std::uint64_t row, unsigned column) {
    ByteReader at(memory, table + row * 8 + column * 4);
    return index + static_cast<std::uint64_t>(static_cast<std::int64_t>(at.next<std::int32_t>()));
  };
  std::uint64_t low = 0, high = count;  // the last row that does not begin behind the address is in [low - 1, high)
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (word(middle, 0) <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? 0 : word(low - 1, 1);
}

/// Carries out the instructions of a table: they change the rules as the address in the function grows.
class RuleMachine {
 public:
  RuleMachine(AddressSpace& memory, const CommonEntry& common) : memory_(memory), common_(common) {}

  UnwindRules rules;

  /// Keeps the rules as those that `restore` brings back.
  void set_initial() { initial_ = rules; }

  /// Until `address` is reached. False: an instruction that is not known.
  bool run(CodeRange instructions, std::uint64_t from, std::uint64_t address) {
    ByteReader reader(memory_, instructions.begin);
    std::uint64_t at = from;
    while (reader.at() < instructions.end && at <= address) {
      const std::uint8_t operation = reader.next<std::uint8_t>();
      if (!reader.good()) return false;
      const std::uint8_t high = operation >> 6, low = operation & 0x3f;
      if (high == 1) {
        at += low * common_.code_unit;
      } else if (high == 2) {
        set(low, RegisterRule::Kind::at_offset, static_cast<std::int64_t>(reader.uleb()) * common_.data_unit);
      } else if (high == 3) {
        restore(low);
      } else if (low >= 0x01 && low <= 0x04) {
        at = advanced(low, reader, at);
      } else if (!(of_frame(low, reader) || of_register(low, reader))) {
        return false;
      }
    }
    return reader.good();
  }

 private:
  std::uint64_t advanced(std::uint8_t operation, ByteReader& reader, std::uint64_t at) const {
    if (operation == 0x01) return reader.encoded(common_.pointers);
    const std::uint64_t by = operation == 0x02   ? reader.next<std::uint8_t>()
                             : operation == 0x03 ? reader.next<std::uint16_t>()
                                                 : reader.next<std::uint32_t>();
    return at + by * common_.code_unit;
  }

  bool of_frame(std::uint8_t operation, ByteReader& reader) {
    using Kind = RegisterRule::Kind;
    switch (operation) {
      case 0x00:  // nothing
        return true;
      case 0x0a:  // remember all
        states_.push_back(rules);
        return true;
      case 0x0b:  // and back
        if (states_.empty()) return false;
        rules = states_.back();
        states_.pop_back();
        return true;
      case 0x0c:  // a register and an offset
      case 0x12:
        rules.frame = {Kind::of_register, static_cast<std::int64_t>(reader.uleb()), 0};
        rules.frame_offset =
            operation == 0x0c ? static_cast<std::int64_t>(reader.uleb()) : reader.sleb() * common_.data_unit;
        return true;
      case 0x0d:
        rules.frame = {Kind::of_register, static_cast<std::int64_t>(reader.uleb()), 0};
        return true;
      case 0x0e:
        rules.frame_offset = static_cast<std::int64_t>(reader.uleb());
        return true;
      case 0x13:
        rules.frame_offset = reader.sleb() * common_.data_unit;
        return true;
      case 0x0f:
        rules.frame = {Kind::expression, 0, reader.at()};
        reader.skip(reader.uleb());
        return true;
      case 0x2e:  // the size of arguments, for handlers of exceptions
        (void)reader.uleb();
        return true;
      default:
        return false;
    }
  }

  bool of_register(std::uint8_t operation, ByteReader& reader) {
    using Kind = RegisterRule::Kind;
    const std::uint64_t number = reader.uleb();
    switch (operation) {
      case 0x05:
        set(number, Kind::at_offset, static_cast<std::int64_t>(reader.uleb()) * common_.data_unit);
        return true;
      case 0x06:
        restore(number);
        return true;
      case 0x07:
        set(number, Kind::undefined, 0);
        return true;
      case 0x08:
        set(number, Kind::same, 0);
        return true;
      case 0x09:
        set(number, Kind::of_register, static_cast<std::int64_t>(reader.uleb()));
        return true;
      case 0x11:
        set(number, Kind::at_offset, reader.sleb() * common_.data_unit);
        return true;
      case 0x14:
        set(number, Kind::offset, static_cast<std::int64_t>(reader.uleb()) * common_.data_unit);
        return true;
      case 0x15:
        set(number, Kind::offset, reader.sleb() * common_.data_unit);
        return true;
      case 0x10:
      case 0x16:
        set(number, operation == 0x10 ? Kind::at_expression : Kind::expression, 0, reader.at());
        reader.skip(reader.uleb());
        return true;
      default:
        return false;
    }
  }

  void set(std::uint64_t number, RegisterRule::Kind kind, std::int64_t value, std::uint64_t expression = 0) {
    if (number < kFrameRegisters) rules.registers[number] = {kind, value, expression};  // else of vectors
  }
  void restore(std::uint64_t number) {
    if (number < kFrameRegisters) rules.registers[number] = initial_.registers[number];
  }

  AddressSpace& memory_;
  const CommonEntry& common_;
  UnwindRules initial_;
  std::vector<UnwindRules> states_;
};

}  // namespace

std::optional<UnwindRules> unwind_rules(AddressSpace& memory, const MappedObject& object, std::uint64_t address) {
  const std::uint64_t entry = object.unwind_index() == 0 ? 0 : find_entry(memory, object.unwind_index(), address);
  if (entry == 0) return std::nullopt;
  ByteReader reader(memory, entry);
  FunctionEntry function;
  function.instructions.end = end_of_entry(reader);
  const std::uint64_t place = reader.at();
  const std::uint32_t back = reader.next<std::uint32_t>();
  const std::optional<CommonEntry> common = back == 0 ? std::nullopt : common_entry(memory, place - back);
  if (!common) return std::nullopt;
  function.code.begin = reader.encoded(common->pointers);
  function.code.end = function.code.begin + reader.encoded(common->pointers & 0x0f);
  if (!function.code.holds(address)) return std::nullopt;
  if (common->has_data) reader.skip(reader.uleb());
  function.instructions.begin = reader.at();
  RuleMachine machine(memory, *common);
  machine.rules.of_signal = common->of_signal;
  const bool begun = machine.run(common->instructions, function.code.begin, address);
  machine.set_initial();
  if (!begun || !machine.run(function.instructions, function.code.begin, address) || !reader.good())
    return std::nullopt;
  return machine.rules;
}

}  // namespace wicprof::cli
