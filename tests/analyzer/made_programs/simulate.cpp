#include "tests/analyzer/made_programs/simulate.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace wicprof::analyzer::made {
namespace {

constexpr TimeNs kStart = 1'000'000'000;
constexpr TimeNs kShortestWork = 2'000, kLongestWork = 40'000;  // before a send and after a receipt
constexpr TimeNs kShortestLook = 300, kLongestLook = 3'000;     // from a signal to the look that sees it
constexpr TimeNs kDescheduled = 150'000;                        // a host thread that loses its CPU
constexpr std::uint32_t kMaxExtraWaiters = 3;

struct Action {
  enum class Kind { work, signal, wait, clear, wait_cleared } kind = Kind::work;
  std::uint32_t word = 0, value = 0, iteration = 0;
  SiteId site = 0;
  bool at_least = false;  ///< else: equals
  std::uint32_t extra_waiters = 0;
  Announcement announcement;
};

struct Thread {
  std::uint32_t party = 0, block = 0;
  double slowness = 1;
  std::vector<Action> actions;
  std::size_t next = 0;
  std::optional<TimeNs> arrived;  ///< of the wait in progress
};

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

class Simulation {
 public:
  Simulation(const Plan& plan, Random& random) : plan_(plan), kind_(plan.kind), random_(random) {
    host_ = kind_.parties == Parties::with_host ? draw(random_, plan.parties) : plan.parties;
    depth_ = std::max(kind_.words == Words::toggle ? 1 : draw(random_, 1, 4), kind_.acknowledge_every);
    // What is sent in one turn needs no room that another message of the turn returns.
    if (const std::uint32_t most = most_of_turn(plan)) depth_ = std::max(depth_, most + kind_.acknowledge_every - 1);
    names_wanted_ = chance(random_, 80);
    same_addresses_ = chance(random_, 90);
    extra_waiters_ = kind_.parties == Parties::blocks_of_one_device || kind_.words == Words::reset ||
                             kind_.acknowledged != Acknowledged::no || chance(random_, 50)
                         ? 0
                         : draw(random_, 1, kMaxExtraWaiters);
    drift_ = chance(random_, 30) ? 8 : 2;
    announce_devices();
    for (std::size_t i = 0; i < plan_.transfers.size(); ++i) {
      const std::uint32_t turn = plan_.transfers[i].turn;
      add(i);
      if (i + 1 == plan_.transfers.size() || plan_.transfers[i + 1].turn != turn) await_all();
    }
  }

