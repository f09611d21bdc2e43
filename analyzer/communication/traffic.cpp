#include "analyzer/communication/traffic.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/communication/parties.h"
#include "analyzer/communication/transfers.h"
#include "analyzer/measure/sorting.h"

namespace wicprof::analyzer {
namespace {

// None of these is fitted by itself; bench_classification_made judges the answers that follow (docs/truth.md).

/// A site may acknowledge if this share of its signals go against those of other sites.
constexpr std::uint64_t kAgainstPercent = 90;
/// A wait with a number this far ahead of the signal's, beyond what other sites show, waits for free buffer slots. A
/// wait that is one number ahead may also wait for an answer.
constexpr std::int64_t kBufferSlots = 2;
constexpr std::uint64_t kMinAhead = 3, kAheadPercent = 1;
/// How much the numbers of messages ahead of waits for a free slot may differ.
constexpr std::int64_t kSameLead = 2;
/// The certainty of the messages where only such numbers show which signals acknowledge, or nothing shows whether any
/// do.
constexpr double kGuessedAcknowledgements = 0.8;
/// Programs number waits as they number signals, or one later.
constexpr std::int64_t kUsualLead = 1;
/// Above this share of signals without a tag that waits know, among several senders, edges may be guesses.
constexpr std::uint64_t kUntaggedPercent = 10;
/// What such edges are worth.
constexpr double kUntagged = 0.6;
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
  std::optional<std::uint32_t> value;  ///< wanted, or else seen
  std::uint32_t block = kNone;
  TimeNs arrived = 0, resumed = 0;
  std::optional<WordTag> word;
};

Waiting waiting_of(const store::WaitRow& w) {
  return {w.site, w.device, w.iteration, w.wanted.value_or(w.value), w.block, w.arrived, w.resumed, w.word};
}
Waiting waiting_of(const store::HostWaitRow& w) {
  return {w.site, kHostDevice, w.iteration, w.wanted ? w.wanted : w.value, kNone, w.begin, w.end, w.word};
}
Waiting waiting_of(const TraceModel& model, const WakeEdge& edge) {
  return edge.host ? waiting_of(model.host_waits[edge.wait]) : waiting_of(model.waits[edge.wait]);
}

/// Sums over the records of one site.
struct SiteFacts {
  std::uint64_t signals = 0, announcing = 0;  ///< announcing: with a payload
  std::uint64_t edges = 0;
  std::uint64_t tagged = 0;             ///< edges whose wait and signal have one word tag
  std::vector<std::int64_t> leads;      ///< per edge: the number of the wait minus that of the signal
  std::int64_t lead = 0;                ///< their median
  bool numbered = false;                ///< its signals have several iteration numbers
  std::uint32_t number = 0;             ///< of its first signal
  PartyIndex from = kNone, to = kNone;  ///< the first seen
  bool one_way = true;                  ///< all go from `from` to `to`
  bool one_sender = true;
  bool one_source = true;  ///< block or host thread
  std::uint32_t source = kNone;
  std::uint64_t flags = 0;  ///< signals with the value 0 or 1
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
    sort_if_needed(traffic_.messages, [](const Message& a, const Message& b) { return a.at < b.at; });
    return std::move(traffic_);
  }

 private:
  PartyIndex sender_of(const store::SignalRow& signal) const { return map_.of(signal.device, signal.site, false); }
  PartyIndex receiver_of(const Waiting& wait) const { return map_.of(wait.device, wait.site, true); }
  PartyIndex receiver_of(const WakeEdge& edge) const {
    if (edge.host) return map_.of(kHostDevice, model_.host_waits[edge.wait].site, true);
    return map_.of(model_.waits[edge.wait].device, model_.waits[edge.wait].site, true);
  }

  /// Of the words that a program's own loops poll, only some writers are seen: how the program communicates does not
  /// follow from those.
  static bool is_foreign(const store::SignalRow& signal) { return signal.writer != SignalWriter::program; }

  SiteFacts& facts(SiteId site) { return facts_[map_.sites().of(site)]; }

