#include "analyzer/communication/classify.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "analyzer/communication/access_pattern.h"
#include "analyzer/communication/block_pattern.h"
#include "analyzer/communication/classify_words.h"
#include "analyzer/communication/copy_traffic.h"
#include "analyzer/communication/traffic.h"
#include "analyzer/communication/votes.h"

namespace wicprof::analyzer {
namespace {

/// The classification examines only the pairs with the most messages.
constexpr std::size_t kMaxPairs = 256;

// Factors on the confidence. None is fitted by itself; of the made programs' answers, more are right than the
// confidence says (reliability, docs/truth.md).
/// How fast missing messages lower it.
constexpr double kLossPenalty = 0.8;
/// Most transfers consist of several signals.
constexpr double kMerged = 0.8;
/// Some signals may be answers or acknowledgements.
constexpr double kDoubtful = 0.5;
/// The model of a ring, which no single pair shows.
constexpr double kRing = 0.9;
/// What `multiple` is worth at most in a ring with equal counts each way: its members may take strict turns, which a
/// few receipts without a known time hide.
constexpr double kMaxMultipleInRing = 0.75;
/// Pairs with fewer messages than this share of the pair with the most are no part of a ring.
constexpr double kStray = 0.05;
/// The most that a model with one transfer each way is worth where groups of blocks exchange messages apart from each
/// other: the groups may be lanes of the same parties, which then have several transfers each way.
constexpr double kMaxWithLanes = 0.75;

/// The factors are independent doubts, and several of them together doubt too much: of the made programs that serve to
/// improve, answers whose factors multiply to 0.4 were right in 60 % of all cases, and, where records are missing,
/// those from 0.35 to 0.5 in 80 %. Products from the first to the last value are stated as kMinConfidence to the last
/// value.
constexpr double kLeastProduct = 0.4, kLeastProductInParts = 0.35, kProductAsItIs = 0.6;

constexpr double kWholeTrace = 0.98;

bool is_whole(const Completeness& completeness) {
  return completeness.seen >= kWholeTrace && completeness.recorded >= 1;
}

/// With fewer of the signals than this, what is left may look like any model.
constexpr double kMostSignals = 0.6;
bool has_most(const Completeness& completeness) { return completeness.least >= kMostSignals; }

double stated(double product, const Completeness& completeness) {
  if (product >= kProductAsItIs || !has_most(completeness)) return product;
  const double least = is_whole(completeness) ? kLeastProduct : kLeastProductInParts;
  return kMinConfidence + (product - least) * (kProductAsItIs - kMinConfidence) / (kProductAsItIs - least);
}

double trust_in(const Traffic& traffic) {
  return traffic.certainty * (1 - kLossPenalty * (1 - traffic.completeness.seen));
}

void answer_model(CommunicationAnswer& answer, Model model, double product, const Completeness& completeness) {
  if (model == Model::unknown || product <= 0) return;
  const double confidence = stated(product, completeness);
  if (confidence < kMinConfidence) {
    answer.evidence.push_back(leaning_words(model, product));
    return;
  }
  answer.model = model;
  answer.model_confidence = confidence;
}

void answer_pattern(CommunicationAnswer& answer, Pattern pattern, double product, const Completeness& completeness) {
  if (pattern == Pattern::unknown || product <= 0) return;
  const double confidence = stated(product, completeness);
  if (confidence < kMinConfidence) {
    answer.evidence.push_back(leaning_words(pattern, product));
    return;
  }
  answer.pattern = pattern;
  answer.pattern_confidence = confidence;
}

std::uint64_t source_of(const Message& m) {
  return (std::uint64_t{m.from & 0xffffu} << 48) | (std::uint64_t{m.site & 0xffffu} << 32) | m.source;
}

/// A party, or one of its blocks where the party talks to itself.
using End = std::uint64_t;

class Classifier {
 public:
  Classifier(const TraceModel& model, Traffic traffic) : model_(model), traffic_(std::move(traffic)) {
    std::vector<Place> places;
    for (const Message& m : traffic_.messages) {
      if (const Place* place = traffic_.place_of(m)) places.push_back(*place);
    }
    whole_ = exchanged(std::move(places));
  }

  Classification run() {
    add_pairs();
    add_sites();
    decide_model();
    decide_pattern();
    for (std::string& line : record_words(traffic_)) result_.evidence.push_back(std::move(line));
    return std::move(result_);
  }

