#include "src/channel/segment_tree.h"

#include <algorithm>
#include <bit>

namespace wic {

namespace {

constexpr std::uint32_t kWord = 64;

// The bits in the word of pages first..end-1.
std::uint64_t bits_of(std::uint32_t word, std::uint32_t first, std::uint32_t end) {
  const std::uint32_t begin = word * kWord;
  const std::uint32_t low = std::max(first, begin) - begin, high = std::min(end, begin + kWord) - begin;
  return (~std::uint64_t{0} >> (kWord - (high - low))) << low;
}

// Calls call(position, length) for every run of set bits, lowest first, until it returns true.
template <class Call>
void each_run(std::uint64_t word, Call call) {
  for (std::uint32_t at = 0; word != 0;) {
    const auto gap = static_cast<std::uint32_t>(std::countr_zero(word));
    word >>= gap;
    at += gap;
    const auto length = static_cast<std::uint32_t>(std::countr_one(word));
    if (call(at, length) || length == kWord) return;
    word >>= length;
    at += length;
  }
}

}  // namespace

SegmentTree::SegmentTree(std::uint32_t pages)
    : pages_(pages),
      leaves_(std::bit_ceil(std::max((pages + kWord - 1) / kWord, 1u))),
      words_(leaves_),
      nodes_(std::size_t{2} * leaves_) {
  if (pages_ != 0) set(0, pages_, true);  // pages beyond the last stay taken
}

std::optional<std::uint32_t> SegmentTree::take(std::uint32_t run) {
  if (run == 0 || nodes_[1].longest < run) return std::nullopt;
  std::uint32_t node = 1, begin = 0, size = leaves_ * kWord;
  std::optional<std::uint32_t> first;
  while (!first && node < leaves_) {
    const Node& left = nodes_[2 * node];
    size /= 2;
    node *= 2;
    if (left.longest >= run) continue;
    if (left.right + nodes_[node + 1].left >= run) {
      first = begin + size - left.right;
    } else {
      ++node;
      begin += size;
    }
  }
  if (!first) {
    each_run(words_[node - leaves_], [&](std::uint32_t at, std::uint32_t length) {
      if (length >= run) first = begin + at;
      return first.has_value();
    });
  }
  set(*first, run, false);
  return first;
}

bool SegmentTree::give_back(std::uint32_t first, std::uint32_t run) {
  if (run == 0 || first >= pages_ || run > pages_ - first || !all_taken(first, run)) return false;
  set(first, run, true);
  return true;
}

void SegmentTree::set(std::uint32_t first, std::uint32_t run, bool is_free) {
  std::uint32_t low = first / kWord, high = (first + run - 1) / kWord;
  for (std::uint32_t word = low; word <= high; ++word) {
    const std::uint64_t bits = bits_of(word, first, first + run);
    words_[word] = is_free ? words_[word] | bits : words_[word] & ~bits;
    nodes_[leaves_ + word] = leaf(words_[word]);
  }
  low += leaves_;
  high += leaves_;
  for (std::uint32_t half = kWord; low > 1; half *= 2) {
    low /= 2;
    high /= 2;
    for (std::uint32_t node = low; node <= high; ++node) nodes_[node] = parent(node, half);
  }
}

bool SegmentTree::all_taken(std::uint32_t first, std::uint32_t run) const {
  for (std::uint32_t word = first / kWord; word <= (first + run - 1) / kWord; ++word) {
    if ((words_[word] & bits_of(word, first, first + run)) != 0) return false;
  }
  return true;
}

SegmentTree::Node SegmentTree::leaf(std::uint64_t word) {
  std::uint32_t longest = 0;
  each_run(word, [&](std::uint32_t, std::uint32_t length) {
    longest = std::max(longest, length);
    return false;
  });
  return {static_cast<std::uint32_t>(std::popcount(word)), longest, static_cast<std::uint32_t>(std::countr_one(word)),
          static_cast<std::uint32_t>(std::countl_one(word))};
}

SegmentTree::Node SegmentTree::parent(std::uint32_t node, std::uint32_t half) const {
  const Node& left = nodes_[2 * node];
  const Node& right = nodes_[2 * node + 1];
  return {left.free + right.free, std::max({left.longest, right.longest, left.right + right.left}),
          left.free == half ? half + right.left : left.left, right.free == half ? half + left.right : right.right};
}

}  // namespace wic
