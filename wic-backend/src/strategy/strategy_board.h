// Keeps what is wanted of each site, works out the strategy words and puts them into the devices' memory.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "protocol/control.h"
#include "src/strategy/automatic.h"
#include "wic/device.h"
#include "wic/device_state.h"
#include "wic/runtime.h"

namespace wic {

/// Any thread.
class StrategyBoard {
 public:
  explicit StrategyBoard(wicprof::WantedWait program);

  /// `words`: kMaxSites strategy words in the device's memory; `page`: where its stewards look. Before the first site.
  void add_device(Device& device, StrategyWord* words, ControlPage* page);
  /// Site numbers count up from 1.
  Result<wicprof::SiteId> add_site(const SiteSpec& spec);

  /// Why `wanted` cannot be had at the site; ok for site 0, where single sites get the next best.
  Result<> refusal(wicprof::SiteId site, wicprof::WantedWait wanted) const;
  /// Site 0: the program, which clears single sites' wishes. Returns once every device has the new words.
  Result<> want(wicprof::SiteId site, wicprof::WantedWait wanted);

  /// Whether the site's producer is gone: its waiters are released then. Site 0: every site.
  Result<> set_lost(wicprof::SiteId site, bool lost);
  /// The sites whose producer is that device, and which are not lost yet.
  std::vector<wicprof::SiteId> sites_fed_by(wicprof::DeviceId device) const;

  /// Sites that all wait on one word in memory that may be far from the device.
  HotSites hot_sites() const;
  wicprof::WantedWait wanted(wicprof::SiteId site) const;

  /// Tells what was seen at the site. Where `auto` now stands for something else there, and the site is on `auto`,
  /// waits until every device has the new word. Yields the choice when it is new and in force.
  Result<std::optional<Choice>> see(wicprof::SiteId site, const SiteObservation& seen);
  /// What `auto` stands for at the site, whether the site is on `auto` or not.
  Choice choice(wicprof::SiteId site) const;
  /// How many sites there are: 1 to that.
  std::uint32_t site_count() const;
  /// Whether any site is on `auto`, or the program as a whole.
  bool any_automatic() const;
  wicprof::StrategyId strategy(wicprof::SiteId site) const {
    return static_cast<wicprof::StrategyId>(words_[site].load(std::memory_order_acquire) & 0xffu);
  }

 private:
  struct Target {
    Device* device;
    StrategyWord* words;
    ControlPage* page;
  };
  struct Site {
    SiteChooser chooser;
    std::uint32_t wanted = wicprof::WantedWait::kNothing;
    bool lost = false;
  };

  wicprof::WantedWait wanted(const Site& site) const;
  wicprof::StrategyId resolve(const Site& site) const;
  bool atomics_lose_the_flag(const Site& site) const;
  std::uint32_t next_word(wicprof::SiteId id) const;
  Result<> write(wicprof::SiteId first, wicprof::SiteId last);
  void publish(ControlPage& page);
  static Result<> wait_for_own_write(const Target& target);
  Result<> wait_until_there(const Target& target);

  mutable std::mutex mutex_;
  wicprof::WantedWait program_;
  std::vector<Site> sites_;  // [0] is "no site"
  std::vector<Target> targets_;
  AutomaticLimits limits_;
  std::uint32_t sequence_ = 0;                                 // of the control pages
  std::array<std::atomic<std::uint32_t>, kMaxSites> words_{};  // what the devices hold, for host threads
};

}  // namespace wic
