#include "analyzer/communication/site_facts.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/communication/recorded_share.h"

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

bool at_least(std::uint64_t part, std::uint64_t percent, std::uint64_t all) { return 100 * part >= percent * all; }

class SiteFinder {
 public:
  SiteFinder(const TraceModel& model, const Matching& matching, const PartyMap& map)
      : model_(model), matching_(matching), map_(map) {
    result_.sites.resize(map.sites().size());
  }

  SignalSites run() {
    gather_site_facts();
    find_acknowledgements();
    return std::move(result_);
  }

 private:
  PartyIndex sender_of(const store::SignalRow& signal) const { return map_.of(signal.device, signal.site, false); }
  PartyIndex receiver_of(const WakeEdge& edge) const {
    const WaitView wait = view_of(model_, edge);
    return map_.of(wait.device, wait.site, true);
  }
  SiteFacts& facts(SiteId site) { return result_.sites[map_.sites().of(site)]; }

  void gather_site_facts() {
    for (const store::SignalRow& signal : model_.signals) {
      if (is_foreign(signal)) continue;
      SiteFacts& site = facts(signal.site);
      ++site.signals;
      if (signal.bytes > 0) ++site.announcing;
      if (site.signals == 1) site.number = signal.iteration;
      site.numbered = site.numbered || signal.iteration != site.number;
      const PartyIndex from = sender_of(signal);
      if (site.from == Message::kNobody) site.from = from;
      if (site.from != from) site.one_sender = site.one_way = false;
      const std::uint32_t source = signal.device == kHostDevice ? signal.thread : signal.block;
      if (signal.value <= 1) ++site.flags;
      if (site.source == Message::kNobody) site.source = source;
      if (site.source != source) site.one_source = false;
    }
    for (const WakeEdge& edge : matching_.edges) {
      const store::SignalRow& signal = model_.signals[edge.signal];
      if (is_foreign(signal)) continue;
      const WaitView wait = view_of(model_, edge);
      SiteFacts& site = facts(signal.site);
      ++site.edges;
      ++site.leads[std::int64_t{wait.iteration} - std::int64_t{signal.iteration}];
      if (signal.word && signal.word == wait.word) ++site.tagged;
      const PartyIndex to = map_.of(wait.device, wait.site, true);
      if (site.to == Message::kNobody) site.to = to;
      if (site.to != to) site.one_way = false;
    }
    for (SiteFacts& site : result_.sites) {
      result_.announcing += site.announcing;
      std::uint64_t upto = 0;
      for (const auto& [lead, edges] : site.leads) {
        upto += edges;
        if (upto <= site.edges / 2) continue;
        site.lead = lead;
        break;
      }
    }
  }

  // An acknowledgement carries nothing, goes against the messages of other sites, and releases its producer for a
  // message some iterations later. One iteration later it could also be an answer, unless the messages say what they
  // carry.
  void find_acknowledgements() {
    std::optional<std::int64_t> least_lead;
    for (std::size_t i = 0; i < result_.sites.size(); ++i) {
      SiteFacts& site = result_.sites[i];
      site.acknowledges = purpose_of(i) == SitePurpose::acknowledgement;
      const bool carries = result_.announcing == 0 || site.announcing > 0;
      if (!site.acknowledges && carries && site.edges > 0)
        least_lead = std::min(least_lead.value_or(site.lead), site.lead);
    }
    // Numbers of waits that are far from those of the signals are another count, and show no usual distance.
    const std::int64_t usual = least_lead == kUsualLead ? kUsualLead : 0;
    // Whoever declares acknowledgements from one party to another one declares all of them.
    std::set<std::pair<PartyIndex, PartyIndex>> declared;
    for (std::size_t i = 0; i < result_.sites.size(); ++i) {
      if (purpose_of(i) == SitePurpose::acknowledgement) declared.emplace(result_.sites[i].from, result_.sites[i].to);
    }
    const std::vector<bool> against = sites_against_others();
    std::uint64_t missing = 0;
    const bool all_recorded = lost_records(model_) == 0 && share_of_rows(model_.signals, missing) == 1;
    for (std::size_t i = 0; i < result_.sites.size(); ++i) {
      SiteFacts& site = result_.sites[i];
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
        site.acknowledges = lead && *lead >= (result_.announcing > 0 ? 1 : kBufferSlots);
        if (site.acknowledges) result_.certainty = kGuessedAcknowledgements;
        const bool request = lead && *lead < 0,
                   bare_and_free = !lead && result_.announcing == 0 && site.from != site.to;
        if (!site.acknowledges && bare_and_free) {
          result_.certainty = std::min(result_.certainty, kGuessedAcknowledgements);
        } else if (!site.acknowledges && !request) {
          doubt(i);
        }
        continue;
      }
      // Where an iteration has several messages, only its first ones wait for slots of the iteration before.
      std::uint64_t ahead = 0;
      for (auto lead = site.leads.upper_bound(usual); lead != site.leads.end(); ++lead) ahead += lead->second;
      const bool ahead_of_others = ahead >= kMinAhead && at_least(ahead, kAheadPercent, site.edges);
      site.acknowledges = site.lead >= usual + kBufferSlots || (ahead_of_others && result_.announcing > 0);
      if (site.acknowledges && site.lead < usual + kBufferSlots) result_.certainty = kGuessedAcknowledgements;
      if (site.acknowledges || !ahead_of_others) continue;
      const std::optional<std::int64_t> lead = messages_ahead(i);
      site.acknowledges = lead && *lead >= kBufferSlots;
      if (site.acknowledges) result_.certainty = kGuessedAcknowledgements;
      if (!site.acknowledges) doubt(i);
    }
  }

  /// `site`: a number in sites().
  void doubt(std::size_t site) {
    const SiteId id = map_.sites().at(site);
    if (std::find(result_.doubtful.begin(), result_.doubtful.end(), id) == result_.doubtful.end()) {
      result_.doubtful.push_back(id);
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
        awaited[pair].emplace_back(edge.signal, view_of(model_, edge).begin);
      } else if (result_.announcing == 0 || result_.sites[its_site].announcing > 0) {
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
    std::vector<std::uint64_t> against(result_.sites.size(), 0);
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
    std::vector<bool> result(result_.sites.size());
    for (std::size_t i = 0; i < result_.sites.size(); ++i) {
      result[i] = result_.sites[i].edges > 0 && at_least(against[i], kAgainstPercent, result_.sites[i].edges);
    }
    return result;
  }

  const TraceModel& model_;
  const Matching& matching_;
  const PartyMap& map_;
  SignalSites result_;
};

}  // namespace

SignalSites find_signal_sites(const TraceModel& model, const Matching& matching, const PartyMap& map) {
  return SiteFinder(model, matching, map).run();
}

}  // namespace wicprof::analyzer
