#include "schedules/exhaustive.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace wic::simt {

namespace {

constexpr char kNames[] = "0123456789abcdefghijklmnopqrstuvwxyz";  // of threads, in the order of their launch
constexpr std::uint32_t kMaxThreads = sizeof(kNames) - 1;
constexpr std::uint32_t kForcedRounds =
    160;  // wakes of every sleeper in turn, without news, that count as a hang: more than stand_by() looks
constexpr std::uint32_t kMaxWakes = 2'000;          // of one thread
constexpr std::uint32_t kAccessesPerTurn = 10'000;  // more: the thread polls for ever without a sleep

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
  return hash ^ (hash >> 31);
}

// Reads four bytes, or eight if aligned: bytes beyond the word also belong to the state, or never change.
std::uint64_t value_at(const void* at) {
  if (reinterpret_cast<std::uint64_t>(at) % 8 != 0) return *static_cast<const std::uint32_t*>(at);
  return *static_cast<const std::uint64_t*>(at);
}

bool several(std::uint64_t bits) { return (bits & (bits - 1)) != 0; }

}  // namespace

// A word that threads access, identified by its offset in a block or by its address.
struct ExploredPlace {
  std::uint32_t block;  // 0: by address, else 1 + the block's number
  std::uint64_t at;
  bool operator==(const ExploredPlace&) const = default;
};

struct ExploredWord {
  ExploredPlace place;
  std::uint64_t readers = 0;  // one bit per thread, over all runs of this exploration
  std::uint64_t writers = 0;
  std::uint32_t version = 0;  // writes in this run
  bool shared = false;
};

// Outlives the runs: the words known so far and the choices of the current schedule.
class Exploration {
 public:
  explicit Exploration(const Bounds& limits) : bounds(limits) {}

  std::string run_once(const ExploredProgram& program) {
    depth_ = 0;
    known_state = false;
    for (ExploredWord& word : words) word.version = 0;
    ExploredRun run(*this);
    return program(run);
  }

  static constexpr std::uint32_t kNone = ~0u;

  // Chooses one of `count` alternatives; kNone if the state's schedules have been tried.
  template <class StateHash>
  std::uint32_t choose(std::uint32_t count, std::uint32_t preemptions, const StateHash& state_hash) {
    if (count == 1) return 0;
    if (depth_ == path_.size()) {
      const auto [known, is_new] = states.try_emplace(state_hash(), preemptions);
      if (!is_new) {
        if (known->second <= preemptions) return kNone;
        known->second = preemptions;
      }
      path_.push_back({0, count});
    }
    return path_[depth_++].choice;
  }

  // Advances to the next schedule; false if there is none.
  bool advance() {
    path_.resize(depth_);
    while (!path_.empty() && path_.back().choice + 1 == path_.back().count) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().choice;
    return true;
  }
  void restart() {
    path_.clear();
    states.clear();
    found_shared = false;
  }

  std::size_t word_of(const ExploredPlace& place) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i].place == place) return i;
    }
    words.push_back({place});
    return words.size() - 1;
  }

  const Bounds bounds;
  StackPool stacks;
  std::vector<ExploredWord> words;
  std::unordered_map<std::uint64_t, std::uint32_t> states;  // the preemptions that led there
  std::uint64_t turns = 0;
  bool known_state = false;   // this run has reached one
  bool found_shared = false;  // this run found a shared word, so its schedule had too few switches

 private:
  struct Step {
    std::uint32_t choice;
    std::uint32_t count;
  };
  std::vector<Step> path_;
  std::size_t depth_ = 0;
};

struct ExploredRun::World final : AccessRule {
  struct StandingClock final : Clock {
    explicit StandingClock(World& its_world) : world(its_world) {}
    World& world;
    std::uint64_t now = 1;
    std::uint64_t now_ns() const override {
      world.add_to_state(now);  // only the ticks: the time that readings add makes no difference in the end
      return now + (world.current < world.actors.size() ? ++world.actors[world.current].clock_reads : 0) * kClockReadNs;
    }
  };
  struct Seen {
    std::size_t word;
    std::uint32_t version;
  };
  struct Actor {
    Block* block;
    std::uint32_t index;
    std::vector<Seen> seen;  // since its last sleep
    // Hashes of what the thread has read: all except the last two looks, and these two; and of the words that these two
    // accessed.
    std::uint64_t history = 0;
    std::uint64_t last_look = 0, look = 0;
    std::uint64_t last_reach = 0, reach = 0;
    std::uint64_t slept_at = 0;
    std::uint32_t idle_looks = 0;
    std::uint32_t wakes = 0;
    std::uint64_t clock_reads = 0;
  };

  explicit World(Exploration& all) : exploration(all), clock(*this) {}

