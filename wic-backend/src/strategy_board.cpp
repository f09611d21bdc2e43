#include "src/strategy_board.h"

#include "src/automatic.h"

namespace wic {

using wicprof::bad_input;
using wicprof::SiteId;
using wicprof::StrategyId;
using wicprof::WantedWait;

StrategyBoard::StrategyBoard(WantedWait program) : program_(program), sites_(1) {}

Result<> StrategyBoard::add_device(Device& device, StrategyWord* words) {
  const std::lock_guard lock(mutex_);
  targets_.push_back({&device, words});
  return wicprof::ok();
}

Result<SiteId> StrategyBoard::add_site(const SiteSpec& spec) {
  const std::lock_guard lock(mutex_);
  if (spec.name.empty() || spec.name.size() >= wicprof::kMaxSiteName) {
    return bad_input("a wait site's name needs 1 to 47 bytes: '" + spec.name + "'");
  }
  for (const Site& site : sites_) {
    if (site.spec.name == spec.name) return bad_input("there are two wait sites named '" + spec.name + "'");
  }
  if (sites_.size() == kMaxSites) return bad_input("a program can have 255 wait sites; '" + spec.name + "' is one more");
  sites_.push_back({spec, WantedWait::kNothing});
  const auto id = static_cast<SiteId>(sites_.size() - 1);
  if (Result<> written = write(id, id); !written) return written.error();
  return id;
}

Result<> StrategyBoard::want(SiteId site, WantedWait wanted) {
  const std::lock_guard lock(mutex_);
  if (site >= sites_.size()) return bad_input("there is no wait site number " + std::to_string(site));
  if (site != 0) {
    sites_[site].wanted = wanted.pack();
    return write(site, site);
  }
  program_ = wanted;
  for (Site& each : sites_) each.wanted = WantedWait::kNothing;
  if (sites_.size() == 1) return wicprof::ok();
  return write(1, static_cast<SiteId>(sites_.size() - 1));
}

WantedWait StrategyBoard::wanted(SiteId site) const {
  const std::lock_guard lock(mutex_);
  if (site == 0 || site >= sites_.size() || sites_[site].wanted == WantedWait::kNothing) return program_;
  return WantedWait::unpack(sites_[site].wanted);
}

StrategyId StrategyBoard::resolve(const Site& site) const {
  const WantedWait wanted = site.wanted == WantedWait::kNothing ? program_ : WantedWait::unpack(site.wanted);
  return wanted.strategy == StrategyId::automatic ? automatic_strategy(site.spec) : wanted.strategy;
}

Result<> StrategyBoard::write(SiteId first, SiteId last) {
  for (SiteId id = first; id <= last; ++id) {
    const std::uint32_t changes = (words_[id].load(std::memory_order_relaxed) >> 8) + 1;
    words_[id].store((changes << 8) | static_cast<std::uint32_t>(resolve(sites_[id])), std::memory_order_release);
  }
  std::vector<LiveWord> live;
  for (const Target& target : targets_) {
    live.clear();
    for (SiteId id = first; id <= last; ++id) {
      live.push_back({&target.words[id].word, words_[id].load(std::memory_order_relaxed)});
    }
    if (Result<> done = target.device->write_live(live); !done) return done;
  }
  return wicprof::ok();
}

}  // namespace wic
