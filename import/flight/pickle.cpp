#include "import/flight/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <unordered_map>

namespace wicprof::imports {

namespace {
const std::vector<Pickle::Id> kNothing;
}

/// The stack machine that a pickle is a program of.
class Pickle::Machine {
 public:
  Machine(std::string_view bytes, Pickle& to) : bytes_(bytes), to_(to) {}

  Result<> run() {
    while (!done_) {
      began_ = at_;
      const auto operation = take(1);
      if (!operation) return ends_early();
      if (!step((*operation)[0])) return problem_ ? *problem_ : ends_early();
    }
    return ok();
  }

 private:
  // One operation. False: it is refused, or the bytes end.
  bool step(char operation) {
    switch (operation) {
      case '\x80':  // PROTO
        return take(1).has_value();
      case '\x95':  // FRAME
        return take(8).has_value();
      case '.':
        return stop();
      case '(':
        marks_.push_back(stack_.size());
        return true;
      case '0':
        return pop().has_value();
      case 'N':
        return push({});
      case '\x88':
        return push({Kind::boolean, 1});
      case '\x89':
        return push({Kind::boolean, 0});
      case 'J':
        return push_number(4, true);
      case 'K':
        return push_number(1, false);
      case 'M':
        return push_number(2, false);
      case '\x8a':
        return push_long();
      case 'G':  // a real number, in the other byte order: no part of a dump needs its value
        return take(8) && push({Kind::real});
      case 'X':
      case 'B':
      case 'T':
        return push_text(4);
      case '\x8c':
      case 'C':
      case 'U':
        return push_text(1);
      case '\x8d':
      case '\x8e':
        return push_text(8);
      case ']':
      case ')':
        return push({Kind::sequence});
      case '}':
        return push({Kind::dictionary});
      case 'l':
      case 't':
        return gather(Kind::sequence);
      case 'd':
        return gather(Kind::dictionary);
      case '\x85':
      case '\x86':
      case '\x87':
        return tuple(static_cast<std::size_t>(operation - '\x85') + 1);
      case 'a':
        return append(1, Kind::sequence);
      case 'e':
        return append_to_mark(Kind::sequence);
      case 's':
        return append(2, Kind::dictionary);
      case 'u':
        return append_to_mark(Kind::dictionary);
      case 'q':
        return put(1);
      case 'r':
        return put(4);
      case '\x94':
        return put_next();
      case 'h':
        return get(1);
      case 'j':
        return get(4);
      default:
        return refuse(operation);
    }
  }

  std::optional<std::string_view> take(std::uint64_t bytes) {
    if (bytes > bytes_.size() - at_) return std::nullopt;
    const std::string_view taken = bytes_.substr(at_, bytes);
    at_ += bytes;
    return taken;
  }
  std::optional<std::uint64_t> number(std::size_t bytes) {
    const auto taken = take(bytes);
    if (!taken) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>((*taken)[i]);
    return value;
  }

