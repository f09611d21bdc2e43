#include "analyzer/communication/traffic.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "analyzer/communication/parties.h"
#include "analyzer/communication/recorded_share.h"
#include "analyzer/communication/site_facts.h"
#include "analyzer/communication/transfers.h"
#include "analyzer/measure/sorting.h"

namespace wicprof::analyzer {
namespace {

// None of these is fitted by itself; bench_classification_made judges the answers that follow (docs/truth.md).

/// Above this share of signals without a tag that waits know, among several senders, edges may be guesses.
constexpr std::uint64_t kUntaggedPercent = 10;
/// What such edges are worth.
constexpr double kUntagged = 0.6;
/// From this share of recorded signals on, the trace counts as whole.
constexpr double kAllSignals = 0.995;

std::optional<Place> place_of(const store::SignalRow& row) {
  if (row.bytes == 0) return std::nullopt;
  return Place{row.offset, row.span, row.bytes, row.pieces, row.regular || row.pieces == 1};
}

class Gatherer {
 public:
  Gatherer(const TraceModel& model, const Matching& matching)
      : model_(model), matching_(matching), map_(model, matching), sites_(find_signal_sites(model, matching, map_)) {}

  Traffic run() {
    traffic_.parties = map_.parties();
    traffic_.one_device = map_.one_device();
    traffic_.doubtful = sites_.doubtful;
    traffic_.certainty = sites_.certainty;
    for (const SiteFacts& site : sites_.sites) traffic_.left_out.acknowledging_sites += site.acknowledges ? 1 : 0;
    add_signals();
    add_unmatched();
    if (traffic_.messages.empty()) add_messages_within_parties();
    merge_transfers();
    estimate_losses();
    sort_if_needed(traffic_.messages, [](const Message& a, const Message& b) { return a.at < b.at; });
    return std::move(traffic_);
  }

 private:
  PartyIndex sender_of(const store::SignalRow& signal) const { return map_.of(signal.device, signal.site, false); }
  PartyIndex receiver_of(const WaitView& wait) const { return map_.of(wait.device, wait.site, true); }
  PartyIndex receiver_of(const WakeEdge& edge) const { return receiver_of(view_of(model_, edge)); }
  static std::optional<std::uint32_t> wanted_or_seen(const WaitView& wait) {
    return wait.wanted ? wait.wanted : wait.value;
  }
  static std::uint32_t block_of(const WaitView& wait) { return wait.host ? Message::kNobody : wait.who; }

  const SiteFacts& facts(SiteId site) const { return sites_.sites[map_.sites().of(site)]; }

