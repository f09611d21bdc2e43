// The CPU device under every schedule of a small program, within given bounds: runs the program repeatedly from its
// start, each time with another sequence of choices, until all sequences have been tried (the method of the CHESS
// checker).
//
// A turn may end before every access to a word that two threads use and one of them writes. The exploration finds these
// words as it goes, and starts again whenever it finds a new one. Accesses to other words do not affect other threads,
// so a switch there would only repeat a schedule.
//
// A sleep may have any length: a sleeping thread may be chosen again as soon as another thread has written a word that
// it read since its last sleep, or a tick has come, and then `idle_looks` times more, for its reaction to the news.
// After that its next look could show nothing new, and it stays asleep. When no other thread is left, the sleepers are
// woken in turn; a program that still does not end hangs.
//
// The clock: each reading takes kClockReadNs, so that a thread soon sleeps between looks, as in every long wait.
// Otherwise the clock advances only by the ticks that the program requests; the moment of each tick is a choice like
// any other.
//
// A state that was reached before, with at least as many preemptions left, is not explored again. A thread's state is
// everything that it has read, since nothing else influences it. Of consecutive looks (from one sleep to the next) that
// access the same words in the same order only the last counts: no strategy remembers more. 64-bit hashes identify
// states.
//
// Memory is sequentially consistent: the exploration does not try a GPU's further reorderings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "simt/block.h"

namespace wic::simt {

inline constexpr std::uint64_t kClockReadNs = 250'000;

struct Bounds {
  std::uint32_t preemptions = 2;          ///< switches away from a runnable thread
  std::uint32_t idle_looks = 1;           ///< further looks of a thread after one with news, while no other news come
  std::uint64_t schedules = 100'000'000;  ///< gives up after so many
};

struct Explored {
  bool complete = false;        ///< every schedule within the bounds was tried
  std::uint64_t schedules = 0;  ///< since the last restart
  std::uint64_t states = 0;     ///< distinct states with a choice
  std::uint64_t turns = 0;
  std::size_t shared_words = 0;
  std::string failure;  ///< of the first failing schedule, with its turns; empty = none failed
};

class Exploration;

/// One run of the program under one schedule. One OS thread.
class ExploredRun {
 public:
  /// Makes all blocks of the kernel runnable, together with those of other launches. Blocks may have fewer than 32
  /// threads, which keeps the number of schedules small.
  void launch(const LaunchShape& shape, const KernelRef& kernel);
  /// At some moment the clock advances to `now_ns`; ticks come in the order of the calls.
  void tick(std::uint64_t now_ns) { ticks_.push_back(now_ns); }
  /// Adds the memory of the program's own checks to the state. At the same address in every run.
  void watch(const void* memory, std::size_t bytes) { watched_.push_back({memory, bytes}); }
  /// Adds a value to the running thread's state that influences the thread without an access to memory.
  void add_to_state(std::uint64_t value);
  /// `check` runs after every turn and returns an error text, or an empty one.
  void always(std::function<std::string()> check) { always_ = std::move(check); }
  /// Runs until every thread has ended. Errors: a deadlock; sleepers that look repeatedly and see nothing new; an error
  /// of always().
  Result<> run();
  /// The turns so far, one character per thread in the order of launches; z = it then slept, . = it then ended, @ = a
  /// tick.
  std::string turns() const;

 private:
  friend class Exploration;
  struct World;
  explicit ExploredRun(Exploration& exploration);
  ~ExploredRun();

  Exploration& exploration_;
  std::vector<std::uint64_t> ticks_;
  std::vector<std::pair<const void*, std::size_t>> watched_;
  std::function<std::string()> always_;
  std::unique_ptr<World> world_;
};

/// Sets up the program in a run, runs it and returns an error text (empty = none). All memory that its threads share
/// must have the same address and the same initial value in every run.
using ExploredProgram = std::function<std::string(ExploredRun& run)>;

Explored explore(const Bounds& bounds, const ExploredProgram& program);

}  // namespace wic::simt
