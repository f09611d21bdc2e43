// The bytes of a text file, unpacked where it is packed by gzip, in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "protocol/result.h"

namespace wicprof::imports {

/// One thread.
class Bytes {
 public:
  static Result<Bytes> open(const std::string& path);
  /// Of bytes in memory, for tests.
  explicit Bytes(std::string_view bytes);
  Bytes(Bytes&&) noexcept;
  Bytes& operator=(Bytes&&) noexcept;
  ~Bytes();

  /// Whether there is no further byte: the end, or an error.
  bool at_end() { return next_ == end_ && !refill(); }
  const char& byte() const { return *next_; }
  void advance() { ++next_; }

  /// No text of JSON may be longer than this many bytes; a longer one ends the bytes with an error.
  static constexpr std::uint64_t kMostPerText = std::uint64_t{64} << 20;
  void text_ends() { since_text_ = position(); }

  std::uint64_t position() const { return before_ + static_cast<std::uint64_t>(next_ - begin_); }
  /// Of the file, 0 to 1.
  double part() const;
  /// Why the bytes ended; empty: the file did.
  const std::string& error() const { return error_; }

 private:
  struct Packed;
  Bytes();
  bool refill();
  bool read_more();

  int file_ = -1;
  std::uint64_t file_bytes_ = 0, read_ = 0, before_ = 0, since_text_ = 0;
  std::vector<char> raw_, unpacked_;
  const char *begin_ = nullptr, *next_ = nullptr, *end_ = nullptr;
  std::unique_ptr<Packed> packed_;  // null: not packed
  std::string error_;
};

/// For a parser that takes iterators.
class ByteIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  ByteIterator() = default;
  explicit ByteIterator(Bytes& bytes) : bytes_(&bytes) {}
  reference operator*() const { return bytes_->byte(); }
  ByteIterator& operator++() {
    bytes_->advance();
    return *this;
  }
  ByteIterator operator++(int) {
    ByteIterator before = *this;
    bytes_->advance();
    return before;
  }
  bool operator==(const ByteIterator& other) const { return is_end() == other.is_end(); }

 private:
  bool is_end() const { return bytes_ == nullptr || bytes_->at_end(); }
  Bytes* bytes_ = nullptr;
};

}  // namespace wicprof::imports
