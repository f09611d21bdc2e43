// What each wait site cost: how often, how long, how many at once, how many polls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/waiters.h"

namespace wicprof::analyzer {

/// The waits at a site under one strategy.
struct StrategyStats {
  StrategyId strategy = StrategyId::poll;
  std::uint64_t count = 0;
  TimeNs total_ns = 0, p50_ns = 0, p99_ns = 0;
  std::uint64_t polls = 0;
  double polls_per_wait = 0;
};

struct SiteStats {
  SiteId site = 0;
  std::string name;
  WordMemory word_memory = WordMemory::unknown;
  Pollers pollers = Pollers::leader;
  std::uint32_t words = 0;  ///< 1, or 0 for one a waiter
  bool declared = false;    ///< false: the trace lacks the site's row, and the three fields above are guesses

  std::uint64_t count = 0;       ///< waits, of kernels and of host threads
  std::uint64_t host_count = 0;  ///< of these, by host threads
  std::uint64_t groups = 0;      ///< distinct waiters: (device, block, warp), or host thread
  std::uint32_t sms = 0;         ///< distinct SMs that waiters ran on
  TimeNs total_ns = 0;
  TimeNs p50_ns = 0, p99_ns = 0, max_ns = 0;
  double share = 0;           ///< total_ns / (groups x traced time): the part of its time that a waiter waits here
  TimeNs any_waiting_ns = 0;  ///< the union of the waits: when at least one waiter waited
  double any_share = 0;       ///< any_waiting_ns / traced time
  std::uint64_t polls = 0;
  std::optional<double> polls_per_wait;   ///< over the waits whose polls are known
  std::vector<StrategyStats> strategies;  ///< of waits inside kernels, most waiting time first
  std::uint64_t deadline_missed = 0;
  std::uint32_t max_waiting = 0;  ///< waits inside kernels at once
  std::uint32_t max_polling = 0;  ///< of these, under a strategy by which every waiter reads the word itself
  std::optional<std::uint32_t>
      words_seen;  ///< distinct words waited on; nothing where the trace does not tell them apart
  std::optional<std::uint32_t> waiters_a_word;  ///< the most waits inside kernels of one device on one word at once
  std::optional<store::ChoiceRow> choice;  ///< what `auto` stood for last; nothing where the site was never on `auto`
  std::uint64_t choices = 0;               ///< how often `auto` chose

  /// The strategy with the most waiting time; nothing where only host threads wait.
  std::optional<StrategyId> main_strategy() const;
};

/// Whether each waiter reads the word itself while it waits, so that waiters add up on the word's line.
bool every_waiter_polls(StrategyId strategy);

/// Most total waiting time first. Sites at which nothing waited are left out.
std::vector<SiteStats> site_stats(const TraceModel& model);
std::vector<SiteStats> site_stats(const TraceModel& model, const Waiters& waiters);

}  // namespace wicprof::analyzer
