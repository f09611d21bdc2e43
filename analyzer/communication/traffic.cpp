#include "analyzer/communication/traffic.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "analyzer/communication/parties.h"
#include "analyzer/communication/transfers.h"

namespace wicprof::analyzer {
namespace {

// Not calibrated; tests/analyzer/classify_test.cpp checks the answers that follow from them.

/// A site acknowledges if the waiters of this share of its signals are iterations ahead of the signal, and if this
/// share of the signals has come when the waiter arrives.
constexpr std::uint64_t kBehindPercent = 90, kAtOncePercent = 80;
/// Of a data site's waiters, a smaller share than this is ahead of the signals.
constexpr std::uint64_t kBehindAtDataPercent = 10;
/// From this share of recorded signals on, the trace counts as whole.
constexpr double kAllSignals = 0.995;

constexpr std::uint32_t kNone = Message::kNobody;

std::optional<Place> place_of(const store::SignalRow& row) {
  if (row.bytes == 0) return std::nullopt;
  return Place{row.offset, row.span, row.bytes, row.pieces, row.regular || row.pieces == 1};
}

/// The share of a table's rows that the trace holds. Rows are numbered as they are recorded, so gaps between the first
/// and the last number are missing rows.
template <class Row>
double share_of_rows(const std::vector<Row>& rows, std::uint64_t& missing) {
  if (rows.size() < 2) return 1;
  const auto [first, last] =
      std::minmax_element(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.id < b.id; });
  const auto numbers = static_cast<std::uint64_t>(last->id - first->id) + 1;
  if (numbers < rows.size()) return 1;  // the rows do not come from a trace
  missing += numbers - rows.size();
  return static_cast<double>(rows.size()) / static_cast<double>(numbers);
}

bool at_least(std::uint64_t part, std::uint64_t percent, std::uint64_t all) { return 100 * part >= percent * all; }

/// The common part of waits on devices and on the host.
struct Waiting {
  SiteId site = 0;
  DeviceId device = kHostDevice;
  std::uint32_t iteration = 0;
  std::optional<std::uint32_t> value;
  std::uint32_t block = kNone;
  TimeNs arrived = 0, resumed = 0;
  std::optional<WordTag> word;
};

Waiting waiting_of(const store::WaitRow& w) {
  return {w.site, w.device, w.iteration, w.value, w.block, w.arrived, w.resumed, w.word};
}
Waiting waiting_of(const store::HostWaitRow& w) {
  return {w.site, kHostDevice, w.iteration, std::nullopt, kNone, w.begin, w.end, w.word};
}
Waiting waiting_of(const TraceModel& model, const WakeEdge& edge) {
  return edge.host ? waiting_of(model.host_waits[edge.wait]) : waiting_of(model.waits[edge.wait]);
}

/// Sums over the records of one site.
struct SiteFacts {
  std::uint64_t signals = 0, announcing = 0;  ///< announcing: with a payload
  std::uint64_t edges = 0;
  std::uint64_t behind = 0, far_behind = 0;  ///< the waiter was at least one, or two, iterations ahead of the signal
  std::uint64_t at_once = 0;                 ///< the signal came before the waiter
  PartyIndex from = kNone, to = kNone;       ///< the first seen
  bool one_way = true;                       ///< all go from `from` to `to`
  bool one_sender = true;
  bool acknowledges = false;
};

class Gatherer {
 public:
  Gatherer(const TraceModel& model, const Matching& matching)
      : model_(model), matching_(matching), map_(model, matching), facts_(map_.sites().size()) {}

  Traffic run() {
    traffic_.parties = map_.parties();
    traffic_.one_device = map_.one_device();
    gather_site_facts();
    find_acknowledgements();
    add_signals();
    add_unmatched();
    if (traffic_.messages.empty()) add_messages_within_parties();
    merge_transfers();
    estimate_losses();
    const auto earlier = [](const Message& a, const Message& b) { return a.at < b.at; };
    if (!std::is_sorted(traffic_.messages.begin(), traffic_.messages.end(), earlier)) {
      std::stable_sort(traffic_.messages.begin(), traffic_.messages.end(), earlier);
    }
    return std::move(traffic_);
  }