  bool push(Value value) {
    if (to_.values_.size() == std::numeric_limits<Id>::max()) return fail("has too many values");
    stack_.push_back(static_cast<Id>(to_.values_.size()));
    to_.values_.push_back(std::move(value));
    return true;
  }
  std::optional<Id> pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) {
      fail("takes a value that is not there");
      return std::nullopt;
    }
    const Id top = stack_.back();
    stack_.pop_back();
    return top;
  }
  bool push_number(std::size_t bytes, bool is_signed) {
    const auto value = number(bytes);
    if (!value) return false;
    const auto integer = is_signed ? static_cast<std::int32_t>(*value) : static_cast<std::int64_t>(*value);
    return push({Kind::integer, integer});
  }
  bool push_long() {
    const auto bytes = number(1);
    if (!bytes) return false;
    if (*bytes > 8) return take(*bytes) && push({Kind::real});
    const auto value = number(*bytes);
    if (!value) return false;
    const unsigned unused = 64 - 8 * static_cast<unsigned>(*bytes);
    return push({Kind::integer, *bytes == 0 ? 0 : static_cast<std::int64_t>(*value << unused) >> unused});
  }
  bool push_text(std::size_t bytes_of_length) {
    const auto length = number(bytes_of_length);
    if (!length) return false;
    const auto text = take(*length);
    return text && push({Kind::text, 0, *text});
  }

  std::optional<std::size_t> pop_mark() {
    if (marks_.empty()) {
      fail("has no mark");
      return std::nullopt;
    }
    const std::size_t mark = marks_.back();
    marks_.pop_back();
    return mark;
  }
  bool gather(Kind kind) {
    const auto mark = pop_mark();
    if (!mark) return false;
    const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(*mark);
    Value value{kind, 0, {}, {from, stack_.end()}};
    if (kind == Kind::dictionary && value.parts.size() % 2 != 0) return fail("has a key without a value");
    stack_.erase(from, stack_.end());
    return push(std::move(value));
  }
  bool tuple(std::size_t size) {
    if (stack_.size() < size + (marks_.empty() ? 0 : marks_.back())) return fail("takes a value that is not there");
    const auto from = stack_.end() - static_cast<std::ptrdiff_t>(size);
    Value value{Kind::sequence, 0, {}, {from, stack_.end()}};
    stack_.erase(from, stack_.end());
    return push(std::move(value));
  }
  bool append(std::size_t size, Kind kind) {
    if (stack_.size() < size + 1) return fail("takes a value that is not there");
    return extend(stack_.size() - size, kind);
  }
  bool append_to_mark(Kind kind) {
    const auto mark = pop_mark();
    if (!mark) return false;
    if (*mark == 0) return fail("takes a value that is not there");
    return extend(*mark, kind);
  }
  bool extend(std::size_t from, Kind kind) {
    if (from < (marks_.empty() ? 0 : marks_.back()) + 1) return fail("takes a value that is not there");
    Value& value = to_.values_[stack_[from - 1]];
    if (value.kind != kind) return fail("adds to a value of another kind");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(from);
    if (kind == Kind::dictionary && (stack_.end() - begin) % 2 != 0) return fail("has a key without a value");
    value.parts.insert(value.parts.end(), begin, stack_.end());
    stack_.erase(begin, stack_.end());
    return true;
  }

  bool put(std::size_t bytes) {
    const auto key = number(bytes);
    if (!key) return false;
    if (stack_.empty()) return fail("names a value that is not there");
    memo_[static_cast<std::uint32_t>(*key)] = stack_.back();
    return true;
  }
  bool put_next() {
    if (stack_.empty()) return fail("names a value that is not there");
    const auto key = static_cast<std::uint32_t>(memo_.size());
    memo_[key] = stack_.back();
    return true;
  }
  bool get(std::size_t bytes) {
    const auto key = number(bytes);
    if (!key) return false;
    const auto known = memo_.find(static_cast<std::uint32_t>(*key));
    if (known == memo_.end()) return fail("names a value that is not there");
    stack_.push_back(known->second);
    return true;
  }
  bool stop() {
    const auto root = pop();
    if (!root) return false;
    to_.root_ = *root;
    return done_ = true;
  }

  bool refuse(char operation) {
    return fail(
        fmt::format("uses operation 0x{:02x}, which a dump of plain values does not have: it may run code where "
                    "Python reads it",
                    static_cast<unsigned>(static_cast<unsigned char>(operation))));
  }
  bool fail(const std::string& what) {
    problem_ = bad_input(fmt::format("the pickle {}, at byte {}", what, began_));
    return false;
  }
  Error ends_early() const {
    return bad_input(fmt::format("the pickle ends early, in the operation at byte {}", began_));
  }

  std::string_view bytes_;
  Pickle& to_;
  std::size_t at_ = 0, began_ = 0;
  std::vector<Id> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint32_t, Id> memo_;
  std::optional<Error> problem_;
  bool done_ = false;
};

Result<Pickle> Pickle::read(std::string_view bytes) {
  Pickle pickle;
  if (const Result<> run = Machine(bytes, pickle).run(); !run) return run.error();
  return pickle;
}

std::optional<std::int64_t> Pickle::integer(std::optional<Id> id) const {
  const Value* const found = value(id);
  if (found == nullptr || (found->kind != Kind::integer && found->kind != Kind::boolean)) return std::nullopt;
  return found->integer;
}

std::string_view Pickle::text(std::optional<Id> id) const {
  const Value* const found = value(id);
  return found != nullptr && found->kind == Kind::text ? found->text : std::string_view();
}

const std::vector<Pickle::Id>& Pickle::parts(std::optional<Id> id) const {
  const Value* const found = value(id);
  return found != nullptr && found->kind == Kind::sequence ? found->parts : kNothing;
}

const std::vector<Pickle::Id>& Pickle::pairs(std::optional<Id> id) const {
  const Value* const found = value(id);
  return found != nullptr && found->kind == Kind::dictionary ? found->parts : kNothing;
}

std::optional<Pickle::Id> Pickle::at(std::optional<Id> dictionary, std::string_view key) const {
  const std::vector<Id>& all = pairs(dictionary);
  for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
    const Value* const name = value(all[i]);
    if (name != nullptr && name->kind == Kind::text && name->text == key) return all[i + 1];
  }
  return std::nullopt;
}

}  // namespace wicprof::imports
