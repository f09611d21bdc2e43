// Whether the kernels of CUDA graphs are recorded one by one, or launches as a whole: CUPTI does one of both, and a
// step of 670 kernels took 1.3 times as long on an H100 with a record for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_set>

#include "protocol/time.h"

namespace wicprof::collector {

/// One by one until a graph has been seen so, then as a whole; and one by one again for a moment, now and then, while
/// there are graphs of which only whole launches are known. Records tell what was launched, so that no launch takes a
/// callback. Any thread.
class GraphNodes {
 public:
  /// How long such a moment waits for a launch, and the least time between two (chosen: a period of the flusher each
  /// ten seconds costs a program with graphs at most a third of a percent).
  static constexpr TimeNs kLongest = kSecond;
  static constexpr TimeNs kRest = 10 * kSecond;
  /// Moments without a record of a node, after which there are no more.
  static constexpr int kMostFailures = 2;
  /// A program with more graphs makes them anew all the time.
  static constexpr std::size_t kMostGraphs = 4096;

  /// A record of a kernel in a graph.
  void node_seen(std::uint32_t graph);
  /// A record of a launch as a whole.
  void whole_seen(std::uint32_t graph);
  /// Once per period of the flusher, after the records so far have been read: whether to record nodes from now on.
  bool look(TimeNs now);

 private:
  std::mutex mutex_;
  std::unordered_set<std::uint32_t> known_, unknown_;  // graphs whose nodes were seen; those launched as a whole only
  std::uint32_t last_node_ = 0, last_whole_ = 0;       // most records are of the graph of the one before
  bool nodes_ = true, seen_ = false;                   // seen_: a node, since nodes_ is true
  bool first_ = true;                                  // nodes_ has been true since the start
  TimeNs changed_ = 0;
  int failures_ = 0;
};

}  // namespace wicprof::collector
