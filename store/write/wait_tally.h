// Sums over the events of a recording, for readers who do not wait for the trace: waits by site and way of waiting,
// changes of how the program waits, what ranks cost each other, and what wic-prof's own threads cost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "protocol/events/host_wait.h"
#include "protocol/events/intervention.h"
#include "protocol/events/signal.h"
#include "protocol/events/wait.h"
#include "protocol/strategy.h"
#include "protocol/time.h"
#include "store/write/rank_tally.h"

namespace wicprof::store {

struct WaitSum {
  std::uint64_t waits = 0;
  std::uint64_t waiting_ns = 0;
  std::optional<std::uint64_t> cpu_ns = {};  ///< on a CPU while waiting; nothing: not known of any wait
  std::uint64_t wakes = 0;                   ///< waits whose signal was seen
  std::uint64_t wake_ns = 0;  ///< of these: from the signal, or from the arrival if that came later, until they went on

  void add(const WaitSum& other);
};

/// The waits at one site whose ends had one way of waiting.
struct WaitSumOfSite {
  std::string site;
  WaitSide side;  ///< who waited: device or host
  StrategyId strategy;
  WaitSum sum;
};

/// One thread. Sums only grow.
class WaitTally {
 public:
  /// Further sites share the name kOther: what watches for weeks keeps every name that it has seen.
  static constexpr std::size_t kMaxSites = 64;
  static constexpr const char* kOther = "other";
  /// Waits without a site, and those at sites whose names were lost.
  static constexpr const char* kUnnamed = "unnamed";

  /// What the site is called from here on. A place in the program may have waits before it has its name.
  void name_site(SiteId site, const std::string& name);
  void add(SiteId site, const WaitEvent& wait);
  void add(SiteId site, const HostWaitEvent& wait);
  /// A wait's times on the host's clock, and those of signals, for wake latencies: either may come first. A wait was
  /// woken by the signal of its site, iteration and word with the value that ended the wait; the others have no wake
  /// latency, nor have those of sites that do not count iterations, whose values come again.
  void wakes(SiteId site, const WaitEvent& wait, TimeNs arrived, TimeNs resumed);
  void signals(SiteId site, const SignalEvent& signal, TimeNs at);
  void add(const InterventionEvent& change);
  /// CPU time of a thread that wic-prof has in the program.
  void add_collector_cpu(TimeNs cpu) { collector_cpu_ns_ = collector_cpu_ns_.value_or(0) + positive(cpu); }

  RankTally& ranks() { return ranks_; }

  /// Leaves out waits at sites that may still get their names: kNamingTime after their first wait they are kUnnamed.
  std::vector<WaitSumOfSite> waits(TimeNs now);
  /// Changes that took effect, by the mode that they brought.
  const std::array<std::uint64_t, 2>& changes() const { return changes_; }
  /// Nothing: no such thread was sampled.
  std::optional<std::uint64_t> collector_cpu_ns() const { return collector_cpu_ns_; }

 private:
  using Way = std::pair<WaitSide, StrategyId>;
  using Sums = std::map<Way, WaitSum>;
  struct Site {
    std::string name;
    Sums* sums = nullptr;  // of its label; nullptr: none yet
    Sums without_label;
    TimeNs since = 0;  // the first wait without a label
  };
  static constexpr std::size_t kMaxKnown = 4096;       // bounds the memory for a program that overwrites its records
  static constexpr TimeNs kNamingTime = 10 * kSecond;  // names come within a flush, 100 ms by default

  /// What a signal and a wait have in common.
  using Word = std::tuple<SiteId, std::uint32_t, WordTag, std::uint32_t>;
  struct Resumed {
    StrategyId strategy;
    TimeNs arrived, resumed;
  };
  struct Woken {
    std::optional<TimeNs> signal;
    std::vector<Resumed> unsignalled;  // at most kMostOfWord
  };
  static constexpr std::size_t kMostOfWord = 64, kMostWords = 8192;

  Woken& woken(const Word& word);
  /// Nothing where the signal came behind the wait's end: clocks differ, or the value came again.
  void add_wake(SiteId site, const Resumed& wait, TimeNs signal);
  static std::uint64_t positive(TimeNs time) { return time > 0 ? static_cast<std::uint64_t>(time) : 0; }
  Site* site_of(SiteId id);  // nullptr: no site, or one too many
  void add(SiteId site, Way way, const WaitSum& wait);
  void label(Site& site, Sums& sums);
  Sums& sums_named(const std::string& name);

  std::unordered_map<SiteId, Site> sites_;
  std::map<std::string, Sums> named_;  // elements do not move
  Sums other_, unnamed_;
  std::map<Word, Woken> words_;
  std::deque<Word> order_;  // of words_, the oldest first
  std::uint32_t last_change_ = 0;
  std::array<std::uint64_t, 2> changes_{};
  std::optional<std::uint64_t> collector_cpu_ns_;
  RankTally ranks_;
};

}  // namespace wicprof::store