  Block::State state(std::uint32_t i) const { return actors[i].block->state(actors[i].index); }
  bool ready(std::uint32_t i) const { return state(i) == Block::State::ready; }

  ExploredPlace place_of(const void* at) const {
    const auto address = reinterpret_cast<std::uint64_t>(at);
    for (std::uint32_t i = 0; i < blocks.size(); ++i) {
      const auto begin = reinterpret_cast<std::uint64_t>(blocks[i].get());
      if (address >= begin && address < begin + sizeof(Block)) return {i + 1, address - begin};
    }
    return {0, address};
  }

  const void* address_of(const ExploredPlace& place) const {
    if (place.block == 0) return reinterpret_cast<const void*>(place.at);
    return reinterpret_cast<const std::byte*>(blocks[place.block - 1].get()) + place.at;
  }

  bool ends_turn(Access, const void* at) override {
    if (++accesses > kAccessesPerTurn) return true;
    if (preemptions == exploration.bounds.preemptions) return false;
    return exploration.words[exploration.word_of(place_of(at))].shared;
  }

  void will_access(Access access, const void* at) override {
    const std::size_t index = exploration.word_of(place_of(at));
    ExploredWord& word = exploration.words[index];
    Actor& me = actors[current];
    me.reach = mix(me.reach, index * 4 + static_cast<std::uint32_t>(access));
    if (access != Access::load) {
      word.writers |= std::uint64_t{1} << current;
      ++word.version;
    }
    if (access != Access::store) {
      add_to_state(value_at(at));
      word.readers |= std::uint64_t{1} << current;
      me.seen.push_back({index, word.version});
    } else {
      for (Seen& seen : me.seen) {  // its own write is not news
        if (seen.word == index && seen.version + 1 == word.version) seen.version = word.version;
      }
    }
    if (!word.shared && word.writers != 0 && several(word.readers | word.writers)) {
      word.shared = true;
      exploration.found_shared = true;
    }
  }

  void add_to_state(std::uint64_t value) {
    if (current < actors.size()) actors[current].look = mix(actors[current].look, value);
  }

  std::uint64_t hash(std::uint64_t so_far) const {
    std::uint64_t all = mix(so_far, current);
    for (const ExploredWord& word : exploration.words) {
      if (word.writers != 0) all = mix(all, value_at(address_of(word.place)));
    }
    for (const Actor& actor : actors) {
      const bool repeated =
          actor.reach == actor.last_reach && actor.block->state(actor.index) == Block::State::sleeping;
      all = mix(mix(mix(all, actor.history), repeated ? 0 : actor.last_look), actor.look);
      all = mix(all, (std::uint64_t{actor.idle_looks} << 8) |
                         (static_cast<std::uint32_t>(actor.block->state(actor.index)) << 1) |
                         (actor.slept_at != clock.now ? 1u : 0u));
      for (const Seen& seen : actor.seen) {
        all = mix(all, seen.word * 2 + (exploration.words[seen.word].version != seen.version ? 1 : 0));
      }
    }
    return all;
  }

  bool news_for(const Actor& actor) const {
    if (actor.slept_at != clock.now) return true;
    return std::any_of(actor.seen.begin(), actor.seen.end(),
                       [&](const Seen& seen) { return exploration.words[seen.word].version != seen.version; });
  }
  // A sleeper whose next look can affect itself or others.
  bool may_wake(const Actor& actor) const {
    return news_for(actor) || actor.idle_looks < exploration.bounds.idle_looks;
  }

  void wake(Actor& actor) {
    actor.idle_looks = news_for(actor) ? 0 : actor.idle_looks + 1;
    ++actor.wakes;
    if (actor.reach != actor.last_reach) actor.history = mix(actor.history, actor.last_look);
    actor.last_look = std::exchange(actor.look, 0);
    actor.last_reach = std::exchange(actor.reach, 0);
    actor.seen.clear();
  }

  void give_turn(std::uint32_t i) {
    if (current != i || trace.empty()) {
      trace += ' ';
      trace += kNames[i];
    }
    current = i;
    accesses = 0;
    if (state(i) == Block::State::sleeping) wake(actors[i]);
    actors[i].block->run_thread(actors[i].index);
    if (state(i) == Block::State::sleeping) {
      actors[i].slept_at = clock.now;
      trace += 'z';
    } else if (state(i) == Block::State::done) {
      trace += '.';
    }
    ++exploration.turns;
  }

  Exploration& exploration;
  StandingClock clock;
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<Actor> actors;
  std::string trace;  // see turns()
  std::uint32_t current = 0;
  std::uint32_t preemptions = 0;
  std::uint32_t accesses = 0;
};

ExploredRun::ExploredRun(Exploration& exploration)
    : exploration_(exploration), world_(std::make_unique<World>(exploration)) {}