 private:
  const Message& message(std::uint32_t i) const { return traffic_.messages[i]; }

  End end_of(const Message& m, bool sends) const {
    const PartyIndex party = sends ? m.from : m.to;
    if (m.from != m.to) return End{party} << 32;
    return (End{party} << 32) | (sends ? m.sender : m.receiver);
  }

  /// As options name the end.
  std::string key_of(End end, bool by_blocks) const {
    const Party& party = traffic_.parties[end >> 32];
    if (by_blocks) {
      return fmt::format("block {} of {}", static_cast<std::uint32_t>(end), model_.device_key(party.device));
    }
    if (traffic_.one_device) return party.name;
    const std::string key = model_.device_key(party.device);
    return party.end < kFirstDeviceEnd ? key : fmt::format("{}[{}]", key, party.end - kFirstDeviceEnd);
  }
  /// For people.
  std::string name_of(End end, bool by_blocks) const {
    const Party& party = traffic_.parties[end >> 32];
    if (by_blocks) {
      return fmt::format("block {} of {}", static_cast<std::uint32_t>(end), model_.device_name(party.device));
    }
    return party.name;
  }

  /// The listed messages as seen from `first`.
  std::vector<Step> steps_of(const std::vector<std::uint32_t>& list, End first) const {
    std::vector<Step> steps;
    steps.reserve(list.size());
    for (const std::uint32_t i : list) {
      const Message& m = message(i);
      Step step;
      step.back = end_of(m, true) != first;
      step.iteration = m.iteration;
      step.at = m.at;
      step.received = m.received.value_or(0);
      step.sender = m.sender;
      step.receiver = m.receiver;
      if (m.source != Message::kNobody) step.source = source_of(m);
      steps.push_back(step);
    }
    return steps;
  }

  /// Adds the model of the listed messages to `answer`.
  Rhythm judge_model(const std::vector<std::uint32_t>& list, End first, const std::string& who,
                     CommunicationAnswer& answer) const {
    Rhythm rhythm = find_rhythm(steps_of(list, first), traffic_.completeness);
    answer.period = rhythm.period;
    const bool known = rhythm.model != Model::unknown;
    answer.evidence.push_back((known ? "" : "model unknown: ") + who + rhythm_words(rhythm));
    double confidence = rhythm.confidence * trust_in(traffic_);
    std::size_t merged = 0;
    for (const std::uint32_t i : list) merged += message(i).parts > 1 ? 1 : 0;
    if (known && rhythm.model != Model::unidirectional && 2 * merged > list.size()) {
      confidence *= kMerged;
      answer.evidence.emplace_back(kMergedWords);
    }
    if (known && !same_without_doubtful(list, first, rhythm.model)) {
      confidence *= kDoubtful;
      answer.evidence.emplace_back(kDoubtfulWords);
    }
    answer_model(answer, rhythm.model, confidence, traffic_.completeness);
    return rhythm;
  }

  /// Whether the model is the same if the signals that may be answers or acknowledgements do not count.
  bool same_without_doubtful(const std::vector<std::uint32_t>& list, End first, Model model) const {
    const auto doubtful = [&](std::uint32_t i) {
      return std::find(traffic_.doubtful.begin(), traffic_.doubtful.end(), message(i).site) != traffic_.doubtful.end();
    };
    std::vector<std::uint32_t> others;
    std::copy_if(list.begin(), list.end(), std::back_inserter(others), [&](std::uint32_t i) { return !doubtful(i); });
    if (others.size() == list.size()) return true;
    return find_rhythm(steps_of(others, first), traffic_.completeness).model == model;
  }

  /// Adds the pattern of the listed messages to `answer`.
  void judge_pattern(const std::vector<std::uint32_t>& list, End first, const Rhythm& rhythm,
                     CommunicationAnswer& answer) const {
    const PatternAnswer found = pattern_of(list, first, rhythm);
    answer.evidence.push_back(pattern_words(found.pattern, found.words));
    answer_pattern(answer, found.pattern, found.confidence * trust_in(traffic_), traffic_.completeness);
  }

