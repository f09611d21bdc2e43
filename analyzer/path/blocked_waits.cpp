#include "analyzer/path/blocked_waits.h"

#include <algorithm>
#include <limits>

namespace wicprof::analyzer {
namespace {

std::uint64_t block_key(DeviceId device, std::uint32_t block) {
  return (std::uint64_t{static_cast<std::uint32_t>(device)} << 32) | block;
}

}  // namespace

BlockedWaits::BlockedWaits(const TraceModel& model, const Matching& matching) : model_(model) {
  std::vector<std::uint32_t>& sizes = position_;
  const auto held_up = [&](const WakeEdge& edge) {
    return !edge.host && model.signals[edge.signal].at > model.waits[edge.wait].arrived;
  };
  for (const WakeEdge& edge : matching.edges) {
    if (!held_up(edge)) continue;
    const store::WaitRow& wait = model.waits[edge.wait];
    const std::uint32_t block = blocks_.number(block_key(wait.device, wait.block));
    if (block == sizes.size()) sizes.push_back(0);
    ++sizes[block];
  }
  begins_.assign(sizes.size() + 1, 0);
  for (std::size_t i = 0; i < sizes.size(); ++i) begins_[i + 1] = begins_[i] + sizes[i];
  waits_.resize(begins_.back());
  std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
  std::vector<TimeNs> last(sizes.size(), std::numeric_limits<TimeNs>::min());
  std::vector<bool> in_order(sizes.size(), true);
  for (const WakeEdge& edge : matching.edges) {
    if (!held_up(edge)) continue;
    const store::WaitRow& wait = model.waits[edge.wait];
    const std::uint32_t block = blocks_.find(block_key(wait.device, wait.block));
    waits_[next[block]++] = {static_cast<std::uint32_t>(edge.wait), static_cast<std::uint32_t>(edge.signal)};
    if (wait.resumed < last[block]) in_order[block] = false;
    last[block] = wait.resumed;
  }
  // Edges are in order of arrival; the warps of a block may resume in another order.
  for (std::uint32_t block = 0; block < sizes.size(); ++block) {
    if (in_order[block]) continue;
    const auto earlier = [&](const Entry& a, const Entry& b) { return resumed(a) < resumed(b); };
    std::stable_sort(of(block).begin(), of(block).end(), earlier);
  }
}

std::optional<Blocked> BlockedWaits::last(DeviceId device, std::uint32_t block, TimeNs time) {
  const std::uint32_t number = blocks_.find(block_key(device, block));
  if (number == FlatIndex::kNone) return std::nullopt;
  const std::span<const Entry> all = of(number);
  std::uint32_t& after = position_[number];
  while (after < all.size() && resumed(all[after]) <= time) ++after;
  while (after > 0 && resumed(all[after - 1]) > time) --after;
  if (after == 0) return std::nullopt;
  const Entry& found = all[after - 1];
  return Blocked{resumed(found), found.signal, model_.waits[found.wait].site};
}

}  // namespace wicprof::analyzer
