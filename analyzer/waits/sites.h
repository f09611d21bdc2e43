// Statistics per wait site: number and length of waits, concurrent waits, polls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/measure/statistics.h"
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
  std::uint32_t words = 0;  ///< 1: all waiters share one word; 0: one word per waiter
  bool declared = false;    ///< false: the trace lacks the site's row, and the three fields above are defaults

  std::uint64_t count = 0;       ///< waits of kernels and host threads
  std::uint64_t host_count = 0;  ///< of these, by host threads
  std::uint64_t groups = 0;      ///< distinct waiters: (device, block, warp), or host thread
  std::uint32_t sms = 0;         ///< distinct SMs that waiters ran on
  TimeNs total_ns = 0;
  TimeNs p50_ns = 0, p99_ns = 0, max_ns = 0;
  Interval longest;  ///< the first of the longest waits
  /// Time in which each waiter waited, summed / (groups x ground): the share of its time that a waiter waits here.
  double share = 0;
  TimeNs any_waiting_ns = 0;  ///< time in which at least one waiter waited
  double any_share = 0;       ///< the share of the ground in which at least one waiter waited
  std::uint64_t polls = 0;
  std::optional<double> polls_per_wait;   ///< over the waits whose polls are known
  std::vector<StrategyStats> strategies;  ///< of waits inside kernels, most waiting time first
  std::uint64_t deadline_missed = 0;
  std::uint32_t max_waiting = 0;            ///< largest number of simultaneous waits inside kernels
  std::uint32_t max_polling = 0;            ///< like max_waiting, for strategies with which every waiter polls the word
  std::optional<std::uint32_t> words_seen;  ///< distinct words waited on; empty if a wait has no word tag
  /// Largest number of simultaneous waits inside kernels of one device on one word; empty like words_seen.
  std::optional<std::uint32_t> waiters_per_word;
  std::optional<store::ChoiceRow> choice;  ///< the last choice of strategy `auto`; empty if it made none
  std::uint64_t choices = 0;               ///< number of choices of `auto`

  /// The strategy with the most waiting time; empty if only host threads wait.
  std::optional<StrategyId> main_strategy() const;
};

/// Whether each waiter reads the word while it waits, so that the load on the word's cache line grows with the waiters.
bool every_waiter_polls(StrategyId strategy);

/// One element per site with waits; longest total waiting time first. The ground of shares is the window of the
/// iterations (iteration_window()), or the traced time without iterations.
std::vector<SiteStats> site_stats(const TraceModel& model);
std::vector<SiteStats> site_stats(const TraceModel& model, const Waiters& waiters, Interval ground);

}  // namespace wicprof::analyzer
