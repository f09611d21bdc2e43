#include "analyzer/communication/classify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "analyzer/communication/access_pattern.h"
#include "analyzer/communication/copy_traffic.h"
#include "analyzer/communication/traffic.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// The program's answer is that of its pairs where those that agree have this part of what the pairs with an answer
/// have.
constexpr double kAgreement = 0.85;
/// So much must pairs with an answer have of everything.
constexpr double kAnswered = 0.5;
/// Pairs beyond these are not looked at one by one: they have the fewest messages.
constexpr std::size_t kMostPairs = 256;

/// Some of the messages, in order of time, seen from the party that sent the first.
struct Selection {
  std::vector<std::uint32_t> messages;
  bool by_blocks = false;  ///< the two sides are blocks of one party
};

double trust_in(const Traffic& traffic) { return traffic.sure * (1 - 0.8 * (1 - traffic.there.seen)); }

void answer_model(CommunicationAnswer& verdict, Model model, double confidence) {
  if (model == Model::unknown || confidence <= 0) return;
  if (confidence < kLeastConfidence) {
    verdict.evidence.push_back(
        fmt::format("model unknown: it leans to {}, with a confidence of {:.2f} only", model_name(model), confidence));
    return;
  }
  verdict.model = model;
  verdict.model_confidence = confidence;
}

