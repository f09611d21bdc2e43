// Keeps the requested strategy of each site, derives the strategy words and writes them to the devices' memory.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "protocol/control.h"
#include "src/strategy/automatic.h"
#include "wic/device.h"
#include "wic/device_state.h"
#include "wic/runtime.h"

namespace wic {

/// Any thread. A change waits until the devices have taken it, up to seconds; the functions that only read never wait
/// for that.
class StrategyBoard {
 public:
  explicit StrategyBoard(wicprof::WantedWait program);

  /// `words`: kMaxSites strategy words in the device's memory; `page`: read by its stewards. Call before the first
  /// site.
  void add_device(Device& device, StrategyWord* words, ControlPage* page);
  /// Sites are numbered from 1.
  Result<wicprof::SiteId> add_site(const SiteSpec& spec);

  /// Why `wanted` is impossible at the site. Always ok for site 0, where such sites use `poll` instead.
  Result<> refusal(wicprof::SiteId site, wicprof::WantedWait wanted) const;
  /// Site 0: the whole program, which clears the requests for single sites. Returns once every device has the new
  /// words.
  Result<> want(wicprof::SiteId site, wicprof::WantedWait wanted);
  /// Clears the request for a single site. Returns as want().
  Result<> follow_program(wicprof::SiteId site);

  /// Sets whether the site's producer is gone; if so, its waiters are released. Site 0: every site.
  Result<> set_lost(wicprof::SiteId site, bool lost);
  /// The sites whose producer is that device, except lost ones.
  std::vector<wicprof::SiteId> sites_fed_by(wicprof::DeviceId device) const;

  /// Sites with one shared word in memory that may be far from the device.
  HotSites hot_sites() const;
  wicprof::WantedWait wanted(wicprof::SiteId site) const;

  /// Passes an observation of the site to `auto`. If that changes the choice, and the site is on `auto`, waits until
  /// every device has the new word. Returns the choice if it is new and in force.
  Result<std::optional<Choice>> see(wicprof::SiteId site, const SiteObservation& seen);
  /// The choice of `auto` at the site, whether the site is on `auto` or not.
  Choice choice(wicprof::SiteId site) const;
  /// The number of sites; they are 1 to that number.
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

  struct Range {
    wicprof::SiteId first, last;  // none where the first is greater
  };

  Result<wicprof::SiteId> append(const SiteSpec& spec);
  /// Site 0: all sites.
  Result<Range> change(wicprof::SiteId site, const std::function<void(Site&)>& edit);
  wicprof::WantedWait wanted(const Site& site) const;
  wicprof::StrategyId resolve(const Site& site) const;
  bool atomics_lose_the_flag(const Site& site) const;
  std::uint32_t next_word(wicprof::SiteId id) const;
  /// While holding writing_, not mutex_.
  Result<> write(wicprof::SiteId first, wicprof::SiteId last);
  void publish(ControlPage& page);
  static Result<> wait_for_own_write(const Target& target);
  Result<> wait_until_written(const Target& target);

  std::mutex writing_;        // held by one change until the devices have taken it; locked before mutex_
  mutable std::mutex mutex_;  // of the fields below
  wicprof::WantedWait program_;
  std::vector<Site> sites_;  // [0] is "no site"
  std::vector<Target> targets_;
  AutomaticLimits limits_;
  std::uint32_t sequence_ = 0;                                 // of the control pages
  std::array<std::atomic<std::uint32_t>, kMaxSites> words_{};  // the devices' strategy words, for host threads
};

}  // namespace wic
