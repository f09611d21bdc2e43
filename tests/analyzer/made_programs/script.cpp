#include "tests/analyzer/made_programs/script.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace wicprof::analyzer::made {
namespace {

constexpr std::uint32_t kMaxExtraWaiters = 3;

/// Sends and receives of one direction of one edge through one lane or part.
struct Way {
  std::vector<std::uint32_t> words;
  std::uint32_t room = 0;  ///< the word of acknowledgements
  std::uint32_t cycle = 0;
};

/// The most messages that a turn sends one way between two parties; 0 without turns.
std::uint32_t most_of_turn(const Plan& plan) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, std::uint32_t> counts;
  std::uint32_t most = 0;
  for (const Transfer& t : plan.transfers) {
    if (t.turn != 0) most = std::max(most, ++counts[{t.turn, t.edge, t.back}]);
  }
  return most;
}

class Writer {
 public:
  Writer(const Plan& plan, Random& random) : plan_(plan), kind_(plan.kind), random_(random) {
    script_.host = kind_.parties == Parties::with_host ? draw(random_, plan.parties) : plan.parties;
    depth_ = std::max(kind_.words == Words::toggle ? 1 : draw(random_, 1, 4), kind_.acknowledge_every);
    // What is sent in one turn needs no room that another message of the turn returns.
    if (const std::uint32_t most = most_of_turn(plan)) depth_ = std::max(depth_, most + kind_.acknowledge_every - 1);
    script_.names_wanted = chance(random_, 80);
    script_.same_addresses = chance(random_, 90);
    script_.extra_waiters = kind_.parties == Parties::blocks_of_one_device || kind_.words == Words::reset ||
                                    kind_.acknowledged != Acknowledged::no || chance(random_, 50)
                                ? 0
                                : draw(random_, 1, kMaxExtraWaiters);
    drift_ = chance(random_, 30) ? 8 : 2;
  }

  Script write() {
    for (std::size_t i = 0; i < plan_.transfers.size(); ++i) {
      const std::uint32_t turn = plan_.transfers[i].turn;
      add(i);
      if (i + 1 == plan_.transfers.size() || plan_.transfers[i + 1].turn != turn) await_all();
    }
    return std::move(script_);
  }

 private:
  bool is_host(std::uint32_t party) const { return party == script_.host; }

