// Allocates runs of message pages (PCM): always the lowest contiguous run that is long enough, in O(log pages).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace wic {

/// Pages are numbered 0..pages-1; all are free at first. One thread at a time. No allocation after construction.
class SegmentTree {
 public:
  /// `pages`: up to 2^30; the memory is that of the next power of two.
  explicit SegmentTree(std::uint32_t pages);

  /// Takes the lowest `run` contiguous free pages and returns the first; nothing if no run is that long, or for a run
  /// of 0. O(log pages + run / 64).
  std::optional<std::uint32_t> take(std::uint32_t run);

  /// Frees pages first..first+run-1; they need not have been taken as one run. False, without a change, if one of them
  /// is not taken or does not exist, or for a run of 0. O(log pages + run / 64).
  bool give_back(std::uint32_t first, std::uint32_t run);

  std::uint32_t free_pages() const { return nodes_[1].free; }
  std::uint32_t longest_run() const { return nodes_[1].longest; }

 private:
  // Free pages below a node: their number, the longest run, and the runs at the left and the right edge.
  struct Node {
    std::uint32_t free, longest, left, right;
  };

  void set(std::uint32_t first, std::uint32_t run, bool is_free);
  bool all_taken(std::uint32_t first, std::uint32_t run) const;
  static Node leaf(std::uint64_t word);
  Node parent(std::uint32_t node, std::uint32_t half) const;

  std::uint32_t pages_, leaves_;
  std::vector<std::uint64_t> words_;  // 64 pages per leaf: a set bit is a free page
  std::vector<Node> nodes_;           // [1] is the root, the children of n are 2n and 2n + 1, leaves from [leaves_] on
};

}  // namespace wic