  PatternAnswer pattern_of(const std::vector<std::uint32_t>& list, End first, const Rhythm& rhythm) const {
    std::vector<Access> accesses;
    for (std::size_t k = 0; k < list.size(); ++k) {
      const Message& m = message(list[k]);
      const Place* place = traffic_.place_of(m);
      if (place == nullptr) continue;
      const bool back = end_of(m, true) != first;
      accesses.push_back({rhythm.unit[k], static_cast<std::uint32_t>(m.site * 2 + (back ? 1 : 0)), back, *place,
                          m.source == Message::kNobody ? Access::kNobody : source_of(m)});
    }
    if (accesses.empty()) {
      const BlockPattern found = block_pattern(traffic_.messages, list);
      return {found.pattern, found.confidence, block_pattern_words(found)};
    }
    const Units units = rhythm.numbered           ? Units::iterations
                        : rhythm.iterations_known ? Units::repetitions
                                                  : Units::messages;
    return find_pattern(accesses, whole_, traffic_.completeness.seen, units);
  }

  // --- pairs of parties

  void add_pairs() {
    std::map<std::pair<End, End>, std::vector<std::uint32_t>> by_ends;
    auto last = by_ends.end();  // consecutive messages often belong to one pair
    for (std::uint32_t i = 0; i < traffic_.messages.size(); ++i) {
      const auto [low, high] = std::minmax({end_of(message(i), true), end_of(message(i), false)});
      if (low == high) continue;
      if (last == by_ends.end() || last->first != std::pair(low, high)) last = by_ends.try_emplace({low, high}).first;
      last->second.push_back(i);
    }
    std::vector<const std::vector<std::uint32_t>*> pairs;
    for (const auto& [ends, list] : by_ends) pairs.push_back(&list);
    // Most messages first, then the pair with the earliest message, independently of the devices' numbers.
    std::sort(pairs.begin(), pairs.end(), [](const auto* a, const auto* b) {
      return a->size() != b->size() ? a->size() > b->size() : a->front() < b->front();
    });
    pair_count_ = pairs.size();
    for (const auto* list : pairs) {
      if (result_.pairs.size() == kMaxPairs) break;
      add_pair(*list);
    }
  }

  void add_pair(const std::vector<std::uint32_t>& list) {
    const Message& earliest = message(list.front());
    const bool blocks = earliest.from == earliest.to;
    PairWork work{end_of(earliest, true), end_of(earliest, false)};
    PairAnswer pair;
    pair.first = key_of(work.first, blocks);
    pair.second = key_of(work.second, blocks);
    for (const std::uint32_t i : list) ++(end_of(message(i), true) == work.first ? pair.forth : pair.back);
    const std::string who = fmt::format(
        "{} and {} (forth: from the first to the second): ", name_of(work.first, blocks), name_of(work.second, blocks));
    const Rhythm rhythm = judge_model(list, work.first, who, pair);
    work.model_lines = pair.evidence.size();
    judge_pattern(list, work.first, rhythm, pair);
    for (const std::uint32_t i : list) {
      if (const Place* place = traffic_.place_of(message(i))) work.bytes += place->bytes;
    }
    work_.push_back(work);
    result_.pairs.push_back(std::move(pair));
  }

  // --- sites

  void add_sites() {
    std::map<SiteId, std::vector<std::uint32_t>> by_site;
    for (std::uint32_t i = 0; i < traffic_.messages.size(); ++i) by_site[message(i).site].push_back(i);
    for (const auto& [id, list] : by_site) {
      SiteAnswer site;
      site.site = id;
      site.name = model_.site_name(site.site);
      site.messages = list.size();
      const End first = end_of(message(list.front()), true);
      const Rhythm rhythm = judge_model(list, first, {}, site);
      judge_pattern(list, first, rhythm, site);
      result_.sites.push_back(std::move(site));
    }
  }

  // --- the program

  void decide_model() {
    if (result_.pairs.empty()) {
      result_.evidence.emplace_back("model unknown: no party sends to another one");
      return;
    }
    if (decide_ring()) return;
    Votes votes;
    for (const PairAnswer& pair : result_.pairs) {
      votes.add(static_cast<std::size_t>(pair.model), static_cast<double>(pair.forth + pair.back),
                pair.model_confidence);
    }
    const auto model = static_cast<Model>(votes.best());
    const auto with_model = [&](const PairAnswer& pair) { return pair.model == model; };
    const auto example = std::find_if(result_.pairs.begin(), result_.pairs.end(), with_model);
    const auto& lines = example->evidence;
    const std::size_t model_lines = work_[static_cast<std::size_t>(example - result_.pairs.begin())].model_lines;
    result_.period = example->period;
    result_.evidence.insert(result_.evidence.end(), lines.begin(),
                            lines.begin() + static_cast<std::ptrdiff_t>(model_lines));
    if (result_.pairs.size() > 1) {
      const auto agreeing =
          static_cast<std::size_t>(std::count_if(result_.pairs.begin(), result_.pairs.end(), with_model));
      result_.evidence.push_back(
          pairs_words(pair_count_, result_.pairs.size(), agreeing, votes.share(votes.best()), model));
    }
    if (model == Model::unknown) return;
    if (!votes.agree(is_whole(traffic_.completeness) || !has_most(traffic_.completeness))) {
      result_.evidence.emplace_back("model unknown: the pairs differ");
      return;
    }
    answer_model(result_, model, std::min(may_be_lanes(model) ? kMaxWithLanes : 1.0, votes.confidence()),
                 traffic_.completeness);
  }

