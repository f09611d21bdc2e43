#include "collector/sources/graph_nodes.h"

namespace wicprof::collector {

void GraphNodes::node_seen(std::uint32_t graph) {
  const std::lock_guard lock(mutex_);
  if (seen_ && graph == last_node_) return;
  seen_ = true;
  last_node_ = graph;
  unknown_.erase(graph);
  if (known_.size() < kMostGraphs) known_.insert(graph);
}

void GraphNodes::whole_seen(std::uint32_t graph) {
  const std::lock_guard lock(mutex_);
  if (graph == last_whole_ && unknown_.empty()) return;
  last_whole_ = graph;
  if (!known_.contains(graph) && known_.size() < kMostGraphs && unknown_.size() < kMostGraphs) unknown_.insert(graph);
}

bool GraphNodes::look(TimeNs now) {
  const std::lock_guard lock(mutex_);
  if (nodes_) {
    const bool over = !first_ && now - changed_ >= kLongest;
    if (!seen_ && !over) return true;
    if (!seen_) ++failures_;
    nodes_ = first_ = false;
    changed_ = now;
  } else if (!unknown_.empty() && failures_ < kMostFailures && now - changed_ >= kRest) {
    nodes_ = true;
    seen_ = false;
    changed_ = now;
  }
  return nodes_;
}

}  // namespace wicprof::collector
