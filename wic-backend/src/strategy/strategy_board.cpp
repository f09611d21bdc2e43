#include "src/strategy/strategy_board.h"

#include <algorithm>

namespace wic {

using wicprof::bad_input;
using wicprof::SiteId;
using wicprof::StrategyId;
using wicprof::WantedWait;

namespace {
constexpr wicprof::TimeNs kWriteTimeout = 2 * wicprof::kSecond;
}

StrategyBoard::StrategyBoard(WantedWait program) : program_(program) {
  sites_.push_back({SiteChooser({}, {}), WantedWait::kNothing});
}

void StrategyBoard::add_device(Device& device, StrategyWord* words, ControlPage* page) {
  const std::lock_guard lock(mutex_);
  targets_.push_back({&device, words, page});
  limits_ = AutomaticLimits::of(device.properties().kind);
}

Result<SiteId> StrategyBoard::add_site(const SiteSpec& spec) {
  const std::lock_guard writing(writing_);
  const Result<SiteId> id = append(spec);
  if (!id) return id;
  if (Result<> written = write(*id, *id); !written) {
    const std::lock_guard lock(mutex_);
    sites_.pop_back();
    return written.error();
  }
  return id;
}

Result<SiteId> StrategyBoard::append(const SiteSpec& spec) {
  const std::lock_guard lock(mutex_);
  if (spec.name.empty() || spec.name.size() >= wicprof::kMaxSiteName) {
    return bad_input("a wait site's name needs 1 to 47 bytes: '" + spec.name + "'");
  }
  for (const Site& site : sites_) {
    if (site.chooser.spec().name == spec.name) return bad_input("there are two wait sites named '" + spec.name + "'");
  }
  if (sites_.size() == kMaxSites)
    return bad_input("a program can have 255 wait sites; '" + spec.name + "' is one more");
  sites_.push_back({SiteChooser(spec, limits_), WantedWait::kNothing});
  return static_cast<SiteId>(sites_.size() - 1);
}

Result<> StrategyBoard::refusal(SiteId site, WantedWait wanted) const {
  const std::lock_guard lock(mutex_);
  if (site == 0 || site >= sites_.size() || wanted.strategy != StrategyId::naive) return wicprof::ok();
  if (!atomics_lose_the_flag(sites_[site])) return wicprof::ok();
  return bad_input(
      "polling by atomics at '" + sites_[site].chooser.spec().name +
      "' would lose its flag: the word may be in host memory, and a GPU here has no host-native atomics. "
      "Put the word into managed or device memory and say so in SiteSpec::word_memory, or poll with `poll`");
}

Result<> StrategyBoard::want(SiteId site, WantedWait wanted) {
  const std::lock_guard writing(writing_);
  Result<Range> changed =
      change(site, [&](Site& each) { each.wanted = site == 0 ? WantedWait::kNothing : wanted.pack(); });
  if (!changed) return changed.error();
  if (site == 0) {
    const std::lock_guard lock(mutex_);
    program_ = wanted;
  }
  return write(changed->first, changed->last);
}

Result<> StrategyBoard::follow_program(SiteId site) {
  const std::lock_guard writing(writing_);
  Result<Range> changed = change(site, [](Site& each) { each.wanted = WantedWait::kNothing; });
  if (!changed) return changed.error();
  return write(changed->first, changed->last);
}

Result<StrategyBoard::Range> StrategyBoard::change(SiteId site, const std::function<void(Site&)>& edit) {
  const std::lock_guard lock(mutex_);
  if (site >= sites_.size()) return bad_input("there is no wait site number " + std::to_string(site));
  const Range range = site == 0 ? Range{1, static_cast<SiteId>(sites_.size() - 1)} : Range{site, site};
  for (std::uint32_t id = range.first; id <= range.last; ++id) edit(sites_[id]);
  return range;
}

WantedWait StrategyBoard::wanted(SiteId site) const {
  const std::lock_guard lock(mutex_);
  if (site == 0 || site >= sites_.size() || sites_[site].wanted == WantedWait::kNothing) return program_;
  return WantedWait::unpack(sites_[site].wanted);
}

Result<> StrategyBoard::set_lost(SiteId site, bool lost) {
  const std::lock_guard writing(writing_);
  Result<Range> changed = change(site, [&](Site& each) { each.lost = lost; });
  if (!changed) return changed.error();
  return write(changed->first, changed->last);
}

std::vector<SiteId> StrategyBoard::sites_fed_by(wicprof::DeviceId device) const {
  const std::lock_guard lock(mutex_);
  std::vector<SiteId> fed;
  for (SiteId id = 1; id < sites_.size(); ++id) {
    if (sites_[id].chooser.spec().producer == device && !sites_[id].lost) fed.push_back(id);
  }
  return fed;
}

HotSites StrategyBoard::hot_sites() const {
  const std::lock_guard lock(mutex_);
  HotSites hot;
  for (SiteId id = 1; id < sites_.size(); ++id) {
    const SiteSpec& spec = sites_[id].chooser.spec();
    if (spec.shared_word && spec.word_memory != wicprof::WordMemory::device) hot.add(id);
  }
  return hot;
}

// A GPU without host-native atomics executes atomicAdd(flag, 0) on host memory as a read and a write: the old value
// overwrites the producer's.
bool StrategyBoard::atomics_lose_the_flag(const Site& site) const {
  using wicprof::WordMemory;
  if (site.chooser.spec().word_memory != WordMemory::pinned_host &&
      site.chooser.spec().word_memory != WordMemory::unknown)
    return false;
  return std::any_of(targets_.begin(), targets_.end(),
                     [](const Target& target) { return !target.device->properties().host_native_atomics; });
}

WantedWait StrategyBoard::wanted(const Site& site) const {
  return site.wanted == WantedWait::kNothing ? program_ : WantedWait::unpack(site.wanted);
}

StrategyId StrategyBoard::resolve(const Site& site) const {
  const WantedWait want = wanted(site);
  const bool own = want.mode == wicprof::Mode::poll && want.strategy == wicprof::default_strategy(want.mode);
  const StrategyId strategy = own ? site.chooser.spec().own : want.strategy;
  if (strategy == StrategyId::naive && atomics_lose_the_flag(site)) return StrategyId::poll;
  return strategy == StrategyId::automatic ? site.chooser.now().strategy : strategy;
}

Result<std::optional<Choice>> StrategyBoard::see(SiteId id, const SiteObservation& seen) {
  Choice choice;
  {
    const std::lock_guard lock(mutex_);
    if (id == 0 || id >= sites_.size()) return bad_input("there is no wait site number " + std::to_string(id));
    Site& site = sites_[id];
    if (!site.chooser.see(seen) || wanted(site).strategy != StrategyId::automatic) return std::optional<Choice>();
    choice = site.chooser.now();
  }
  if (strategy(id) != choice.strategy) {
    const std::lock_guard writing(writing_);
    if (Result<> written = write(id, id); !written) return written.error();
  }
  return std::optional<Choice>(choice);
}

Choice StrategyBoard::choice(SiteId site) const {
  const std::lock_guard lock(mutex_);
  return sites_[site < sites_.size() ? site : 0].chooser.now();
}

std::uint32_t StrategyBoard::site_count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::uint32_t>(sites_.size() - 1);
}