  // In a ring each party only sends to one and only receives from another. Every pair is unidirectional, but each party
  // exchanges messages with its two neighbours.
  bool decide_ring() {
    // Pairs are in order of their messages. The last ones may be strays, with senders or receivers that are guesses.
    std::size_t pairs = 0;
    const auto messages = [&](std::size_t i) {
      return static_cast<double>(result_.pairs[i].forth + result_.pairs[i].back);
    };
    while (pairs < result_.pairs.size() && messages(pairs) >= kStray * messages(0)) ++pairs;
    if (pairs < 3) return false;
    for (std::size_t i = 0; i < pairs; ++i) {
      if (result_.pairs[i].model != Model::unidirectional) return false;
    }
    std::vector<End> sources, sinks;
    for (std::size_t i = 0; i < pairs; ++i) {
      const bool forth = result_.pairs[i].forth >= result_.pairs[i].back;
      sources.push_back(forth ? work_[i].first : work_[i].second);
      sinks.push_back(forth ? work_[i].second : work_[i].first);
    }
    if (!form_cycles(sources, sinks)) return false;
    // For each party: messages that it sends are forth, messages that it receives are back.
    std::array<double, 5> weight{};
    double all = 0, confidence = 0;
    bool equal = false;  // counts each way
    for (const End party : sources) {
      std::vector<std::uint32_t> list;
      for (std::uint32_t i = 0; i < traffic_.messages.size(); ++i) {
        if (end_of(message(i), true) == party || end_of(message(i), false) == party) list.push_back(i);
      }
      const Rhythm rhythm = rhythm_in_ring(list, party);
      if (all == 0) {
        result_.evidence.push_back(ring_words(sources.size(), rhythm));
        result_.period = rhythm.period;
      }
      const auto* same = std::get_if<rhythm_evidence::SameCounts>(&rhythm.evidence);
      const auto* together = std::get_if<rhythm_evidence::SeveralIterations>(&rhythm.evidence);
      equal = equal || (same != nullptr && same->usual.forth == same->usual.back) ||
              (together != nullptr && together->counts.forth == together->counts.back);
      weight[static_cast<std::size_t>(rhythm.model)] += static_cast<double>(list.size());
      all += static_cast<double>(list.size());
      confidence += rhythm.confidence * static_cast<double>(list.size());
    }
    const auto best = static_cast<std::size_t>(std::max_element(weight.begin(), weight.end()) - weight.begin());
    if (weight[best] < Votes::kAgreement * all) {
      result_.evidence.emplace_back("model unknown: the members of the ring differ");
      return true;
    }
    const auto model = static_cast<Model>(best);
    double most = may_be_lanes(model) ? kMaxWithLanes : 1;
    if (model == Model::multiple && equal) most = std::min(most, kMaxMultipleInRing);
    if (traffic_.places.empty()) confidence *= kMerged;  // signals without payloads may be parts of one transfer
    answer_model(result_, model, std::min(most, kRing * confidence / all * trust_in(traffic_)), traffic_.completeness);
    return true;
  }

  // A neighbour in a ring may be a step ahead, so the order of the signals is not that of a party's turns. Where the
  // counts each way are equal, the party's own order of sending and receiving decides.
  Rhythm rhythm_in_ring(const std::vector<std::uint32_t>& list, End party) const {
    std::vector<Step> steps = steps_of(list, party);
    Rhythm rhythm = find_rhythm(steps, traffic_.completeness);
    const auto unknown = [](const Step& step) { return step.back && step.received == 0; };
    if (rhythm.model != Model::multiple || std::any_of(steps.begin(), steps.end(), unknown)) return rhythm;
    for (Step& step : steps) {
      (step.back ? step.at : step.received) = step.back ? step.received : step.at;
      step.sender = step.receiver = Step::kNobody;
    }
    std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.at < b.at; });
    Rhythm own = find_rhythm(steps, traffic_.completeness);
    return own.model == Model::alternating ? own : rhythm;
  }

