// Hands out runs of message pages (PCM): always the lowest contiguous run that is long enough, in O(log pages).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace wic {

/// Pages are numbered 0..pages-1 and all free at first. One thread at a time. No allocation after construction.
class SegmentTree {
 public:
  /// `pages`: up to 2^30. A number that is no power of two costs the memory of the next one.
  explicit SegmentTree(std::uint32_t pages);

  /// The first page of the lowest `run` contiguous free pages, which are then taken; nothing when no run is that long,
  /// or for a run of 0. O(log pages).
  std::optional<std::uint32_t> take(std::uint32_t run);

  /// Frees pages first..first+run-1, which need not be one run as it was taken. False, and nothing changes, when one of
  /// them is not taken or does not exist, or for a run of 0. O(log pages).
  bool give_back(std::uint32_t first, std::uint32_t run);

  std::uint32_t free_pages() const { return nodes_[1].free; }
  std::uint32_t longest_run() const { return nodes_[1].longest; }

 private:
  // Counts of free pages below a node. One that is wholly free or wholly taken speaks for all below it, whose own
  // counts may be out of date until pass_down().
  struct Node {
    std::uint32_t free, longest, left, right;  // the last two: runs at the left and the right edge
  };
  struct Range {
    std::uint32_t begin, end;
  };

  static Node uniform(std::uint32_t pages, bool is_free);
  void set(std::uint32_t node, Range pages, Range wanted, bool is_free);
  bool all_taken(std::uint32_t node, Range pages, Range wanted) const;
  void pass_down(std::uint32_t node, std::uint32_t pages);
  void gather(std::uint32_t node, std::uint32_t pages);

  std::uint32_t pages_, leaves_;
  std::vector<Node> nodes_;  // [1] is the root; the children of n are 2n and 2n + 1
};

}  // namespace wic
