#include "collector/sources/graph_nodes.h"

namespace wicprof::collector {

void GraphNodes::node_seen(std::uint32_t graph) {
  const std::lock_guard lock(mutex_);
  if (nodes_) {
    if (seen_ && graph == last_) return;
    seen_ = true;
    last_ = graph;
  }
  unknown_.erase(graph);
  if (known_.size() < kMostGraphs) known_.insert(graph);
}

void GraphNodes::whole_seen(std::uint32_t graph) {
  const std::lock_guard lock(mutex_);
  if (nodes_) return;  // launched before the change
  if (seen_ && graph == last_) return;
  seen_ = true;
  last_ = graph;
  if (!known_.contains(graph) && known_.size() < kMostGraphs && unknown_.size() < kMostGraphs) unknown_.insert(graph);
}

void GraphNodes::call_seen() {
  const std::lock_guard lock(mutex_);
  knows_calls_ = true;
  ++calls_;
}

bool GraphNodes::look(TimeNs now) {
  const std::lock_guard lock(mutex_);
  if (for_good_) return true;
  if (nodes_) {
    const bool over = !first_ && now - changed_ >= kLongest;
    if (!seen_ && !over) return true;
    if (!seen_ && (calls_ > 0 || !knows_calls_)) {
      ++failures_;
      unrecorded_ += calls_;
    }
    change(false, now);
    unknown_.clear();  // of those that were not launched meanwhile, a launch will come as a whole again
  } else if (!seen_ && calls_ >= kMostUnrecorded && now - changed_ >= kRest) {
    unrecorded_ += calls_;
    change(true, now);
    for_good_ = true;
  } else if (!unknown_.empty() && failures_ < kMostFailures && now - changed_ >= kRest) {
    change(true, now);
  }
  return nodes_;
}

void GraphNodes::change(bool nodes, TimeNs now) {
  nodes_ = nodes;
  first_ = seen_ = false;
  changed_ = now;
  calls_ = 0;
}

std::uint64_t GraphNodes::take_unrecorded() {
  const std::lock_guard lock(mutex_);
  return std::exchange(unrecorded_, 0);
}

}  // namespace wicprof::collector