  std::uint32_t thread_of(std::uint32_t party, const Transfer& t, std::uint32_t lane) {
    const std::uint32_t edge = kind_.threads == Threads::one_per_party ? 0 : t.edge + 1;
    const std::uint32_t direction = kind_.threads == Threads::one_per_direction && t.back ? 1 : 0;
    const auto [found, added] =
        numbers_.try_emplace({party, edge, direction, lane}, static_cast<std::uint32_t>(script_.threads.size()));
    if (added) {
      ScriptThread thread;
      thread.party = party;
      const bool shared = kind_.parties == Parties::blocks_of_one_device;
      thread.block = is_host(party) ? 70 + blocks_[party]++ : blocks_[shared ? 0 : party]++;
      thread.slowness = 0.5 + (drift_ - 0.5) * draw(random_, 1'000) / 1'000.0;
      script_.threads.push_back(thread);
    }
    return found->second;
  }

  SiteId site_of(const Transfer& t, bool acknowledgement) {
    std::uint32_t edge = 0, direction = 0;
    if (kind_.sites != Sites::one_for_all) direction = t.back ? 2 : 1;
    if (kind_.sites == Sites::one_per_pair_and_direction) edge = t.edge + 1;
    const auto [found, added] = sites_.try_emplace({edge, direction, acknowledgement}, sites_.size() + 1);
    if (added) {
      store::SiteRow site{};
      site.id = found->second;
      site.name = "site " + std::to_string(site.id);
      site.word_memory = WordMemory::device;
      const bool declared = acknowledgement && kind_.acknowledged == Acknowledged::declared;
      if (declared) site.purpose = SitePurpose::acknowledgement;
      script_.sites.push_back(site);
    }
    return found->second;
  }

  std::uint32_t new_word() { return static_cast<std::uint32_t>(script_.words++); }

  std::uint32_t number_of(const Transfer& t, std::uint32_t cycle) const {
    switch (kind_.numbers) {
      case Numbers::absent:
        return 0;
      case Numbers::per_message:
        return cycle;
      default:
        if (t.iteration + 1 == 0) return 0;  // before all iterations
        return kind_.rounds > 1 ? t.iteration % (plan_.iterations / kind_.rounds + 1) + 1 : t.iteration + 1;
    }
  }

  void add(std::size_t index) {
    const Transfer& t = plan_.transfers[index];
    for (std::uint32_t part = 0; part < plan_.parts; ++part) {
      add_part(t, plan_.parts > 1 ? part : t.lane);
      if (t.turn == 0) await_all();
    }
  }

  void add_part(const Transfer& t, std::uint32_t lane) {
    const auto [first, second] = plan_.edges[t.edge];
    const std::uint32_t from = t.back ? second : first, to = t.back ? first : second;
    Way& way = way_of(t, lane);
    const std::uint32_t cycle = ++way.cycle;
    if (t.joins) {
      pending_.push_back({last_sent_, t, lane, to, cycle, false});
      return;
    }
    // The host's waits know only AtLeast.
    Words words = kind_.words;
    if (is_host(to) && (words == Words::toggle || words == Words::reset)) words = Words::counter;
    ScriptThread& sender = script_.threads[thread_of(from, t, lane)];
    const std::uint32_t number = number_of(t, cycle);
    const std::uint32_t wait_number = number + (kind_.numbers == Numbers::one_later_at_waits ? 1 : 0);

    Action act;
    sender.actions.push_back(act);  // work
    act.site = site_of(t, true);
    act.word = way.room;
    act.iteration = wait_number;
    if (kind_.acknowledged != Acknowledged::no && cycle > depth_) {
      act.kind = Action::Kind::wait;
      act.value = cycle - depth_;
      act.at_least = true;
      sender.actions.push_back(act);
    }
    const bool turns = words == Words::cycle_flags;
    Action sent;
    sent.kind = Action::Kind::signal;
    sent.site = site_of(t, false);
    sent.word = way.words[turns ? cycle % 2 : 0];
    sent.value = words == Words::toggle ? cycle % 2 : words == Words::reset ? 1 : cycle;
    sent.iteration = number;
    sent.announcement = t.announcement;
    if (words == Words::reset) {
      Action cleared = sent;
      cleared.kind = Action::Kind::wait_cleared;
      sender.actions.push_back(cleared);
    }
    sender.actions.push_back(sent);

    last_sent_ = sent;
    if (words == Words::batch_counter && t.number_in_iteration + 1 < t.of_iteration) return;
    pending_.push_back({sent, t, lane, to, cycle, words == Words::toggle || words == Words::reset});
  }

  /// What the receiver does about a message that was sent.
  struct Receipt {
    Action sent;
    Transfer transfer;
    std::uint32_t lane, to, cycle;
    bool of_two_values;
  };

  void await_all() {
    for (const Receipt& receipt : pending_) await(receipt);
    pending_.clear();
  }

  void await(const Receipt& r) {
    ScriptThread& receiver = script_.threads[thread_of(r.to, r.transfer, r.lane)];
    Action got = r.sent;
    got.kind = Action::Kind::wait;
    got.iteration = r.sent.iteration + (kind_.numbers == Numbers::one_later_at_waits ? 1 : 0);
    got.at_least = !r.of_two_values;
    got.extra_waiters = is_host(r.to) ? 0 : script_.extra_waiters;
    receiver.actions.push_back(got);
    if (r.of_two_values && kind_.words == Words::reset) {
      got.kind = Action::Kind::clear;
      receiver.actions.push_back(got);
    }
    receiver.actions.push_back({});  // work
    if (kind_.acknowledged != Acknowledged::no && r.cycle % kind_.acknowledge_every == 0) {
      Action done;
      done.kind = Action::Kind::signal;
      done.site = site_of(r.transfer, true);
      done.word = way_of(r.transfer, r.lane).room;
      done.value = r.cycle;
      done.iteration = r.sent.iteration;
      receiver.actions.push_back(done);
    }
  }

  Way& way_of(const Transfer& t, std::uint32_t lane) {
    Way& way = ways_[{t.edge, t.back, lane}];
    if (way.words.empty()) {
      way.words = {new_word(), new_word()};
      way.room = new_word();
    }
    return way;
  }

  const Plan& plan_;
  const Kind kind_;
  Random& random_;
  std::uint32_t depth_ = 1;  ///< messages that may be unacknowledged
  double drift_ = 2;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> numbers_;
  std::map<std::uint32_t, std::uint32_t> blocks_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, SiteId> sites_;
  std::map<std::tuple<std::uint32_t, bool, std::uint32_t>, Way> ways_;
  std::vector<Receipt> pending_;  ///< of this turn
  Action last_sent_;
  Script script_;
};

}  // namespace

Script script_of(const Plan& plan, Random& random) { return Writer(plan, random).write(); }

}  // namespace wicprof::analyzer::made