void answer_pattern(CommunicationAnswer& verdict, Pattern pattern, double confidence) {
  if (pattern == Pattern::unknown || confidence <= 0) return;
  if (confidence < kLeastConfidence) {
    verdict.evidence.push_back(fmt::format("pattern unknown: it leans to {}, with a confidence of {:.2f} only",
                                           pattern_name(pattern), confidence));
    return;
  }
  verdict.pattern = pattern;
  verdict.pattern_confidence = confidence;
}

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
    tell_of_records();
    return std::move(result_);
  }

 private:
  const Message& message(std::uint32_t i) const { return traffic_.messages[i]; }

  /// A party, or one of its blocks where it talks to itself.
  std::uint64_t end_of(const Message& m, bool sends) const {
    const PartyIndex party = sends ? m.from : m.to;
    if (m.from != m.to) return std::uint64_t{party} << 32;
    return (std::uint64_t{party} << 32) | (sends ? m.sender : m.receiver);
  }

  std::string name_of(std::uint64_t end, bool by_blocks) const {
    const Party& party = traffic_.parties[end >> 32];
    if (by_blocks)
      return fmt::format("block {} of {}", static_cast<std::uint32_t>(end), model_.device_key(party.device));
    if (traffic_.one_device) return party.name;
    const std::string key = model_.device_key(party.device);
    return party.end < kFirstDeviceEnd ? key : fmt::format("{}[{}]", key, party.end - kFirstDeviceEnd);
  }
  std::string words_for(std::uint64_t end, bool by_blocks) const {
    const Party& party = traffic_.parties[end >> 32];
    if (by_blocks)
      return fmt::format("block {} of {}", static_cast<std::uint32_t>(end), model_.device_name(party.device));
    return party.name;
  }

  std::vector<Step> steps_of(const std::vector<std::uint32_t>& list, std::uint64_t first) const {
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
      steps.push_back(step);
    }
    return steps;
  }

  /// What both sides of a selection say together.
  Rhythm judge(const std::vector<std::uint32_t>& list, std::uint64_t first, const std::string& who,
               CommunicationAnswer& verdict) const {
    const std::vector<Step> steps = steps_of(list, first);
    Rhythm rhythm = find_rhythm(steps, traffic_.there);
    verdict.period = rhythm.period;
    const bool known = rhythm.model != Model::unknown;
    verdict.evidence.push_back(fmt::format("{}{}{}", known ? "" : "model unknown: ", who, rhythm.words));
    double confidence = rhythm.confidence * trust_in(traffic_);
    std::size_t merged = 0;
    for (const std::uint32_t i : list) merged += message(i).parts > 1 ? 1 : 0;
    if (known && rhythm.model != Model::unidirectional && 2 * merged > list.size()) {
      confidence *= 0.8;
      verdict.evidence.push_back(
          "words of one site that are set to the same value in one iteration count as one transfer, since "
          "the signals do not say what they carry");
    }
    if (known && traffic_.doubtful) {
      confidence *= 0.5;
      verdict.evidence.push_back(
          "signals that the other side awaits an iteration later, and is never kept waiting by, may be "
          "answers or acknowledgements");
    }
    answer_model(verdict, rhythm.model, confidence);
    return rhythm;
  }

  PatternAnswer pattern_of(const std::vector<std::uint32_t>& list, std::uint64_t first, const Rhythm& rhythm) const {
    std::vector<Access> accesses;
    for (std::size_t k = 0; k < list.size(); ++k) {
      const Message& m = message(list[k]);
      const Place* place = traffic_.place_of(m);
      if (place == nullptr) continue;
      const bool back = end_of(m, true) != first;
      accesses.push_back({rhythm.unit[k], static_cast<std::uint32_t>(m.site * 2 + (back ? 1 : 0)), back, *place});
    }
    if (accesses.empty()) return by_blocks(list);
    return find_pattern(accesses, whole_, traffic_.there.seen, rhythm.iterations_known);
  }

  // Without places: how far the blocks that release each other are apart. Weak evidence, since what they hand over is
  // not known.
  PatternAnswer by_blocks(const std::vector<std::uint32_t>& list) const {
    const std::string nothing =
        "it shows in the places of messages, and the trace holds no message records: signals say nothing of what they "
        "carry";
    std::vector<std::uint32_t> senders;
    std::size_t known = 0, next = 0, up = 0, partners = 0, self = 0;
    std::array<std::size_t, 32> bits{};
    for (const std::uint32_t i : list) {
      const Message& m = message(i);
      if (m.sender == Message::kNobody || m.receiver == Message::kNobody) continue;
      ++known;
      senders.push_back(m.sender);
      const std::uint32_t apart = m.sender > m.receiver ? m.sender - m.receiver : m.receiver - m.sender;
      self += apart == 0 ? 1 : 0;
      if (apart == 1) {
        ++next;
        up += m.receiver > m.sender ? 1 : 0;
      }
      const std::uint32_t differ = m.sender ^ m.receiver;
      if (std::has_single_bit(differ)) {
        ++partners;
        ++bits[static_cast<std::size_t>(std::countr_zero(differ))];
      }
    }
    std::sort(senders.begin(), senders.end());
    const auto distinct = static_cast<std::size_t>(std::unique(senders.begin(), senders.end()) - senders.begin());
    if (distinct < 8 || known < 16 || 10 * known < 9 * list.size()) return {Pattern::unknown, 0, nothing};
    const auto share = [&](std::size_t part) { return static_cast<double>(part) / static_cast<double>(known); };
    const auto used =
        static_cast<std::size_t>(std::count_if(bits.begin(), bits.end(), [](std::size_t n) { return n > 0; }));
    if (share(next) >= 0.9 && up * 4 >= next && up * 4 <= 3 * next) {
      return {Pattern::adjacent, 0.6 * share(next),
              fmt::format(
                  "{} of {} signals release the block next to their own, both ways; where the data lies is not known",
                  format_percent(share(next)), known)};
    }
    if (share(partners) >= 0.95 && used >= 3) {
      return {
          Pattern::scatter_gather, 0.6 * share(partners),
          fmt::format(
              "{} of {} signals go to partners at {} distances, each a power of two; where the data lies is not known",
              format_percent(share(partners)), known, used)};
    }
    return {Pattern::unknown, 0, nothing};
  }

  void tell_pattern(CommunicationAnswer& verdict, const PatternAnswer& answer) const {
    const bool known = answer.pattern != Pattern::unknown;
    verdict.evidence.push_back(fmt::format(
        "{}: {}", known ? pattern_name(answer.pattern) : std::string_view("pattern unknown"), answer.words));
    answer_pattern(verdict, answer.pattern, answer.confidence * trust_in(traffic_));
  }

  // --- pairs of parties

  void add_pairs() {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::uint32_t>> by_ends;
    auto last = by_ends.end();  // messages of one pair often come one after another
    for (std::uint32_t i = 0; i < traffic_.messages.size(); ++i) {
      const auto [low, high] = std::minmax({end_of(message(i), true), end_of(message(i), false)});
      if (low == high) continue;
      if (last == by_ends.end() || last->first != std::pair(low, high)) last = by_ends.try_emplace({low, high}).first;
      last->second.push_back(i);
    }
    std::vector<const std::vector<std::uint32_t>*> pairs;
    for (const auto& [ends, list] : by_ends) pairs.push_back(&list);
    // Most messages first; among equals the pair that talked first, whatever the devices' numbers.
    std::sort(pairs.begin(), pairs.end(), [](const auto* a, const auto* b) {
      return a->size() != b->size() ? a->size() > b->size() : a->front() < b->front();
    });
    pair_count_ = pairs.size();
    for (const auto* list : pairs) {
      if (result_.pairs.size() == kMostPairs) break;
      add_pair(*list);
    }
  }

  void add_pair(const std::vector<std::uint32_t>& list) {
    const Message& earliest = message(list.front());
    const bool blocks = earliest.from == earliest.to;
    const std::uint64_t first = end_of(earliest, true), second = end_of(earliest, false);
    PairAnswer pair;
    pair.first = name_of(first, blocks);
    pair.second = name_of(second, blocks);
    for (const std::uint32_t i : list) ++(end_of(message(i), true) == first ? pair.forth : pair.back);
    const std::string who = fmt::format("{} and {} (forth: from the first to the second): ", words_for(first, blocks),
                                        words_for(second, blocks));
    const Rhythm rhythm = judge(list, first, who, pair);
    const PatternAnswer pattern = pattern_of(list, first, rhythm);
    tell_pattern(pair, pattern);
    std::uint64_t bytes = 0;
    for (const std::uint32_t i : list) {
      if (const Place* place = traffic_.place_of(message(i))) bytes += place->bytes;
    }
    ends_.push_back({first, second});
    bytes_.push_back(bytes);
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
      const std::uint64_t first = end_of(message(list.front()), true);
      const Rhythm rhythm = judge(list, first, {}, site);
      tell_pattern(site, pattern_of(list, first, rhythm));
      result_.sites.push_back(std::move(site));
    }
  }

  // --- the program

  /// Answers of pairs, weighed; the last one is `unknown`.
  struct Vote {
    std::array<double, 5> weight{}, sure{};
    void add(std::size_t answer, double of, double confidence) {
      weight[answer] += of;
      sure[answer] += of * confidence;
    }
    double all() const { return std::accumulate(weight.begin(), weight.end(), 0.0); }
    double answered() const { return all() - weight.back(); }
    /// The answer with the most weight; `unknown` only where there is no other.
    std::size_t best() const {
      if (answered() == 0) return weight.size() - 1;
      return static_cast<std::size_t>(std::max_element(weight.begin(), weight.end() - 1) - weight.begin());
    }
    double share(std::size_t answer) const { return weight[answer] / all(); }
    bool agrees() const { return answered() >= kAnswered * all() && weight[best()] >= kAgreement * answered(); }
    /// Pairs without an answer make it less sure, but not as much as such with another.
    double confidence() const {
      return weight[best()] == 0 ? 0 : sure[best()] / weight[best()] * (0.5 + 0.5 * share(best()));
    }
  };

  void decide_model() {
    if (result_.pairs.empty()) {
      result_.evidence.push_back("model unknown: nobody is seen to send to anybody else");
      return;
    }
    if (decide_ring()) return;
    Vote vote;
    for (const PairAnswer& pair : result_.pairs) {
      vote.add(static_cast<std::size_t>(pair.model), static_cast<double>(pair.forth + pair.back),
               pair.model_confidence);
    }
    const auto model = static_cast<Model>(vote.best());
    const PairAnswer& example = *std::find_if(result_.pairs.begin(), result_.pairs.end(),
                                              [&](const PairAnswer& pair) { return pair.model == model; });
    result_.period = example.period;
    // What the pair was told of its model, and of what makes it less sure.
    for (const std::string& line : example.evidence) {
      if (!is_about_pattern(line)) result_.evidence.push_back(line);
    }
    if (result_.pairs.size() > 1) {
      const std::string busiest =
          pair_count_ > kMostPairs ? fmt::format(" (the busiest {} were looked at)", kMostPairs) : std::string();
      result_.evidence.push_back(fmt::format(
          "{} of parties talk to each other{}; {} of them, with {} of the messages: {}", count_of(pair_count_, "pair"),
          busiest, agreeing(model), format_percent(vote.share(vote.best())), model_name(model)));
    }
    if (model == Model::unknown) return;
    if (!vote.agrees()) {
      result_.evidence.push_back("model unknown: the pairs differ");
      return;
    }
    answer_model(result_, model, vote.confidence());
  }

  static bool is_about_pattern(const std::string& line) {
    if (line.starts_with("pattern unknown")) return true;
    for (const Pattern pattern : {Pattern::streaming, Pattern::adjacent, Pattern::scatter_gather, Pattern::random}) {
      if (line.starts_with(fmt::format("{}: ", pattern_name(pattern)))) return true;
    }
    return false;
  }

  std::size_t agreeing(Model model) const {
    return static_cast<std::size_t>(std::count_if(result_.pairs.begin(), result_.pairs.end(),
                                                  [&](const PairAnswer& pair) { return pair.model == model; }));
  }

  // A ring of parties, each of which only sends on what it only gets from another: for each pair one side always
  // produces, for each party it is an exchange with its neighbours, as it would be with two of them.
  bool decide_ring() {
    if (result_.pairs.size() < 3) return false;
    for (const PairAnswer& pair : result_.pairs) {
      if (pair.model != Model::unidirectional) return false;
    }
    std::vector<std::uint64_t> sources, sinks;
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      const bool forth = result_.pairs[i].forth >= result_.pairs[i].back;
      sources.push_back(forth ? ends_[i].first : ends_[i].second);
      sinks.push_back(forth ? ends_[i].second : ends_[i].first);
    }
    if (!in_a_cycle(sources, sinks)) return false;
    // Every party by itself: what it sends is forth, what it gets is back.
    std::array<double, 5> weight{};
    double all = 0, confidence = 0;
    std::string words;
    for (const std::uint64_t party : sources) {
      std::vector<std::uint32_t> list;
      for (std::uint32_t i = 0; i < traffic_.messages.size(); ++i) {
        if (end_of(message(i), true) == party || end_of(message(i), false) == party) list.push_back(i);
      }
      const Rhythm rhythm = find_rhythm(steps_of(list, party), traffic_.there);
      weight[static_cast<std::size_t>(rhythm.model)] += static_cast<double>(list.size());
      all += static_cast<double>(list.size());
      confidence += rhythm.confidence * static_cast<double>(list.size());
      if (words.empty()) {
        words = rhythm.words;
        result_.period = rhythm.period;
      }
    }
    const auto best = static_cast<std::size_t>(std::max_element(weight.begin(), weight.end()) - weight.begin());
    result_.evidence.push_back(
        fmt::format("{} hand on in a ring, each sends to one and gets from another; seen from each (forth: "
                    "what it sends): {}",
                    count_of(sources.size(), "device"), words));
    if (weight[best] < kAgreement * all) {
      result_.evidence.push_back("model unknown: the members of the ring differ");
      return true;
    }
    answer_model(result_, static_cast<Model>(best), 0.9 * confidence / all * trust_in(traffic_));
    return true;
  }

  // Whether everybody sends to one, gets from one, and all are in one cycle.
  static bool in_a_cycle(const std::vector<std::uint64_t>& sources, const std::vector<std::uint64_t>& sinks) {
    std::uint64_t at = sources.front();
    for (std::size_t steps = 1; steps <= sources.size(); ++steps) {
      if (std::count(sources.begin(), sources.end(), at) != 1) return false;
      at = sinks[static_cast<std::size_t>(std::find(sources.begin(), sources.end(), at) - sources.begin())];
      if (at == sources.front()) return steps == sources.size();
    }
    return false;
  }

  void decide_pattern() {
    if (result_.pairs.empty()) {
      result_.evidence.push_back("pattern unknown: there are no messages");
      return;
    }
    Vote vote;
    for (std::size_t i = 0; i < result_.pairs.size(); ++i) {
      const PairAnswer& pair = result_.pairs[i];
      vote.add(static_cast<std::size_t>(pair.pattern), static_cast<double>(std::max<std::uint64_t>(bytes_[i], 1)),
               pair.pattern_confidence);
    }
    const auto pattern = static_cast<Pattern>(vote.best());
    const PairAnswer& example = *std::find_if(result_.pairs.begin(), result_.pairs.end(),
                                              [&](const PairAnswer& pair) { return pair.pattern == pattern; });
    for (const std::string& line : example.evidence) {
      if (is_about_pattern(line)) result_.evidence.push_back(line);
    }
    if (pattern == Pattern::unknown) return;
    if (!vote.agrees()) {
      result_.evidence.push_back("pattern unknown: the pairs of parties differ");
      return;
    }
    answer_pattern(result_, pattern, vote.confidence());
  }

  void tell_of_records() {
    const LeftOut& out = traffic_.left_out;
    if (out.room > 0) {
      result_.evidence.push_back(fmt::format("not counted: {} at {} that only give room back to a producer",
                                             count_of(out.room, "signal"), count_of(out.room_sites, "site")));
    }
    if (out.bare > 0) {
      result_.evidence.push_back(
          fmt::format("not counted: {} that carry nothing, in a program whose others say what they carry",
                      count_of(out.bare, "signal")));
    }
    if (out.unheard > 0) {
      result_.evidence.push_back(
          fmt::format("not counted: {} that nobody is seen to wait for", count_of(out.unheard, "signal")));
    }
    if (traffic_.lost > 0) {
      result_.evidence.push_back(
          fmt::format("{} lost, which lowers the confidence", count_of(traffic_.lost, "record")));
    }
    if (traffic_.missing > 0) {
      result_.evidence.push_back(
          fmt::format("{} missing between others, which lowers the confidence", count_of(traffic_.missing, "row")));
    }
    if (traffic_.unmatched > 0) {
      result_.evidence.push_back(fmt::format("{} without a recorded signal, which lowers the confidence",
                                             count_of(traffic_.unmatched, "wait")));
    }
  }

  const TraceModel& model_;
  const Traffic traffic_;
  Exchanged whole_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ends_;  // of each pair: first, second
  std::vector<std::uint64_t> bytes_;
  std::size_t pair_count_ = 0;
  Classification result_;
};