  void gather_site_facts() {
    for (const store::SignalRow& signal : model_.signals) {
      if (is_foreign(signal)) continue;
      SiteFacts& site = facts(signal.site);
      ++site.signals;
      if (signal.bytes > 0) ++site.announcing;
      if (site.signals == 1) site.number = signal.iteration;
      site.numbered = site.numbered || signal.iteration != site.number;
      const PartyIndex from = sender_of(signal);
      if (site.from == kNone) site.from = from;
      if (site.from != from) site.one_sender = site.one_way = false;
      const std::uint32_t source = signal.device == kHostDevice ? signal.thread : signal.block;
      if (signal.value <= 1) ++site.flags;
      if (site.source == kNone) site.source = source;
      if (site.source != source) site.one_source = false;
    }
    for (const WakeEdge& edge : matching_.edges) {
      const store::SignalRow& signal = model_.signals[edge.signal];
      if (is_foreign(signal)) continue;
      const Waiting wait = waiting_of(model_, edge);
      SiteFacts& site = facts(signal.site);
      ++site.edges;
      site.leads.push_back(std::int64_t{wait.iteration} - std::int64_t{signal.iteration});
      if (signal.word && signal.word == wait.word) ++site.tagged;
      const PartyIndex to = receiver_of(wait);
      if (site.to == kNone) site.to = to;
      if (site.to != to) site.one_way = false;
    }
    for (SiteFacts& site : facts_) {
      announcing_ += site.announcing;
      if (site.leads.empty()) continue;
      const auto middle = site.leads.begin() + static_cast<std::ptrdiff_t>(site.leads.size() / 2);
      std::nth_element(site.leads.begin(), middle, site.leads.end());
      site.lead = *middle;
    }
  }

  // An acknowledgement carries nothing, goes against the messages of other sites, and releases its producer for a
  // message some iterations later. One iteration later it could also be an answer, unless the messages say what they
  // carry.
  void find_acknowledgements() {
    std::optional<std::int64_t> least_lead;
    for (std::size_t i = 0; i < facts_.size(); ++i) {
      SiteFacts& site = facts_[i];
      site.acknowledges = purpose_of(i) == SitePurpose::acknowledgement;
      const bool carries = announcing_ == 0 || site.announcing > 0;
      if (!site.acknowledges && carries && site.edges > 0)
        least_lead = std::min(least_lead.value_or(site.lead), site.lead);
    }
    // Numbers of waits that are far from those of the signals are another count, and show no usual distance.
    const std::int64_t usual = least_lead == kUsualLead ? kUsualLead : 0;
    // Whoever declares acknowledgements from one party to another one declares all of them.
    std::set<std::pair<PartyIndex, PartyIndex>> declared;
    for (std::size_t i = 0; i < facts_.size(); ++i) {
      if (purpose_of(i) == SitePurpose::acknowledgement) declared.emplace(facts_[i].from, facts_[i].to);
    }
    const std::vector<bool> against = sites_against_others();
    std::uint64_t missing = 0;
    const bool all_recorded = lost_records() == 0 && share_of_rows(model_.signals, missing) == 1;
    for (std::size_t i = 0; i < facts_.size(); ++i) {
      SiteFacts& site = facts_[i];
      if (purpose_of(i) != SitePurpose::unknown || site.announcing > 0 || site.edges == 0 || !against[i]) continue;
      if (declared.contains({site.from, site.to})) continue;
      if (2 * site.flags >= site.signals && !all_recorded) {
        doubt(i);  // its waits may have the signals of others that are missing
        continue;
      }
      if (!site.numbered) {
        // A request comes before the message that it asks for. A wait for a free slot comes after as many messages as
        // the buffer holds. Sides that run freely show no such number.
        const std::optional<std::int64_t> lead = messages_ahead(i);
        site.acknowledges = lead && *lead >= (announcing_ > 0 ? 1 : kBufferSlots);
        if (site.acknowledges) traffic_.certainty = kGuessedAcknowledgements;
        const bool request = lead && *lead < 0, bare_and_free = !lead && announcing_ == 0 && site.from != site.to;
        if (!site.acknowledges && bare_and_free) {
          traffic_.certainty = std::min(traffic_.certainty, kGuessedAcknowledgements);
        } else if (!site.acknowledges && !request) {
          doubt(i);
        }
        continue;
      }
      // Where an iteration has several messages, only its first ones wait for slots of the iteration before.
      const auto ahead = static_cast<std::uint64_t>(
          std::count_if(site.leads.begin(), site.leads.end(), [&](std::int64_t lead) { return lead > usual; }));
      const bool ahead_of_others = ahead >= kMinAhead && at_least(ahead, kAheadPercent, site.edges);
      site.acknowledges = site.lead >= usual + kBufferSlots || (ahead_of_others && announcing_ > 0);
      if (site.acknowledges && site.lead < usual + kBufferSlots) traffic_.certainty = kGuessedAcknowledgements;
      if (site.acknowledges || !ahead_of_others) continue;
      const std::optional<std::int64_t> lead = messages_ahead(i);
      site.acknowledges = lead && *lead >= kBufferSlots;
      if (site.acknowledges) traffic_.certainty = kGuessedAcknowledgements;
      if (!site.acknowledges) doubt(i);
    }
    for (const SiteFacts& site : facts_) traffic_.left_out.acknowledging_sites += site.acknowledges ? 1 : 0;
  }