bool StrategyBoard::any_automatic() const {
  const std::lock_guard lock(mutex_);
  if (program_.strategy == StrategyId::automatic) return true;
  return std::any_of(sites_.begin(), sites_.end(),
                     [&](const Site& site) { return wanted(site).strategy == StrategyId::automatic; });
}

std::uint32_t StrategyBoard::next_word(SiteId id) const {
  const std::uint32_t changes = (words_[id].load(std::memory_order_relaxed) >> 8) + 1;
  const auto way = sites_[id].lost ? std::uint32_t{kProducerLost} : static_cast<std::uint32_t>(resolve(sites_[id]));
  return (changes << 8) | way;
}

Result<> StrategyBoard::write(SiteId first, SiteId last) {
  if (first > last) return wicprof::ok();  // the whole program, which has no site yet
  {
    const std::lock_guard lock(mutex_);
    for (std::uint32_t id = first; id <= last; ++id) words_[id].store(next_word(id), std::memory_order_release);
  }
  Result<> result = wicprof::ok();  // if one device fails, the others still get their words
  // An earlier write that arrives late would undo a steward's copy of the page.
  std::vector<const Target*> ready;  // a device that is stuck would hold up whoever writes to it
  for (const Target& target : targets_) {
    if (Result<> done = wait_for_own_write(target); done) {
      ready.push_back(&target);
    } else {
      result = done;
    }
  }
  ++sequence_;
  for (const Target& target : targets_) publish(*target.page);
  std::vector<LiveWord> live;
  for (const Target* target : ready) {
    live.clear();
    for (std::uint32_t id = first; id <= last; ++id) {
      live.push_back({&target->words[id].word, words_[id].load(std::memory_order_relaxed)});
    }
    if (Result<> started = target->device->start_live_write(live); !started) result = started;
  }
  for (const Target* target : ready) {
    if (Result<> written = wait_until_written(*target); !written) result = written;
  }
  return result;
}

void StrategyBoard::publish(ControlPage& page) {
  const std::lock_guard lock(mutex_);
  for (SiteId id = 1; id < sites_.size(); ++id) {
    std::atomic_ref(page.words[id - 1]).store(words_[id].load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  std::atomic_ref(page.site_count).store(static_cast<std::uint32_t>(sites_.size() - 1), std::memory_order_relaxed);
  std::atomic_ref(page.sequence).store(sequence_, std::memory_order_release);
}

Result<> StrategyBoard::wait_for_own_write(const Target& target) {
  const wicprof::TimeNs end = wicprof::now_ns() + kWriteTimeout;
  for (;;) {
    const Result<bool> done = target.device->live_write_done();
    if (!done) return done.error();
    if (*done) return wicprof::ok();
    if (wicprof::now_ns() > end) {
      return wicprof::unavailable(target.device->properties().name + " did not take the last strategy within 2 s");
    }
  }
}

// Either a steward of the device or the host's own write gets there first.
Result<> StrategyBoard::wait_until_written(const Target& target) {
  const wicprof::TimeNs end = wicprof::now_ns() + kWriteTimeout;
  while (std::atomic_ref(target.page->applied).load(std::memory_order_acquire) != sequence_) {
    const Result<bool> done = target.device->live_write_done();
    if (!done) return done.error();
    if (*done) break;
    if (wicprof::now_ns() > end) {
      return wicprof::unavailable(target.device->properties().name + " did not take the new strategy within 2 s");
    }
  }
  return wicprof::ok();
}

}  // namespace wic