std::string why_no_messages(const TraceModel& model, const Traffic& traffic) {
  const bool host =
      std::any_of(model.host_waits.begin(), model.host_waits.end(), [](const auto& w) { return w.site != 0; });
  if (model.waits.empty() && !host) return "no waits at wait sites are recorded, so nobody is seen to wait for anybody";
  if (model.signals.empty()) return "waits are recorded but no signals, so it is not known who released them";
  if (traffic.left_out.within > 0) {
    return "all who signal and wait do so at the same sites, so there are no two sides to tell apart";
  }
  return "no recorded signal matches a recorded wait, so it is not known who released whom";
}

}  // namespace

Classification classify(const TraceModel& model, const Matching& matching) {
  Traffic traffic = gather_traffic(model, matching);
  if (!traffic.messages.empty()) return Classifier(model, std::move(traffic)).run();
  Classification none;
  none.evidence.push_back("model unknown: " + why_no_messages(model, traffic));
  Traffic copies = copy_traffic(model);
  if (!copies.messages.empty()) {
    Classification result = Classifier(model, std::move(copies)).run();
    result.sites.clear();
    result.evidence.insert(result.evidence.begin(),
                           "nothing waits at wait sites; what follows is about copies between kernels");
    return result;
  }
  Traffic migrations = migration_traffic(model);
  if (!migrations.messages.empty()) {
    Classification result = Classifier(model, std::move(migrations)).run();
    result.sites.clear();
    result.evidence.insert(
        result.evidence.begin(),
        "nothing waits at wait sites; what follows is about migrations of managed memory between kernels");
    return result;
  }
  none.evidence.push_back(
      "pattern unknown: it shows in the places of messages, and the trace holds no message records");
  return none;
}

}  // namespace wicprof::analyzer
