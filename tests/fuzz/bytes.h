// Takes numbers and texts from the front of an input. An input that is too short continues with zeros.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace wicprof::fuzz {

class Bytes {
 public:
  explicit Bytes(std::string_view input) : left_(input) {}

  bool empty() const { return left_.empty(); }
  std::string_view rest() const { return left_; }

  template <class Number>
  Number take() {
    static_assert(std::is_trivially_copyable_v<Number>);
    Number number{};
    fill(&number, sizeof number);
    return number;
  }
  /// Copies the next bytes over the beginning of `to`.
  void fill(void* to, std::size_t bytes) {
    const std::string_view some = text(bytes);
    if (!some.empty()) std::memcpy(to, some.data(), some.size());
  }
  /// The next bytes; fewer at the end.
  std::string_view text(std::size_t bytes) {
    const std::string_view some = left_.substr(0, std::min(bytes, left_.size()));
    left_.remove_prefix(some.size());
    return some;
  }
  /// A number in one byte that covers edge cases and values near each other, as times and ids are.
  std::uint64_t number() {
    const auto form = take<std::uint8_t>();
    switch (form >> 5) {
      case 0:
        return form;  // 0 to 31
      case 1:
        return std::uint64_t{1'000'000'000'000} + take<std::uint8_t>() * 1000u;  // a time
      case 2:
        return std::uint64_t{1'000'000'000'000} + take<std::uint32_t>();  // a time
      case 3:
        return take<std::uint16_t>();
      case 4:
        return take<std::uint32_t>();
      case 5:
        return (std::uint64_t{1} << (form & 31) << 31) - 1;
      case 6:
        return ~std::uint64_t{form & 31u};
      default:
        return take<std::uint64_t>();
    }
  }

 private:
  std::string_view left_;
};

/// Appends a number's bytes to a seed.
template <class Number>
void append(std::string& seed, const Number& number) {
  seed.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace wicprof::fuzz
