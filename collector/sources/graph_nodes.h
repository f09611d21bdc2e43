// Whether the kernels of CUDA graphs are recorded one by one, or launches as a whole: CUPTI does one of both, and a
// step of 670 kernels took 1.3 times as long on an H100 with a record for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "protocol/time.h"

namespace wicprof::collector {

/// One by one until a graph has been seen so, then as a whole; and one by one again for a moment, now and then, while
/// graphs are launched of which only whole launches are known. Records tell what was launched, so that no launch takes
/// a callback. Where CUPTI delivers nothing of launches after a change, the change is given up. Any thread.
class GraphNodes {
 public:
  /// How long such a moment waits for a launch, and the least time between two (chosen: a period of the flusher each
  /// ten seconds costs a program with graphs at most a third of a percent).
  static constexpr TimeNs kLongest = kSecond;
  static constexpr TimeNs kRest = 10 * kSecond;
  /// Moments with launches but without a record of a node, after which there are no more.
  static constexpr int kMostFailures = 2;
  /// Launches in kRest without a record of one as a whole, after which there are only nodes: more than a program keeps
  /// in front of its device (chosen).
  static constexpr std::uint64_t kMostUnrecorded = 64;
  /// A program with more graphs makes them anew all the time.
  static constexpr std::size_t kMostGraphs = 4096;

  /// A record of a kernel in a graph.
  void node_seen(std::uint32_t graph);
  /// A record of a launch as a whole.
  void whole_seen(std::uint32_t graph);
  /// A record of the call that launches a graph, where calls are recorded.
  void call_seen();
  /// Once per period of the flusher, after the records so far have been read: whether to record nodes from now on.
  bool look(TimeNs now);
  /// The launches of which nothing was delivered, since the last call.
  std::uint64_t take_unrecorded();

 private:
  void change(bool nodes, TimeNs now);

  std::mutex mutex_;
  std::unordered_set<std::uint32_t> known_, unknown_;  // graphs whose nodes were seen; those launched as a whole only
  std::uint32_t last_ = 0;                             // most records are of the graph of the one before
  bool nodes_ = true, first_ = true, for_good_ = false;
  TimeNs changed_ = 0;
  // Since then.
  bool seen_ = false;
  std::uint64_t calls_ = 0;
  bool knows_calls_ = false;
  int failures_ = 0;
  std::uint64_t unrecorded_ = 0;
};

}  // namespace wicprof::collector
