// Reads a pickle of plain values: numbers, texts, lists, tuples and dictionaries. What would import a name or call
// anything is refused, so that a file cannot run code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/result.h"

namespace wicprof::imports {

/// The values of one pickle. A value may be part of several, and of itself: follow them only to a known depth.
class Pickle {
 public:
  using Id = std::uint32_t;

  /// Error: names the operation and its byte.
  static Result<Pickle> read(std::string_view bytes);

  Id root() const { return root_; }
  /// Nothing for a value of another kind, or an id that is empty.
  std::optional<std::int64_t> integer(std::optional<Id> value) const;
  std::string_view text(std::optional<Id> value) const;
  /// The parts of a list or a tuple.
  const std::vector<Id>& parts(std::optional<Id> value) const;
  /// Keys and values of a dictionary, in turn.
  const std::vector<Id>& pairs(std::optional<Id> value) const;
  /// The value of a dictionary at a key that is a text.
  std::optional<Id> at(std::optional<Id> dictionary, std::string_view key) const;

 private:
  enum class Kind : std::uint8_t { none, boolean, integer, real, text, sequence, dictionary };
  struct Value {
    Kind kind = Kind::none;
    std::int64_t integer = 0;
    std::string_view text = {};
    std::vector<Id> parts = {};
  };
  class Machine;

  const Value* value(std::optional<Id> id) const { return id && *id < values_.size() ? &values_[*id] : nullptr; }

  std::vector<Value> values_;
  Id root_ = 0;
};

}  // namespace wicprof::imports