ExploredRun::~ExploredRun() = default;

void ExploredRun::launch(const LaunchShape& shape, const KernelRef& ref) {
  const auto kernel = std::make_shared<const LaunchedKernel>(shape, ref);
  for (std::uint32_t i = 0; i < shape.blocks; ++i) {
    world_->blocks.push_back(
        std::make_unique<Block>(kernel, i, i % 2, world_->clock, exploration_.stacks, world_.get()));
    for (std::uint32_t t = 0; t < shape.threads; ++t) {
      world_->actors.push_back({world_->blocks.back().get(), t, {}});
    }
  }
}

void ExploredRun::add_to_state(std::uint64_t value) { world_->add_to_state(value); }
std::string ExploredRun::turns() const { return "; turns:" + world_->trace; }

Result<> ExploredRun::run() {
  World& world = *world_;
  if (world.actors.size() > kMaxThreads) return wicprof::bad_input("too many threads to explore");
  const auto count = static_cast<std::uint32_t>(world.actors.size());
  const auto failed = [&](const std::string& what) { return wicprof::unavailable(what + turns()); };
  std::size_t ticked = 0;
  std::uint32_t forced = 0;  // wakes in turn since a thread ended or the clock advanced
  std::uint32_t next_forced = 0;
  std::vector<std::uint32_t> options;  // `count` stands for the clock
  for (;;) {
    if (world.actors[world.current].wakes > kMaxWakes) return failed("hang: threads wake each other without end");
    if (world.accesses > kAccessesPerTurn) return failed("a thread polls for ever without a sleep");
    options.clear();
    const bool could_go_on = world.ready(world.current) && !world.trace.empty();
    if (could_go_on) options.push_back(world.current);
    if (!could_go_on || world.preemptions < exploration_.bounds.preemptions) {
      for (std::uint32_t i = 0; i < count; ++i) {
        if (could_go_on && i == world.current) continue;
        const Block::State state = world.state(i);
        if (state == Block::State::ready || (state == Block::State::sleeping && world.may_wake(world.actors[i]))) {
          options.push_back(i);
        }
      }
      if (ticked < ticks_.size()) options.push_back(count);
    }
    if (options.empty()) {
      bool all_done = true;
      bool sleepers = false;
      for (std::uint32_t i = 0; i < count; ++i) {
        all_done &= world.state(i) == Block::State::done;
        sleepers |= world.state(i) == Block::State::sleeping;
      }
      if (all_done) return wicprof::ok();
      if (!sleepers) return failed("deadlock: no thread can run and none sleeps");
      if (++forced > kForcedRounds * count) return failed("hang: every remaining thread looks and finds nothing new");
      do {
        next_forced = (next_forced + 1) % count;
      } while (world.state(next_forced) != Block::State::sleeping);
      options.push_back(next_forced);
    }
    const std::uint32_t chosen =
        exploration_.choose(static_cast<std::uint32_t>(options.size()), world.preemptions, [&] {
          std::uint64_t hash = mix(mix(ticked, next_forced), could_go_on);
          for (const auto& [memory, bytes] : watched_) {
            for (std::size_t i = 0; i + 4 <= bytes; i += 4) {
              hash = mix(hash, *reinterpret_cast<const std::uint32_t*>(static_cast<const std::byte*>(memory) + i));
            }
          }
          return world.hash(hash);
        });
    if (chosen == Exploration::kNone) {
      exploration_.known_state = true;
      return failed("a known state");
    }
    const std::uint32_t choice = options[chosen];
    if (could_go_on && choice != world.current) ++world.preemptions;
    if (choice == count) {
      world.clock.now = ticks_[ticked++];
      world.trace += " @";
      forced = 0;
      continue;
    }
    world.give_turn(choice);
    if (world.state(choice) == Block::State::done) forced = 0;
    if (!always_) continue;
    if (const std::string wrong = always_(); !wrong.empty()) return failed(wrong);
  }
}

Explored explore(const Bounds& bounds, const ExploredProgram& program) {
  Exploration exploration(bounds);
  Explored result;
  while (result.schedules < bounds.schedules) {
    ++result.schedules;
    result.failure = exploration.run_once(program);
    if (exploration.known_state) {
      result.failure.clear();
    } else if (!result.failure.empty()) {
      break;
    }
    if (exploration.found_shared) {
      exploration.restart();
      result.schedules = 0;
    } else if (!exploration.advance()) {
      result.complete = true;
      break;
    }
  }
  result.states = exploration.states.size();
  result.turns = exploration.turns;
  result.shared_words = static_cast<std::size_t>(std::count_if(exploration.words.begin(), exploration.words.end(),
                                                               [](const ExploredWord& w) { return w.shared; }));
  return result;
}

}  // namespace wic::simt
