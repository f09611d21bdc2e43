#include "analyzer/wait_states.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "analyzer/wait_kernels.h"

namespace wicprof::analyzer {

namespace {

constexpr std::uint32_t kWarp = 32;

std::uint32_t product(const std::uint32_t (&shape)[3]) { return shape[0] * shape[1] * shape[2]; }

/// The warps of the waiting block; nothing where it is not clear which of the running kernels it belongs to.
std::optional<std::uint32_t> warps_of_block(const TraceModel& model, const std::vector<std::uint32_t>& running, std::uint32_t block) {
  std::optional<std::uint32_t> warps;
  for (const std::uint32_t k : running) {
    const store::KernelRow& kernel = model.kernels[k];
    if (block >= product(kernel.grid)) continue;
    const std::uint32_t its = (product(kernel.block) + kWarp - 1) / kWarp;
    if (warps && *warps != its) return std::nullopt;
    warps = its;
  }
  return warps;
}

/// The warps that lead a group of their block, one bit each (a block has at most 32 warps).
class Leaders {
 public:
  void add(const store::WaitRow& wait) {
    if (wait.warp < kWarp) bits_[key(wait)] |= 1u << wait.warp;
  }
  /// The first leader after this wait's; `upto` where there is none.
  std::uint32_t next(const store::WaitRow& wait, std::uint32_t upto) const {
    const std::uint32_t bits = bits_.at(key(wait));
    for (std::uint32_t warp = wait.warp + 1; warp < upto; ++warp) {
      if ((bits >> warp) & 1u) return warp;
    }
    return upto;
  }

 private:
  static std::uint64_t key(const store::WaitRow& wait) { return (std::uint64_t{static_cast<std::uint32_t>(wait.device)} << 32) | wait.block; }
  std::unordered_map<std::uint64_t, std::uint32_t> bits_;
};

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

WaitStates::WaitStates(const TraceModel& model) : model_(model) {
  if (model.kernels.empty()) return;
  std::map<SiteId, bool> led;
  for (const store::SiteRow& site : model.sites) led[site.id] = site.pollers == Pollers::leader;
  const auto one_polls = [&](const store::WaitRow& wait) {
    const auto found = led.find(wait.site);
    return found != led.end() && found->second;
  };
  Leaders leaders;
  for (const store::WaitRow& wait : model.waits) {
    if (one_polls(wait)) leaders.add(wait);
  }
  std::map<DeviceId, RunningKernels> devices = running_kernels(model);
  others_.assign(model.waits.size(), 0);
  for (std::size_t i = 0; i < model.waits.size(); ++i) {
    const store::WaitRow& wait = model.waits[i];
    const auto device = devices.find(wait.device);
    if (device == devices.end() || wait.warp >= kWarp || !one_polls(wait)) continue;
    device->second.advance(model, wait.arrived);
    const auto warps = warps_of_block(model, device->second.now(), wait.block);
    if (!warps || *warps <= wait.warp) continue;
    others_[i] = static_cast<std::uint8_t>(leaders.next(wait, std::min(*warps, kWarp)) - wait.warp - 1);
  }
}

WaitStates::Own WaitStates::own(std::size_t index) const {
  const store::WaitRow& wait = model_.waits[index];
  const State last = state_under(wait.strategy);
  if (wait.switched && *wait.switched > wait.arrived && *wait.switched < wait.resumed)
    return {store::other_way(last), last, *wait.switched};
  const store::SiteRow* site = wait.polls == 0 && has_leader(wait.strategy) ? model_.site(wait.site) : nullptr;
  const bool behind = site != nullptr && site->pollers == Pollers::each_thread;
  return {behind ? State::at_barrier : last, behind ? State::at_barrier : last, wait.arrived};
}

}  // namespace wicprof::analyzer