  /// `site`: a number in sites().
  void doubt(std::size_t site) {
    const SiteId id = map_.sites().at(site);
    if (std::find(traffic_.doubtful.begin(), traffic_.doubtful.end(), id) == traffic_.doubtful.end()) {
      traffic_.doubtful.push_back(id);
    }
  }

  /// For a site whose waiters send to its signallers at other sites: how many messages a waiter has sent at one of
  /// them, when it begins to wait, beyond the number of the signal that it waits for. Nothing where nearly all waits of
  /// a pair agree at no other site.
  std::optional<std::int64_t> messages_ahead(std::size_t site) const {
    using Pair = std::pair<PartyIndex, PartyIndex>;
    std::map<Pair, std::map<std::size_t, std::vector<TimeNs>>> sent;  // by the other site
    std::map<Pair, std::vector<std::pair<std::uint32_t, TimeNs>>> awaited;
    for (const WakeEdge& edge : matching_.edges) {
      const store::SignalRow& signal = model_.signals[edge.signal];
      const Pair pair{sender_of(signal), receiver_of(edge)};
      const std::size_t its_site = map_.sites().of(signal.site);
      if (its_site == site) {
        awaited[pair].emplace_back(edge.signal, waiting_of(model_, edge).arrived);
      } else if (announcing_ == 0 || facts_[its_site].announcing > 0) {
        sent[pair][its_site].push_back(signal.at);
      }
    }
    std::vector<std::int64_t> all;
    for (auto& [pair, waits] : awaited) {
      std::sort(waits.begin(), waits.end());
      std::optional<std::int64_t> least;
      for (auto& [other, messages] : sent[{pair.second, pair.first}]) {
        std::sort(messages.begin(), messages.end());
        messages.erase(std::unique(messages.begin(), messages.end()), messages.end());
        const std::optional<std::int64_t> ahead = steadily_ahead(waits, messages);
        if (ahead && (!least || std::abs(*ahead) < std::abs(*least))) least = ahead;
      }
      if (!least) return std::nullopt;
      all.push_back(*least);
    }
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    return *middle;
  }

