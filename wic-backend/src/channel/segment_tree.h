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
  /// or for a run of 0. O(log pages + run / 64).
  std::optional<std::uint32_t> take(std::uint32_t run);

  /// Frees pages first..first+run-1, which need not be one run as it was taken. False, and nothing changes, when one of
  /// them is not taken or does not exist, or for a run of 0. O(log pages + run / 64).
  bool give_back(std::uint32_t first, std::uint32_t run);

  std::uint32_t free_pages() const { return nodes_[1].free; }
  std::uint32_t longest_run() const { return nodes_[1].longest; }

 private:
  // Free pages below a node: how many, the longest run, and the runs at the left and the right edge.
  struct Node {
    std::uint32_t free, longest, left, right;
  };

  void set(std::uint32_t first, std::uint32_t run, bool is_free);
  bool all_taken(std::uint32_t first, std::uint32_t run) const;
  static Node leaf(std::uint64_t word);
  Node parent(std::uint32_t node, std::uint32_t half) const;

  std::uint32_t pages_, leaves_;
  std::vector<std::uint64_t> words_;  // below each leaf, 64 pages: a bit is set where the page is free
  std::vector<Node> nodes_;           // [1] is the root, the children of n are 2n and 2n + 1, leaves from [leaves_] on
};

}  // namespace wic
