// The WIC paper's wait model (USENIX ATC 2025) for every wait: when the consumer arrived (T_c), when the data was ready
// (T_p), how long the consumer waited (W_p) and how long the transfer took (W_t).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/trace/modes.h"
#include "analyzer/waits/matching.h"
#include "analyzer/waits/waiters.h"

namespace wicprof::analyzer {

/// The paper's two scenarios. `undecided`: T_c and T_p differ by no more than the clocks' error.
enum class Scenario : std::uint8_t {
  undecided,
  data_first,      ///< scenario 1: T_p before T_c, the data waits for the consumer
  consumer_first,  ///< scenario 2: T_c before T_p, the consumer waits for the data
};

/// One wait with a known signal. All times are in nanoseconds of the trace's clock.
///   resumed - T_c = W_p = producer_late + wake                 (length of the wait)
///   producer_late = max(0, T_p - T_c)                          (the data was not ready)
///   wake          = max(0, resumed - max(T_p, T_c))            (the data was ready, the waiter had not noticed)
///   wake          = wake_shared + wake_own
/// `wake_shared` lasts until the first waiter that the same signal released has resumed, and includes the signal's way
/// to the waiters. `wake_own` is the additional delay of this waiter. If a signal released only one waiter, its whole
/// wake latency is shared.
struct WaitTimes {
  TimeNs t_c = 0, t_p = 0;
  TimeNs w_p = 0;
  std::optional<TimeNs> w_t;  ///< of the transfer that the signal announced; empty if the trace does not contain it
  TimeNs producer_late = 0;
  TimeNs wake = 0, wake_shared = 0, wake_own = 0;
  Scenario scenario = Scenario::undecided;
};

/// Sums over waits. Waits without a signal count only in `waits`, `host_waits`, `waiting_ns`, `polls` and
/// `waits_with_polls`.
struct WaitSums {
  std::uint64_t waits = 0, host_waits = 0;
  TimeNs waiting_ns = 0;  ///< W_p
  std::uint64_t polls = 0, waits_with_polls = 0;
  std::uint64_t matched = 0;
  std::uint64_t data_first = 0, consumer_first = 0, undecided = 0;
  TimeNs producer_late_ns = 0, wake_ns = 0;
  TimeNs lead_ns = 0;                      ///< the sum of T_p - T_c, with its sign
  std::uint64_t shared_signals_waits = 0;  ///< waits whose signal released several; the next two sum over them
  TimeNs wake_shared_ns = 0, wake_own_ns = 0;
  std::uint64_t transfers = 0;                          ///< waits whose W_t is known
  TimeNs transfer_ns = 0, waiting_of_transfers_ns = 0;  ///< W_t and W_p of the waits counted in `transfers`

  WaitSums& operator+=(const WaitSums& other);
};

/// The waits of one site that began in one mode.
struct SiteWaits {
  SiteId site = 0;
  Mode mode = Mode::poll;  ///< of the site when the waits began
  TimeNs span_ns = 0;      ///< total time in this mode
  std::uint64_t waiters = 0;
  WaitSums sums;
  /// Time in which each waiter waits, plus known W_t, summed / (waiters x span): the share of its time that a consumer
  /// spends in communication.
  std::optional<double> consumer_share;
  /// W_t summed once per signal / span: the share of the time in which a transfer runs. Empty if no W_t is known.
  std::optional<double> producer_share;
};

/// The waits of one iteration at one site.
struct IterationWaits {
  std::uint32_t slot = 0;  ///< index of Waiters::slots()
  std::uint32_t matched = 0;
  TimeNs last_t_c = 0;
  std::optional<TimeNs> first_t_p, last_t_p;
  TimeNs w_p = 0;
  std::optional<TimeNs> w_t;
};

/// The model, the matching and the waiters must outlive it.
class WaitModel {
 public:
  WaitModel(const TraceModel& model, const Matching& matching, const Waiters& waiters, const Modes& modes);

  /// `edge`: a wake edge of the matching passed to the constructor. Constant time.
  WaitTimes times(const WakeEdge& edge) const;
  /// The length of the transfer of a signal's data; empty if unknown. `signal`: index into TraceModel::signals.
  std::optional<TimeNs> transfer_of(std::size_t signal) const;

  const std::vector<SiteWaits>& sites() const { return sites_; }  ///< by site id, polling first
  /// In the order of Waiters::slots(). Computed at each call, since there may be as many elements as waits.
  std::vector<IterationWaits> iterations() const;
  /// All sites together in one mode; empty if no wait began in it.
  std::optional<SiteWaits> whole(Mode mode) const;

 private:
  void find_transfers();
  void find_first_resumptions();
  void sum_up(const Modes& modes);

  const TraceModel& model_;
  const Matching& matching_;
  const ClockErrors clocks_;
  const Waiters& waiters_;
  std::vector<TimeNs> transfers_;  // by signal; -1: unknown. Empty if the trace has no copies
  struct Released {
    TimeNs first_resumed = 0;
    std::uint32_t waits = 0;
  };
  std::vector<Released> released_;  // by signal
  std::vector<SiteWaits> sites_, whole_;
};

}  // namespace wicprof::analyzer
