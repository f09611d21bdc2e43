// Numbers at places in foreign bytes, little endian.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace wicprof::rewriter {

/// The value at `offset`; nothing where the bytes end before. Nothing is assumed to be aligned.
template <class Value>
std::optional<Value> value_at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Value)) return std::nullopt;
  Value value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// The `size` bytes at `offset`; nothing where they do not lie inside `bytes`.
inline std::optional<std::string_view> part_at(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.substr(offset, size);
}

/// The text at `offset` up to a NUL; nothing where no NUL follows.
inline std::optional<std::string_view> text_at(std::string_view bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return std::nullopt;
  const std::size_t end = bytes.find('\0', offset);
  if (end == std::string_view::npos) return std::nullopt;
  return bytes.substr(offset, end - offset);
}

}  // namespace wicprof::rewriter