 private:
  PartyIndex sender_of(const store::SignalRow& signal) const { return map_.of(signal.device, signal.site, false); }
  PartyIndex receiver_of(const Waiting& wait) const { return map_.of(wait.device, wait.site, true); }
  PartyIndex receiver_of(const WakeEdge& edge) const {
    if (edge.host) return map_.of(kHostDevice, model_.host_waits[edge.wait].site, true);
    return map_.of(model_.waits[edge.wait].device, model_.waits[edge.wait].site, true);
  }

  SiteFacts& facts(SiteId site) { return facts_[map_.sites().of(site)]; }

  void gather_site_facts() {
    for (const store::SignalRow& signal : model_.signals) {
      SiteFacts& site = facts(signal.site);
      ++site.signals;
      if (signal.bytes > 0) ++site.announcing;
      const PartyIndex from = sender_of(signal);
      if (site.from == kNone) site.from = from;
      if (site.from != from) site.one_sender = site.one_way = false;
    }
    for (const WakeEdge& edge : matching_.edges) {
      const store::SignalRow& signal = model_.signals[edge.signal];
      const Waiting wait = waiting_of(model_, edge);
      SiteFacts& site = facts(signal.site);
      ++site.edges;
      if (wait.iteration > signal.iteration) ++site.behind;
      if (wait.iteration > signal.iteration + 1) ++site.far_behind;
      if (signal.at <= wait.arrived) ++site.at_once;
      const PartyIndex to = receiver_of(wait);
      if (site.to == kNone) site.to = to;
      if (site.to != to) site.one_way = false;
    }
    for (const SiteFacts& site : facts_) announcing_ += site.announcing;
  }

  // An acknowledgement releases its producer for a message some iterations later, goes against the messages of another
  // site, and hardly ever keeps a waiter waiting. One iteration later it could also be an answer.
  void find_acknowledgements() {
    for (std::size_t i = 0; i < facts_.size(); ++i) {
      SiteFacts& site = facts_[i];
      const store::SiteRow* declaration = map_.declaration(i);
      const SitePurpose purpose = declaration == nullptr ? SitePurpose::unknown : declaration->purpose;
      if (purpose == SitePurpose::acknowledgement) site.acknowledges = true;
      if (purpose != SitePurpose::unknown) continue;
      if (!site.one_way || site.announcing > 0 || site.edges == 0 || site.to == kNone) continue;
      if (!at_least(site.behind, kBehindPercent, site.edges) || !at_least(site.at_once, kAtOncePercent, site.edges))
        continue;
      const bool against = std::any_of(facts_.begin(), facts_.end(), [&](const SiteFacts& data) {
        return data.one_way && data.from == site.to && data.to == site.from && data.edges > 0 &&
               !at_least(data.behind, kBehindAtDataPercent, data.edges);
      });
      if (!against) continue;
      site.acknowledges = at_least(site.far_behind, kBehindPercent, site.edges);
      if (!site.acknowledges && announcing_ == 0) traffic_.doubtful = true;
    }
    for (const SiteFacts& site : facts_) traffic_.left_out.acknowledging_sites += site.acknowledges ? 1 : 0;
  }

  // In a program whose messages have payloads, signals without one only synchronize.
  bool may_carry_data(const SiteFacts& site) const { return announcing_ == 0 || site.announcing > 0; }

  Message message_of(std::size_t index) {
    const store::SignalRow& signal = model_.signals[index];
    Message message;
    message.from = sender_of(signal);
    message.to = kNone;
    message.site = signal.site;
    message.iteration = signal.iteration;
    message.at = signal.at;
    if (signal.device != kHostDevice) message.sender = signal.block;
    if (const std::optional<Place> place = place_of(signal)) message.place = traffic_.add_place(*place);
    return message;
  }