  TraceModel run() {
    for (std::uint32_t t = 0; t < threads_.size(); ++t) at(kStart + static_cast<TimeNs>(draw(random_, 20'000)), t);
    while (!queue_.empty()) {
      const auto [time, thread] = queue_.top();
      queue_.pop();
      step(thread, time);
    }
    for (const Thread& thread : threads_) {
      if (thread.next < thread.actions.size()) throw std::logic_error("the made program hangs: " + kind_.name());
    }
    return std::move(trace_);
  }

 private:
  // --- the program's text

  bool is_host(std::uint32_t party) const { return party == host_; }
  DeviceId device_of(std::uint32_t party) const {
    if (is_host(party)) return kHostDevice;
    return kind_.parties == Parties::blocks_of_one_device ? 0 : static_cast<DeviceId>(party);
  }

  void announce_devices() {
    trace_.name = "made.wicprof";
    trace_.meta = {{"state", "complete"}};
    trace_.devices.push_back({kHostDevice, DeviceKind::host, "host", 0, 0, std::nullopt});
    const std::uint32_t count = kind_.parties == Parties::blocks_of_one_device ? 1 : plan_.parties;
    for (std::uint32_t d = 0; d < count; ++d) {
      if (!is_host(d))
        trace_.devices.push_back(
            {static_cast<DeviceId>(d), DeviceKind::cuda, "GPU " + std::to_string(d), 132, 1ull << 37, 100});
    }
  }

  std::uint32_t thread_of(std::uint32_t party, const Transfer& t, std::uint32_t lane) {
    const std::uint32_t edge = kind_.threads == Threads::one_per_party ? 0 : t.edge + 1;
    const std::uint32_t direction = kind_.threads == Threads::one_per_direction && t.back ? 1 : 0;
    const auto [found, added] =
        numbers_.try_emplace({party, edge, direction, lane}, static_cast<std::uint32_t>(threads_.size()));
    if (added) {
      Thread thread;
      thread.party = party;
      const bool shared = kind_.parties == Parties::blocks_of_one_device;
      thread.block = is_host(party) ? 70 + blocks_[party]++ : blocks_[shared ? 0 : party]++;
      thread.slowness = 0.5 + (drift_ - 0.5) * draw(random_, 1'000) / 1'000.0;
      threads_.push_back(thread);
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
      trace_.sites.push_back(site);
    }
    return found->second;
  }

  std::uint32_t new_word() {
    words_.emplace_back();
    return static_cast<std::uint32_t>(words_.size() - 1);
  }

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
    Thread& sender = threads_[thread_of(from, t, lane)];
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
    Thread& receiver = threads_[thread_of(r.to, r.transfer, r.lane)];
    Action got = r.sent;
    got.kind = Action::Kind::wait;
    got.iteration = r.sent.iteration + (kind_.numbers == Numbers::one_later_at_waits ? 1 : 0);
    got.at_least = !r.of_two_values;
    got.extra_waiters = is_host(r.to) ? 0 : extra_waiters_;
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

  // --- the run

  struct Word {
    std::uint32_t value = 0;
    std::vector<std::uint32_t> waiters;
  };

  void at(TimeNs time, std::uint32_t thread) { queue_.emplace(time, thread); }

  TimeNs between(TimeNs least, TimeNs most) {
    return least + static_cast<TimeNs>(draw(random_, static_cast<std::uint32_t>(most - least)));
  }

  void set(std::uint32_t word, std::uint32_t value, TimeNs time) {
    words_[word].value = value;
    for (const std::uint32_t waiter : words_[word].waiters) {
      TimeNs look = between(kShortestLook, kLongestLook);
      if (is_host(threads_[waiter].party) && chance(random_, 5)) look += kDescheduled;
      at(time + look, waiter);
    }
    words_[word].waiters.clear();
  }

  void step(std::uint32_t number, TimeNs time) {
    Thread& thread = threads_[number];
    if (thread.next == thread.actions.size()) return;
    const Action& act = thread.actions[thread.next];
    Word& word = words_[act.word];
    TimeNs took = 200;
    switch (act.kind) {
      case Action::Kind::work:
        took = static_cast<TimeNs>(static_cast<double>(between(kShortestWork, kLongestWork)) * thread.slowness);
        break;
      case Action::Kind::signal:
        record_signal(thread, act, time);
        set(act.word, act.value, time);
        break;
      case Action::Kind::clear:
        set(act.word, 0, time);
        break;
      case Action::Kind::wait_cleared:
        if (word.value != 0) {
          word.waiters.push_back(number);
          return;
        }
        break;
      case Action::Kind::wait: {
        if (!thread.arrived) thread.arrived = time;
        const bool holds = act.at_least ? word.value >= act.value : word.value == act.value;
        if (!holds) {
          word.waiters.push_back(number);
          return;
        }
        record_wait(thread, act, time, word.value);
        thread.arrived.reset();
        break;
      }
    }
    ++thread.next;
    at(time + took, number);
  }

  std::optional<WordTag> tag(std::uint32_t word, bool waits) const {
    const std::uint32_t address = same_addresses_ || !waits ? word : word + 30'000;
    return static_cast<WordTag>(1 + address % 65'000);
  }

  void record_signal(const Thread& thread, const Action& act, TimeNs time) {
    store::SignalRow row{};
    row.id = static_cast<store::RowId>(trace_.signals.size()) + 1;
    row.site = act.site;
    row.device = device_of(thread.party);
    (is_host(thread.party) ? row.thread : row.block) = thread.block;
    row.iteration = act.iteration;
    row.value = act.value;
    row.at = time;
    row.word = tag(act.word, false);
    row.bytes = act.announcement.bytes;
    row.pieces = act.announcement.pieces;
    row.offset = act.announcement.offset;
    row.span = act.announcement.span;
    row.regular = act.announcement.regular;
    trace_.signals.push_back(row);
  }

  void record_wait(const Thread& thread, const Action& act, TimeNs time, std::uint32_t seen) {
    const std::optional<std::uint32_t> wanted = names_wanted_ && act.at_least ? std::optional(act.value) : std::nullopt;
    if (is_host(thread.party)) {
      store::HostWaitRow row{};
      row.id = static_cast<store::RowId>(trace_.host_waits.size()) + 1;
      row.site = act.site;
      row.thread = thread.block;
      row.iteration = act.iteration;
      row.begin = *thread.arrived;
      row.end = time + 100;
      row.word = tag(act.word, true);
      row.value = seen;
      row.wanted = act.value;
      trace_.host_waits.push_back(row);
      return;
    }
    for (std::uint32_t w = 0; w <= act.extra_waiters; ++w) {
      store::WaitRow row{};
      row.id = static_cast<store::RowId>(trace_.waits.size()) + 1;
      row.site = act.site;
      row.device = device_of(thread.party);
      row.block = thread.block + 1'000 * w;
      row.iteration = act.iteration;
      row.value = seen;
      row.wanted = wanted;
      row.arrived = *thread.arrived;
      row.resumed = time + 100 + 50 * w;
      row.polls = static_cast<std::uint32_t>((row.resumed - row.arrived) / 500) + 1;
      row.word = tag(act.word, true);
      trace_.waits.push_back(row);
    }
  }

  const Plan& plan_;
  const Kind kind_;
  Random& random_;
  std::uint32_t host_ = 0;   ///< the party that is the CPU, if any
  std::uint32_t depth_ = 1;  ///< messages that may be unacknowledged
  std::uint32_t extra_waiters_ = 0;
  bool names_wanted_ = true, same_addresses_ = true;
  double drift_ = 2;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> numbers_;
  std::map<std::uint32_t, std::uint32_t> blocks_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, SiteId> sites_;
  std::map<std::tuple<std::uint32_t, bool, std::uint32_t>, Way> ways_;
  std::vector<Thread> threads_;
  std::vector<Receipt> pending_;  ///< of this turn
  Action last_sent_;
  std::vector<Word> words_;
  using Event = std::pair<TimeNs, std::uint32_t>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  TraceModel trace_;
};

}  // namespace

TraceModel simulate(const Plan& plan, Random& random) { return Simulation(plan, random).run(); }

}  // namespace wicprof::analyzer::made