  /// `waits`: the signal and the time of arrival, in order. `messages`: times of sending, in order.
  static std::optional<std::int64_t> steadily_ahead(const std::vector<std::pair<std::uint32_t, TimeNs>>& waits,
                                                    const std::vector<TimeNs>& messages) {
    std::vector<std::int64_t> ahead;
    std::int64_t number = 0;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (i == 0 || waits[i].first != waits[i - 1].first) ++number;
      ahead.push_back(std::lower_bound(messages.begin(), messages.end(), waits[i].second) - messages.begin() - number);
    }
    std::sort(ahead.begin(), ahead.end());
    const std::size_t tenth = ahead.size() / 10;
    if (ahead[ahead.size() - 1 - tenth] - ahead[tenth] > kSameLead) return std::nullopt;
    return ahead[ahead.size() / 2];
  }

  SitePurpose purpose_of(std::size_t site) const {
    const store::SiteRow* declaration = map_.declaration(site);
    return declaration == nullptr ? SitePurpose::unknown : declaration->purpose;
  }

  /// Per site: whether nearly all of its edges go from a party to one that sends to it at another site.
  std::vector<bool> sites_against_others() const {
    using WayOfSite = std::tuple<PartyIndex, PartyIndex, std::size_t>;
    std::vector<std::uint64_t> against(facts_.size(), 0);
    std::map<WayOfSite, std::uint64_t> ways;
    for (const WakeEdge& edge : matching_.edges) {
      const store::SignalRow& signal = model_.signals[edge.signal];
      ++ways[{sender_of(signal), receiver_of(edge), map_.sites().of(signal.site)}];
    }
    for (const auto& [way, edges] : ways) {
      const auto& [from, to, site] = way;
      for (auto other = ways.lower_bound({to, from, 0}); other != ways.end(); ++other) {
        if (std::get<0>(other->first) != to || std::get<1>(other->first) != from) break;
        if (std::get<2>(other->first) == site) continue;
        against[site] += edges;
        break;
      }
    }
    std::vector<bool> result(facts_.size());
    for (std::size_t i = 0; i < facts_.size(); ++i) {
      result[i] = facts_[i].edges > 0 && at_least(against[i], kAgainstPercent, facts_[i].edges);
    }
    return result;
  }

  Message message_of(std::size_t index) {
    const store::SignalRow& signal = model_.signals[index];
    Message message;
    message.from = sender_of(signal);
    message.to = kNone;
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
      if (to[i] != kNone) {
        message.to = to[i];
        message.received = received[i];
        message.receiver = block[i];
      } else {
        // A wait for a later value of the word passed this signal, or its wait is lost.
        const Receiver receiver = receiver_of(signal, receivers);
        message.to = receiver.party;
        message.receiver = receiver.block;
      }
      if (message.to == kNone) {
        const bool bare = announcing_ > 0 && signal.bytes == 0;
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
    PartyIndex party = kNone;
    std::uint32_t block = kNone;
    bool several = false;
  };

  /// Who waits for the signals of each source, as the signals with a known wait show.
  std::map<Source, Receiver> receivers_of(const std::vector<PartyIndex>& to,
                                          const std::vector<std::uint32_t>& block) const {
    std::map<Source, Receiver> receivers;
    for (std::size_t i = 0; i < model_.signals.size(); ++i) {
      if (to[i] == kNone) continue;
      const store::SignalRow& signal = model_.signals[i];
      for (const std::uint32_t word : {kAnyWord, signal.word ? std::uint32_t{*signal.word} : kAnyWord}) {
        Receiver& receiver = receivers[{signal.site, sender_of(signal), word}];
        if (receiver.party == kNone) receiver = {to[i], block[i], false};
        receiver.several = receiver.several || receiver.party != to[i];
        if (receiver.block != block[i]) receiver.block = kNone;
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
      if (site.acknowledges || site.signals == 0) return;
      if (has_signal) {
        ++known;
      } else if (site.edges > 0) {
        missing.push_back(waiting_of(row));
      } else if (announcing_ == 0) {
        doubt(map_.sites().of(row.site));  // its numbers do not correspond to those of its signals
      }
    };
    for (std::size_t i = 0; i < model_.waits.size(); ++i) check(model_.waits[i], matched[i]);
    for (std::size_t i = 0; i < model_.host_waits.size(); ++i) {
      if (!model_.host_waits[i].in_call()) check(model_.host_waits[i], host_matched[i]);
    }
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
      message.iteration = static_cast<std::uint32_t>(std::max<std::int64_t>(0, wait.iteration - site.lead));
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

  std::uint64_t lost_records() const {
    std::uint64_t lost = 0;
    for (const store::StatRow& stat : model_.stats) {
      if (stat.severity == store::StatRow::Severity::data_loss && stat.value > 0)
        lost += static_cast<std::uint64_t>(stat.value);
    }
    return lost;
  }

  // A message is in the trace if its signal or a wait for it is. `least` counts signals alone, in case unmatched waits
  // stand for no further messages.
  void estimate_losses() {
    traffic_.lost = lost_records();
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
    for (const SiteFacts& site : facts_) {
      if (site.acknowledges) continue;
      edges += site.edges;
      // Within a party, the blocks are the senders.
      const bool one_sender = site.one_sender && (site.from != site.to || site.one_source);
      if (!one_sender && 2 * site.tagged < site.edges) guessed += site.edges;
    }
    if (guessed > 0 && at_least(guessed, kUntaggedPercent, edges)) traffic_.certainty *= kUntagged;
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