  void add_signals() {
    traffic_.messages.reserve(model_.signals.size());
    origins_.reserve(model_.signals.size());
    // Per signal: the first receiving party in an array, the others, which are rare, in a list.
    struct Other {
      std::size_t signal;
      PartyIndex to;
      TimeNs received;
      std::uint32_t block;
    };
    std::vector<PartyIndex> to(model_.signals.size(), kNone);
    std::vector<TimeNs> received(model_.signals.size(), std::numeric_limits<TimeNs>::max());
    std::vector<std::uint32_t> block(model_.signals.size(), kNone);
    std::vector<Other> others;
    for (const WakeEdge& edge : matching_.edges) {
      const Waiting wait = waiting_of(model_, edge);
      const PartyIndex party = receiver_of(wait);
      const std::size_t i = edge.signal;
      if (to[i] == kNone) to[i] = party;
      if (to[i] != party) {
        others.push_back({i, party, wait.resumed, wait.block});
      } else if (wait.resumed < received[i]) {
        received[i] = wait.resumed;
        block[i] = wait.block;
      }
    }
    std::sort(others.begin(), others.end(), [](const Other& a, const Other& b) {
      return std::tie(a.signal, a.to, a.received) < std::tie(b.signal, b.to, b.received);
    });

    for (std::size_t i = 0; i < model_.signals.size(); ++i) {
      const SiteFacts& site = facts(model_.signals[i].site);
      if (site.acknowledges) {
        ++traffic_.left_out.acknowledgements;
        continue;
      }
      if (announcing_ > 0 && model_.signals[i].bytes == 0) {
        ++traffic_.left_out.bare;
        continue;
      }
      Message message = message_of(i);
      const bool heard = to[i] != kNone;
      message.to = heard ? to[i] : site.one_way ? site.to : kNone;
      if (message.to == kNone) {
        ++traffic_.left_out.unheard;
        continue;
      }
      if (heard) {
        message.received = received[i];
        message.receiver = block[i];
      }
      add(message, {static_cast<std::uint32_t>(i), model_.signals[i].value});
    }
    for (std::size_t k = 0; k < others.size(); ++k) {
      if (k > 0 && others[k].signal == others[k - 1].signal && others[k].to == others[k - 1].to) continue;
      const store::SignalRow& signal = model_.signals[others[k].signal];
      if (facts(signal.site).acknowledges || (announcing_ > 0 && signal.bytes == 0)) continue;
      Message message = message_of(others[k].signal);
      message.to = others[k].to;
      message.received = others[k].received;
      message.receiver = others[k].block;
      add(message, {static_cast<std::uint32_t>(others[k].signal), signal.value});
    }
  }

  void add(const Message& message, const Origin& origin) {
    const bool within = message.from == message.to;
    if (within) ++traffic_.left_out.within;
    (within ? within_ : traffic_.messages).push_back(message);
    (within ? within_origins_ : origins_).push_back(origin);
  }

  // If no party talks to another one, the parties are the blocks, where known.
  void add_messages_within_parties() {
    for (std::size_t i = 0; i < within_.size(); ++i) {
      const Message& m = within_[i];
      if (m.sender == kNone || m.receiver == kNone || m.sender == m.receiver) continue;
      traffic_.messages.push_back(m);
      origins_.push_back(within_origins_[i]);
    }
    traffic_.left_out.within -= traffic_.messages.size();
  }

