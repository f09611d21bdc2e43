// Reads the encodings of tables for unwinding out of the memory of a process, one after another.
#pragma once

#include <cstdint>

#include "cli/stacks/address_space.h"

namespace wicprof::cli {

/// Once something cannot be read, all that follows is 0 and good() is false.
class ByteReader {
 public:
  ByteReader(AddressSpace& memory, std::uint64_t at) : memory_(memory), at_(at) {}

  std::uint64_t at() const { return at_; }
  void skip(std::uint64_t bytes) { at_ += bytes; }
  void go_to(std::uint64_t address) { at_ = address; }
  bool good() const { return good_; }

  template <class Value>
  Value next() {
    const auto value = memory_.value<Value>(at_);
    good_ = good_ && value.has_value();
    at_ += sizeof(Value);
    return good_ ? *value : Value{};
  }

  std::uint64_t uleb() { return leb(false); }
  std::int64_t sleb() { return static_cast<std::int64_t>(leb(true)); }

  /// A pointer as .eh_frame has them (DW_EH_PE_...): absolute or relative to its own place.
  std::uint64_t encoded(std::uint8_t encoding) {
    constexpr std::uint8_t kFormat = 0x0f, kRelative = 0x70, kToPlace = 0x10;
    const std::uint64_t place = at_;
    const std::uint64_t value = plain(encoding & kFormat);
    const std::uint8_t relative = encoding & kRelative;
    good_ = good_ && (relative == 0 || relative == kToPlace);
    return relative == kToPlace && value != 0 ? value + place : value;
  }

  /// Past a pointer, whatever it is relative to.
  void skip_encoded(std::uint8_t encoding) { (void)plain(encoding & 0x0f); }

 private:
  template <class Signed>
  std::uint64_t extended() {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(next<Signed>()));
  }

  std::uint64_t plain(std::uint8_t format) {
    switch (format) {
      case 0x00:
      case 0x04:
      case 0x0c:
        return next<std::uint64_t>();
      case 0x01:
        return uleb();
      case 0x02:
        return next<std::uint16_t>();
      case 0x03:
        return next<std::uint32_t>();
      case 0x09:
        return static_cast<std::uint64_t>(sleb());
      case 0x0a:
        return extended<std::int16_t>();
      case 0x0b:
        return extended<std::int32_t>();
      default:
        good_ = false;
        return 0;
    }
  }

  std::uint64_t leb(bool is_signed) {
    std::uint64_t value = 0;
    unsigned shift = 0;
    std::uint8_t byte = 0x80;
    for (; (byte & 0x80) != 0 && shift < 64; shift += 7) {
      byte = next<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7fu} << shift;
    }
    if (is_signed && (byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
    return value;
  }

  AddressSpace& memory_;
  std::uint64_t at_;
  bool good_ = true;
};

}  // namespace wicprof::cli
