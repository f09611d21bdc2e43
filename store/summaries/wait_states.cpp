#include "store/summaries/wait_states.h"

#include <algorithm>
#include <optional>

namespace wicprof::store {

namespace {

constexpr std::uint32_t kWarp = 32;      // threads
constexpr std::uint32_t kMaxWarps = 32;  // per block

std::uint64_t product(const std::uint32_t (&shape)[3]) { return std::uint64_t{shape[0]} * shape[1] * shape[2]; }

std::uint64_t block_key(const WaitPlace& wait) {
  return (std::uint64_t{static_cast<std::uint32_t>(wait.device)} << 32) | wait.block;
}

/// The number of warps of a block; nothing if the running kernels that may contain the block differ in it.
std::optional<std::uint32_t> warps_of_block(const std::vector<KernelShape>& running, std::uint32_t block) {
  std::optional<std::uint32_t> warps;
  for (const KernelShape& kernel : running) {
    if (block >= kernel.blocks) continue;
    if (warps && *warps != kernel.warps) return std::nullopt;
    warps = kernel.warps;
  }
  return warps;
}

}  // namespace

bool has_leader(StrategyId strategy) {
  switch (strategy) {
    case StrategyId::leader_bar_sync:
    case StrategyId::leader_mbarrier:
    case StrategyId::leader_mbarrier_hint:
    case StrategyId::shared_watch:
    case StrategyId::naive:
      return true;
    default:
      return false;
  }
}

KernelShape shape_of(const KernelRow& kernel) {
  // Any block may be of a whole graph, with an unknown number of warps.
  if (kernel.is_graph()) return {kernel.device, kernel.start, kernel.end, ~std::uint64_t{0}, 0};
  return {kernel.device, kernel.start, kernel.end, product(kernel.grid),
          static_cast<std::uint32_t>((product(kernel.block) + kWarp - 1) / kWarp)};
}

bool WaitStates::polls_as(SiteId site, Pollers pollers) const {
  const auto found = pollers_.find(site);
  return found != pollers_.end() && found->second == pollers;
}

void WaitStates::add_wait(const WaitPlace& wait) {
  if (wait.warp < kMaxWarps && polls_as(wait.site, Pollers::leader)) leaders_[block_key(wait)] |= 1u << wait.warp;
}

/// The first leader after this wait's warp, or `limit` if there is none.
std::uint32_t WaitStates::next_leader(const WaitPlace& wait, std::uint32_t limit) const {
  const auto found = leaders_.find(block_key(wait));
  for (std::uint32_t warp = wait.warp + 1; found != leaders_.end() && warp < limit; ++warp) {
    if ((found->second >> warp) & 1u) return warp;
  }
  return limit;
}

std::uint32_t WaitStates::others(const WaitPlace& wait) {
  const auto device = running_.find(wait.device);
  if (device == running_.end() || wait.warp >= kMaxWarps || !polls_as(wait.site, Pollers::leader)) return 0;
  std::erase_if(device->second, [&](const KernelShape& kernel) { return kernel.end < wait.arrived; });
  const auto warps = warps_of_block(device->second, wait.block);
  if (!warps || *warps <= wait.warp) return 0;
  return next_leader(wait, std::min(*warps, kMaxWarps)) - wait.warp - 1;
}

WaitStates::Own WaitStates::own(const WaitRow& wait) const {
  const State last = state_under(wait.strategy);
  if (wait.switched && *wait.switched > wait.arrived && *wait.switched < wait.resumed)
    return {other_way(last), last, *wait.switched};
  const bool behind = wait.polls == 0 && has_leader(wait.strategy) && polls_as(wait.site, Pollers::each_thread);
  return {behind ? State::at_barrier : last, behind ? State::at_barrier : last, wait.arrived};
}

}  // namespace wicprof::store
