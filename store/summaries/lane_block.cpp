#include "store/summaries/lane_block.h"

#include <limits>

namespace wicprof::store {

namespace {

// A list is a sequence of numbers with seven bits per byte; after each 0 follows the number of further zeros.

void put_number(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}

template <class List>
void put_list(std::string& bytes, const List& list) {
  for (std::size_t i = 0; i < list.size();) {
    put_number(bytes, static_cast<std::uint64_t>(list[i]));
    if (list[i++] != 0) continue;
    const std::size_t first = i;
    while (i < list.size() && list[i] == 0) ++i;
    put_number(bytes, i - first);
  }
}

class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.size()) break;
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    good_ = false;
    return 0;
  }
  template <class T>
  std::vector<T> list() {
    std::vector<T> values(kBlockColumns);
    for (std::size_t i = 0; i < values.size() && good_;) {
      const std::uint64_t value = number();
      if (value > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) good_ = false;
      values[i++] = static_cast<T>(value);
      if (value != 0) continue;
      const std::uint64_t more = number();
      if (more > values.size() - i) good_ = false;
      i += good_ ? more : 0;
    }
    return values;
  }
  bool good() const { return good_; }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool good_ = true;
};
}  // namespace

std::string pack_block(const LaneBlock& block) {
  std::string bytes;
  put_list(bytes, block.begins);
  for (std::size_t s = 0; s < kStates; ++s) {
    if (block.time[s].empty()) continue;
    put_number(bytes, s);
    put_list(bytes, block.time[s]);
  }
  return bytes;
}

Result<LaneBlock> unpack_block(std::string_view text, int level, std::int64_t number) {
  Bytes bytes(text);
  LaneBlock block{level, number, bytes.list<std::uint32_t>(), {}};
  while (bytes.good() && !bytes.at_end()) {
    const std::uint64_t state = bytes.number();
    if (state >= kStates) return bad_input("an unknown state");
    block.time[state] = bytes.list<std::int64_t>();
  }
  if (!bytes.good()) return bad_input("a truncated block");
  return block;
}
}  // namespace wicprof::store
