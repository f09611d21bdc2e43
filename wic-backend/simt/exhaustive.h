// The CPU device under every schedule of a small program, within stated bounds: the program runs again and again from
// its start, each time with another sequence of choices, until all sequences have been tried (the way of the CHESS
// checker).
//
// A turn may end before every access to a word that two threads use and one of them writes; which words those are is
// found while exploring, and the exploration starts again whenever one is added. Accesses to other words change nothing
// for anybody else, so a switch there would only repeat a schedule.
//
// A sleep may be as short or as long as it likes: a sleeping thread is a choice again as soon as a word that it read
// since its last sleep has been written by another thread, or a tick has come, and `idle_looks` times more after that,
// for what it does with the news. Then its next look could show nothing new, and it is left asleep. When nothing else
// is left, sleepers are woken in turn; a program that does not end by that hangs.
//
// The clock: each reading of it takes kClockReadNs, so that a thread soon sleeps between its looks, as all do that have
// waited for long. Beyond that it goes on only by the ticks that the program asks for; when each of them comes is a
// choice like any other.
//
// A state that was reached before, with as many preemptions left or more, is not explored again. A thread's state is
// what it has read so far, since nothing else can make it do one thing or another. Of looks in a row (from a sleep to
// the next) that reach for the same words in the same order only the last counts: no strategy keeps more of them.
// States are told apart by 64-bit hashes.
//
// Memory is sequentially consistent here: what a GPU may reorder beyond that is not tried.
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
  std::uint32_t preemptions = 2;          ///< switches away from a thread that could have gone on
  std::uint32_t idle_looks = 1;           ///< looks of a thread after one that had news, while there is no other news
  std::uint64_t schedules = 100'000'000;  ///< give up after so many
};

struct Explored {
  bool complete = false;        ///< every schedule within the bounds was tried
  std::uint64_t schedules = 0;  ///< of the last start
  std::uint64_t states = 0;     ///< different ones at which there was a choice
  std::uint64_t turns = 0;
  std::size_t shared_words = 0;
  std::string failure;  ///< of the first schedule that failed, with its turns; empty: none did
};

class Exploration;

/// One run of the program under one schedule. One OS thread.
class ExploredRun {
 public:
  /// All blocks of the kernel become runnable, together with those of other launches. Blocks of fewer than 32 threads
  /// will do, and keep the number of schedules small.
  void launch(const LaunchShape& shape, const KernelRef& kernel);
  /// At some moment the clock goes on to `now_ns`; ticks come in the order of the calls.
  void tick(std::uint64_t now_ns) { ticks_.push_back(now_ns); }
  /// What the program keeps about its threads for its own checks: part of the state. At the same address in every run.
  void watch(const void* memory, std::size_t bytes) { watched_.push_back({memory, bytes}); }
  /// A value by which the thread that has the turn will go on differently, learnt in another way than by an access.
  void learnt(std::uint64_t value);
  /// Checked after every turn: empty, or what is wrong.
  void always(std::function<std::string()> check) { always_ = std::move(check); }
  /// Until everything has ended. Error: a deadlock, sleepers that look again and again and see nothing new, or
  /// what always() was given.
  Result<> run();
  /// Whose turns they were so far, threads in the order of their launch: z = then it slept, . = then it ended, @ = a
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

/// Sets the program up in a run, runs it and says what was wrong (empty: nothing). Everything that its threads share
/// lies at the same address in every run, and has the same value at its start.
using ExploredProgram = std::function<std::string(ExploredRun& run)>;

Explored explore(const Bounds& bounds, const ExploredProgram& program);

}  // namespace wic::simt