  // Waits whose signal is missing, at sites with one sender. Many waiters on one word make one message.
  void add_unmatched() {
    std::vector<bool> matched(model_.waits.size()), host_matched(model_.host_waits.size());
    for (const WakeEdge& edge : matching_.edges) (edge.host ? host_matched : matched)[edge.wait] = true;
    std::vector<Waiting> missing;
    std::uint64_t known = 0;
    const auto check = [&](const auto& row, bool has_signal) {
      if (row.site == 0 || row.status != WaitStatus::satisfied) return;
      const SiteFacts& site = facts(row.site);
      if (site.acknowledges || site.signals == 0 || !may_carry_data(site)) return;
      if (has_signal) {
        ++known;
      } else if (site.edges > 0) {
        missing.push_back(waiting_of(row));
      } else if (announcing_ == 0) {
        traffic_.doubtful = true;  // its numbers do not correspond to those of its signals
      }
    };
    for (std::size_t i = 0; i < model_.waits.size(); ++i) check(model_.waits[i], matched[i]);
    for (std::size_t i = 0; i < model_.host_waits.size(); ++i) check(model_.host_waits[i], host_matched[i]);
    traffic_.unmatched = missing.size();
    if (known + missing.size() > 0) {
      matched_share_ = static_cast<double>(known) / static_cast<double>(known + missing.size());
    }
    const auto key = [](const Waiting& w) {
      return std::tuple(w.site, w.device, w.iteration, w.value.value_or(0), w.word.value_or(0));
    };
    std::sort(missing.begin(), missing.end(), [&](const Waiting& a, const Waiting& b) {
      return std::tuple_cat(key(a), std::tuple(a.resumed)) < std::tuple_cat(key(b), std::tuple(b.resumed));
    });
    for (std::size_t i = 0; i < missing.size(); ++i) {
      const Waiting& wait = missing[i];
      const SiteFacts& site = facts(wait.site);
      // Waits with the same word and number share a message while they overlap.
      if (i > 0 && key(missing[i - 1]) == key(wait) && wait.arrived <= missing[i - 1].resumed) continue;
      if (!site.one_sender) continue;
      Message message;
      message.from = site.from;
      message.to = receiver_of(wait);
      message.site = wait.site;
      message.iteration = wait.iteration;
      message.at = wait.resumed;
      message.received = wait.resumed;
      message.receiver = wait.block;
      add(message, {Origin::kNone, wait.value});
    }
  }

  // Messages without payloads may be parts of one transfer.
  void merge_transfers() {
    if (announcing_ > 0) return;
    traffic_.messages = merge_parts(model_, matching_, traffic_.messages, std::move(origins_),
                                    [&](const WakeEdge& edge) { return receiver_of(edge); });
  }

  // A message is in the trace if its signal or a wait for it is. `least` counts signals alone, in case unmatched waits
  // stand for no further messages.
  void estimate_losses() {
    for (const store::StatRow& stat : model_.stats) {
      if (stat.severity == store::StatRow::Severity::data_loss && stat.value > 0)
        traffic_.lost += static_cast<std::uint64_t>(stat.value);
    }
    const auto kept = static_cast<double>(model_.waits.size() + model_.signals.size() + model_.host_waits.size());
    const double recorded = traffic_.lost == 0 ? 1 : kept / (kept + static_cast<double>(traffic_.lost));
    const double signals = share_of_rows(model_.signals, traffic_.missing);
    const double waits =
        std::min(share_of_rows(model_.waits, traffic_.missing), share_of_rows(model_.host_waits, traffic_.missing));
    const double signal_share = std::min({matched_share_, signals, recorded});
    const double wait_share = std::min({matched_share_, waits, recorded});
    const bool all = signal_share > kAllSignals;
    traffic_.completeness.recorded = recorded;
    traffic_.completeness.seen = all ? 1 : 1 - (1 - signal_share) * (1 - wait_share);
    traffic_.completeness.least = all ? 1 : signal_share;
  }

  const TraceModel& model_;
  const Matching& matching_;
  const PartyMap map_;
  std::vector<SiteFacts> facts_;  // per site number
  std::uint64_t announcing_ = 0;
  double matched_share_ = 1;     // of the waits whose signal is recorded
  std::vector<Origin> origins_;  // of the messages
  std::vector<Message> within_;  // within a party
  std::vector<Origin> within_origins_;
  Traffic traffic_;
};

}  // namespace

Traffic gather_traffic(const TraceModel& model, const Matching& matching) { return Gatherer(model, matching).run(); }

}  // namespace wicprof::analyzer