  Message message_of(std::size_t index) {
    const store::SignalRow& signal = model_.signals[index];
    Message message;
    message.from = sender_of(signal);
    message.to = Message::kNobody;
    message.site = signal.site;
    message.iteration = signal.iteration;
    message.at = signal.at;
    message.source = signal.device == kHostDevice ? signal.thread : signal.block;
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
    std::vector<PartyIndex> to(model_.signals.size(), Message::kNobody);
    std::vector<TimeNs> received(model_.signals.size(), std::numeric_limits<TimeNs>::max());
    std::vector<std::uint32_t> block(model_.signals.size(), Message::kNobody);
    std::vector<Other> others;
    for (const WakeEdge& edge : matching_.edges) {
      const WaitView wait = view_of(model_, edge);
      const PartyIndex party = receiver_of(wait);
      const std::size_t i = edge.signal;
      if (to[i] == Message::kNobody) to[i] = party;
      if (to[i] != party) {
        others.push_back({i, party, wait.end, block_of(wait)});
      } else if (wait.end < received[i]) {
        received[i] = wait.end;
        block[i] = block_of(wait);
      }
    }
    std::sort(others.begin(), others.end(), [](const Other& a, const Other& b) {
      return std::tie(a.signal, a.to, a.received) < std::tie(b.signal, b.to, b.received);
    });

    const std::map<Source, Receiver> receivers = receivers_of(to, block);
    for (std::size_t i = 0; i < model_.signals.size(); ++i) {
      const store::SignalRow& signal = model_.signals[i];
      if (is_foreign(signal)) continue;
      const SiteFacts& site = facts(signal.site);
      if (site.acknowledges) {
        ++traffic_.left_out.acknowledgements;
        continue;
      }
      Message message = message_of(i);
      if (to[i] != Message::kNobody) {
        message.to = to[i];
        message.received = received[i];
        message.receiver = block[i];
      } else {
        // A wait for a later value of the word passed this signal, or its wait is lost.
        const Receiver receiver = receiver_of(signal, receivers);
        message.to = receiver.party;
        message.receiver = receiver.block;
      }
      if (message.to == Message::kNobody) {
        const bool bare = sites_.announcing > 0 && signal.bytes == 0;
        ++(bare ? traffic_.left_out.bare : traffic_.left_out.unheard);
        continue;
      }
      add(message, {static_cast<std::uint32_t>(i), model_.signals[i].value});
    }
    for (std::size_t k = 0; k < others.size(); ++k) {
      if (k > 0 && others[k].signal == others[k - 1].signal && others[k].to == others[k - 1].to) continue;
      const store::SignalRow& signal = model_.signals[others[k].signal];
      if (facts(signal.site).acknowledges || is_foreign(signal)) continue;
      Message message = message_of(others[k].signal);
      message.to = others[k].to;
      message.received = others[k].received;
      message.receiver = others[k].block;
      add(message, {static_cast<std::uint32_t>(others[k].signal), signal.value});
    }
  }

  /// Where a signal comes from: site, party and word. Without a word: any of the party's words at the site.
  using Source = std::tuple<SiteId, PartyIndex, std::uint32_t>;
  static constexpr std::uint32_t kAnyWord = ~std::uint32_t{0};
  struct Receiver {
    PartyIndex party = Message::kNobody;
    std::uint32_t block = Message::kNobody;
    bool several = false;
  };

  /// Who waits for the signals of each source, as the signals with a known wait show.
  std::map<Source, Receiver> receivers_of(const std::vector<PartyIndex>& to,
                                          const std::vector<std::uint32_t>& block) const {
    std::map<Source, Receiver> receivers;
    for (std::size_t i = 0; i < model_.signals.size(); ++i) {
      if (to[i] == Message::kNobody) continue;
      const store::SignalRow& signal = model_.signals[i];
      const PartyIndex from = sender_of(signal);
      for (const std::uint32_t word : {kAnyWord, signal.word ? std::uint32_t{*signal.word} : kAnyWord}) {
        Receiver& receiver = receivers[{signal.site, from, word}];
        if (receiver.party == Message::kNobody) receiver = {to[i], block[i], false};
        receiver.several = receiver.several || receiver.party != to[i];
        if (receiver.block != block[i]) receiver.block = Message::kNobody;
      }
    }
    return receivers;
  }

  Receiver receiver_of(const store::SignalRow& signal, const std::map<Source, Receiver>& receivers) const {
    for (const std::uint32_t word : {signal.word ? std::uint32_t{*signal.word} : kAnyWord, kAnyWord}) {
      const auto found = receivers.find({signal.site, sender_of(signal), word});
      if (found != receivers.end() && !found->second.several) return found->second;
    }
    return {};
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
      if (m.sender == Message::kNobody || m.receiver == Message::kNobody || m.sender == m.receiver) continue;
      traffic_.messages.push_back(m);
      origins_.push_back(within_origins_[i]);
    }
    traffic_.left_out.within -= traffic_.messages.size();
  }

  void doubt(SiteId site) {
    std::vector<SiteId>& all = traffic_.doubtful;
    if (std::find(all.begin(), all.end(), site) == all.end()) all.push_back(site);
  }

