#include "src/segment_tree.h"

#include <algorithm>
#include <bit>

namespace wic {

SegmentTree::SegmentTree(std::uint32_t pages)
    : pages_(pages), leaves_(std::bit_ceil(std::max(pages, 1u))), nodes_(std::size_t{2} * leaves_) {
  nodes_[1] = uniform(leaves_, false);  // leaves beyond the last page stay taken for ever
  if (pages_ != 0) set(1, {0, leaves_}, {0, pages_}, true);
}

std::optional<std::uint32_t> SegmentTree::take(std::uint32_t run) {
  if (run == 0 || nodes_[1].longest < run) return std::nullopt;
  std::uint32_t node = 1;
  Range pages{0, leaves_};
  std::uint32_t first = 0;
  while (true) {
    const std::uint32_t size = pages.end - pages.begin, middle = pages.begin + size / 2;
    if (nodes_[node].free == size) {  // the left edge of what is wholly free
      first = pages.begin;
      break;
    }
    const Node& left = nodes_[2 * node];
    const Node& right = nodes_[2 * node + 1];
    if (left.longest >= run) {
      node = 2 * node;
      pages.end = middle;
    } else if (left.right + right.left >= run) {
      first = middle - left.right;
      break;
    } else {
      node = 2 * node + 1;
      pages.begin = middle;
    }
  }
  set(1, {0, leaves_}, {first, first + run}, false);
  return first;
}

bool SegmentTree::give_back(std::uint32_t first, std::uint32_t run) {
  if (run == 0 || first >= pages_ || run > pages_ - first) return false;
  const Range wanted{first, first + run};
  if (!all_taken(1, {0, leaves_}, wanted)) return false;
  set(1, {0, leaves_}, wanted, true);
  return true;
}

SegmentTree::Node SegmentTree::uniform(std::uint32_t pages, bool is_free) {
  return is_free ? Node{pages, pages, pages, pages} : Node{0, 0, 0, 0};
}

// `wanted` has a page in common with `pages`, those of the node.
void SegmentTree::set(std::uint32_t node, Range pages, Range wanted, bool is_free) {
  const std::uint32_t size = pages.end - pages.begin, middle = pages.begin + size / 2;
  if (wanted.begin <= pages.begin && pages.end <= wanted.end) {
    nodes_[node] = uniform(size, is_free);
    return;
  }
  pass_down(node, size);
  if (wanted.begin < middle) set(2 * node, {pages.begin, middle}, wanted, is_free);
  if (wanted.end > middle) set(2 * node + 1, {middle, pages.end}, wanted, is_free);
  gather(node, size);
}

bool SegmentTree::all_taken(std::uint32_t node, Range pages, Range wanted) const {
  const std::uint32_t size = pages.end - pages.begin, middle = pages.begin + size / 2;
  if (nodes_[node].free == 0) return true;
  if (nodes_[node].free == size) return false;
  if (wanted.begin <= pages.begin && pages.end <= wanted.end) return false;
  return (wanted.begin >= middle || all_taken(2 * node, {pages.begin, middle}, wanted)) &&
         (wanted.end <= middle || all_taken(2 * node + 1, {middle, pages.end}, wanted));
}

void SegmentTree::pass_down(std::uint32_t node, std::uint32_t pages) {
  const bool is_free = nodes_[node].free == pages;
  if (!is_free && nodes_[node].free != 0) return;
  nodes_[2 * node] = nodes_[2 * node + 1] = uniform(pages / 2, is_free);
}

void SegmentTree::gather(std::uint32_t node, std::uint32_t pages) {
  const Node& left = nodes_[2 * node];
  const Node& right = nodes_[2 * node + 1];
  nodes_[node] = {left.free + right.free, std::max({left.longest, right.longest, left.right + right.left}),
                  left.free == pages / 2 ? left.free + right.left : left.left,
                  right.free == pages / 2 ? right.free + left.right : right.right};
}

}  // namespace wic
