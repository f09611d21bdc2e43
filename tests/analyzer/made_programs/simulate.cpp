#include "tests/analyzer/made_programs/simulate.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/analyzer/made_programs/script.h"

namespace wicprof::analyzer::made {
namespace {

constexpr TimeNs kStart = 1'000'000'000;
constexpr TimeNs kShortestWork = 2'000, kLongestWork = 40'000;  // before a send and after a receipt
constexpr TimeNs kShortestLook = 300, kLongestLook = 3'000;     // from a signal to the look that sees it
constexpr TimeNs kDescheduled = 150'000;                        // a host thread that loses its CPU

struct Thread : ScriptThread {
  explicit Thread(const ScriptThread& text) : ScriptThread(text) {}
  std::size_t next = 0;
  std::optional<TimeNs> arrived;  ///< of the wait in progress
};

class Simulation {
 public:
  Simulation(const Plan& plan, const Script& script, Random& random)
      : plan_(plan),
        kind_(plan.kind),
        script_(script),
        random_(random),
        threads_(script.threads.begin(), script.threads.end()),
        words_(script.words) {
    announce_devices();
    trace_.sites = script.sites;
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
  bool is_host(std::uint32_t party) const { return party == script_.host; }
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
    const std::uint32_t address = script_.same_addresses || !waits ? word : word + 30'000;
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
    const std::optional<std::uint32_t> wanted =
        script_.names_wanted && act.at_least ? std::optional(act.value) : std::nullopt;
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
  const Script& script_;
  Random& random_;
  std::vector<Thread> threads_;
  std::vector<Word> words_;
  using Event = std::pair<TimeNs, std::uint32_t>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  TraceModel trace_;
};

}  // namespace

TraceModel simulate(const Plan& plan, Random& random) {
  const Script script = script_of(plan, random);
  return Simulation(plan, script, random).run();
}

}  // namespace wicprof::analyzer::made