  // Waits whose signal is missing, at sites with one sender. Many waiters on one word make one message.
  void add_unmatched() {
    std::vector<bool> matched[] = {std::vector<bool>(model_.waits.size()), std::vector<bool>(model_.host_waits.size())};
    for (const WakeEdge& edge : matching_.edges) matched[edge.host][edge.wait] = true;
    std::vector<WaitView> missing;
    std::uint64_t known = 0;
    for_each_wait(model_, [&](const WaitView& wait) {
      if (wait.in_call || wait.site == 0 || wait.status != WaitStatus::satisfied) return;
      const SiteFacts& site = facts(wait.site);
      if (site.acknowledges || site.signals == 0) return;
      if (matched[wait.host][wait.index]) {
        ++known;
      } else if (site.edges > 0) {
        missing.push_back(wait);
      } else if (sites_.announcing == 0) {
        doubt(wait.site);  // its numbers do not correspond to those of its signals
      }
    });
    traffic_.unmatched = missing.size();
    if (known + missing.size() > 0) {
      matched_share_ = static_cast<double>(known) / static_cast<double>(known + missing.size());
    }
    const auto key = [](const WaitView& w) {
      return std::tuple(w.site, w.device, w.iteration, wanted_or_seen(w).value_or(0), w.word.value_or(0));
    };
    std::sort(missing.begin(), missing.end(), [&](const WaitView& a, const WaitView& b) {
      return std::tuple_cat(key(a), std::tuple(a.end)) < std::tuple_cat(key(b), std::tuple(b.end));
    });
    for (std::size_t i = 0; i < missing.size(); ++i) {
      const WaitView& wait = missing[i];
      const SiteFacts& site = facts(wait.site);
      // Waits with the same word and number share a message while they overlap.
      if (i > 0 && key(missing[i - 1]) == key(wait) && wait.begin <= missing[i - 1].end) continue;
      if (!site.one_sender) continue;
      Message message;
      message.from = site.from;
      message.to = receiver_of(wait);
      message.site = wait.site;
      message.iteration = static_cast<std::uint32_t>(std::max<std::int64_t>(0, wait.iteration - site.lead));
      message.at = wait.end;
      message.received = wait.end;
      message.receiver = block_of(wait);
      add(message, {Origin::kNone, wanted_or_seen(wait)});
    }
  }

  // Messages without payloads may be parts of one transfer.
  void merge_transfers() {
    if (sites_.announcing > 0) return;
    traffic_.messages = merge_parts(model_, matching_, std::move(traffic_.messages), std::move(origins_),
                                    [&](const WakeEdge& edge) { return receiver_of(edge); });
  }

  // A message is in the trace if its signal or a wait for it is. `least` counts signals alone, in case unmatched waits
  // stand for no further messages.
  void estimate_losses() {
    traffic_.lost = lost_records(model_);
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
    doubt_receivers();
  }

  // Signals whose receiver is unknown could be messages of any pair, and so could those of several senders at one site
  // whose words look different to the waiters.
  void doubt_receivers() {
    const auto messages = static_cast<double>(traffic_.messages.size());
    if (messages == 0) return;
    traffic_.certainty *= messages / (messages + static_cast<double>(traffic_.left_out.unheard));
    std::uint64_t edges = 0, guessed = 0;
    for (const SiteFacts& site : sites_.sites) {
      if (site.acknowledges) continue;
      edges += site.edges;
      // Within a party, the blocks are the senders.
      const bool one_sender = site.one_sender && (site.from != site.to || site.one_source);
      if (!one_sender && 2 * site.tagged < site.edges) guessed += site.edges;
    }
    if (guessed > 0 && 100 * guessed >= kUntaggedPercent * edges) traffic_.certainty *= kUntagged;
  }

  const TraceModel& model_;
  const Matching& matching_;
  const PartyMap map_;
  const SignalSites sites_;
  double matched_share_ = 1;     // of the waits whose signal is recorded
  std::vector<Origin> origins_;  // of the messages
  std::vector<Message> within_;  // within a party
  std::vector<Origin> within_origins_;
  Traffic traffic_;
};

}  // namespace

Traffic gather_traffic(const TraceModel& model, const Matching& matching) { return Gatherer(model, matching).run(); }

}  // namespace wicprof::analyzer