  /// Whether the parties are blocks of one device, in groups without messages from one to another, and the model
  /// depends on which blocks are one party.
  bool may_be_lanes(Model model) const {
    const auto between_parties = [](const PairWork& work) { return work.first >> 32 != work.second >> 32; };
    if (model != Model::alternating || work_.empty() || std::any_of(work_.begin(), work_.end(), between_parties)) {
      return false;
    }
    std::map<End, End> group;
    const auto root = [&](End end) {
      while (group.try_emplace(end, end).first->second != end) end = group[end];
      return end;
    };
    for (const PairWork& work : work_) group[root(work.first)] = root(work.second);
    const End first = root(work_.front().first);
    return std::any_of(work_.begin(), work_.end(), [&](const PairWork& work) { return root(work.first) != first; });
  }

  // Whether each end sends to one and receives from one: one ring, or several where each party has several blocks.
  static bool form_cycles(std::vector<End> sources, std::vector<End> sinks) {
    std::sort(sources.begin(), sources.end());
    std::sort(sinks.begin(), sinks.end());
    return sources == sinks && std::adjacent_find(sources.begin(), sources.end()) == sources.end();
  }

  void decide_pattern() {
    if (result_.pairs.empty()) {
      result_.evidence.emplace_back("pattern unknown: there are no messages");
      return;
    }
    Votes votes;
    for (std::size_t i = 0; i < result_.pairs.size(); ++i) {
      const PairAnswer& pair = result_.pairs[i];
      votes.add(static_cast<std::size_t>(pair.pattern), static_cast<double>(std::max<std::uint64_t>(work_[i].bytes, 1)),
                pair.pattern_confidence);
    }
    const auto pattern = static_cast<Pattern>(votes.best());
    const auto example = std::find_if(result_.pairs.begin(), result_.pairs.end(),
                                      [&](const PairAnswer& pair) { return pair.pattern == pattern; });
    const auto& lines = example->evidence;
    const std::size_t model_lines = work_[static_cast<std::size_t>(example - result_.pairs.begin())].model_lines;
    result_.evidence.insert(result_.evidence.end(), lines.begin() + static_cast<std::ptrdiff_t>(model_lines),
                            lines.end());
    if (pattern == Pattern::unknown) return;
    if (!votes.agree(is_whole(traffic_.completeness) || !has_most(traffic_.completeness))) {
      result_.evidence.emplace_back("pattern unknown: the pairs of parties differ");
      return;
    }
    answer_pattern(result_, pattern, votes.confidence(), traffic_.completeness);
  }

  /// What the program's answer needs of a pair besides the pair's own.
  struct PairWork {
    End first = 0, second = 0;
    std::uint64_t bytes = 0;
    std::size_t model_lines = 0;  ///< lines of evidence for the model; those after them are for the pattern
  };

  const TraceModel& model_;
  const Traffic traffic_;
  Exchanged whole_;
  std::vector<PairWork> work_;  // per pair of the result
  std::size_t pair_count_ = 0;
  Classification result_;
};

/// A classification of copies or migrations: these have no sites.
Classification classify_without_sites(const TraceModel& model, Traffic traffic, std::string_view what) {
  Classification result = Classifier(model, std::move(traffic)).run();
  result.sites.clear();
  result.evidence.emplace(result.evidence.begin(), what);
  return result;
}

}  // namespace

Classification classify(const TraceModel& model, const Matching& matching) {
  Traffic traffic = gather_traffic(model, matching);
  if (!traffic.messages.empty()) return Classifier(model, std::move(traffic)).run();
  Traffic copies = copy_traffic(model);
  if (!copies.messages.empty()) return classify_without_sites(model, std::move(copies), kCopiesWords);
  Traffic migrations = migration_traffic(model);
  if (!migrations.messages.empty()) return classify_without_sites(model, std::move(migrations), kMigrationsWords);
  Classification none;
  none.evidence.push_back("model unknown: " + no_messages_words(model, traffic));
  none.evidence.emplace_back(
      "pattern unknown: the pattern follows from the locations of messages, and the trace holds no message records");
  return none;
}

}  // namespace wicprof::analyzer
