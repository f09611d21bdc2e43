#include "analyzer/stuck/word_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/words/format.h"
#include "analyzer/words/writers.h"

namespace wicprof::analyzer {

namespace {

/// No more blocks or ranks are looked at one by one: a damaged trace may say that there are billions.
constexpr std::int32_t kMostParties = 1 << 20;

class Explanation {
 public:
  Explanation(const StuckView& view, const WaitedWords& all, std::size_t index)
      : view_(view), words_(all.words), word_(all.words[index]), parties_(all.parties[index]), index_(index) {}

  Cause run() {
    cause_.word = index_;
    cause_.since = word_.since;
    cause_.evidence.push_back(fmt::format("{} for {} (for {} now): {}", waiters_wait(word_), word_name(word_),
                                          age(view_.now, word_.since), waiting_for(word_)));
    if (!by_count() && !by_rank() && !by_peer() && !by_late_writer()) by_last_signal();
    return std::move(cause_);
  }

 private:
  /// Barriers that count the blocks of one kernel: each block adds 1, and all wait for a multiple of their number.
  bool by_count() {
    const auto here = static_cast<std::uint32_t>(word_.blocks.size());
    if (word_.device == kHostDevice || word_.grid < 2 || word_.grid > kMostParties || !word_.value || !word_.wanted ||
        here == 0)
      return false;
    const std::uint32_t came = *word_.value % word_.grid;
    const auto missing = static_cast<std::int32_t>(*word_.wanted - *word_.value);
    if (missing <= 0) return false;
    if (here == word_.grid && *word_.value != 0 && came == 0 && *word_.wanted % word_.grid != 0) {
      cause_.kind = CauseKind::wrong_count;
      cause_.confidence = Confidence::likely;
      cause_.text = fmt::format(
          "wrong count: all {} blocks of the kernel wait for {}, and have raised it to {}; the wait wants {}, which is "
          "no multiple of {}",
          word_.grid, word_name(word_), *word_.value, *word_.wanted, word_.grid);
      return true;
    }
    if (here >= word_.grid || came != here || *word_.wanted % word_.grid != 0) return false;
    std::vector<std::uint32_t> absent;
    for (std::uint32_t block = 0; block < word_.grid; ++block) {
      if (!std::binary_search(word_.blocks.begin(), word_.blocks.end(), block)) absent.push_back(block);
    }
    cause_.evidence.push_back(
        fmt::format("{} of the kernel's {} blocks have come, as the word says, too", here, word_.grid));
    // Blocks that came to an earlier round of the barrier have had room.
    const bool last_ones = absent.front() > word_.blocks.back() && *word_.value < word_.grid;
    cause_.confidence = last_ones ? Confidence::likely : Confidence::possible;
    cause_.kind = last_ones ? CauseKind::grid_too_large : CauseKind::absent_blocks;
    cause_.text = last_ones
                      ? fmt::format(
                            "grid larger than the device: blocks {} of {} have not come to {}; they are the kernel's "
                            "last ones, so they most likely have no room until a block that waits for them ends",
                            ranges_of(absent), word_.grid, word_name(word_))
                      : fmt::format("blocks {} of {} have not come to {}: they have ended, or are elsewhere",
                                    ranges_of(absent), word_.grid, word_name(word_));
    return true;
  }

  bool by_rank() {
    std::set<std::uint32_t> waiting;  // processes that wait at the site
    for (const WaitedWord& other : words_) {
      if (other.site == word_.site) waiting.insert(other.processes.begin(), other.processes.end());
    }
    std::int32_t ranks = 0;
    std::set<std::int32_t> alive, all_waiting;
    std::map<std::int32_t, std::uint32_t> pids;
    for (const SeenProcess& process : view_.processes) {
      const auto [rank, size] = rank_of(process);
      if (!rank) continue;
      ranks = std::max({ranks, size.value_or(0), std::min(*rank, kMostParties) + 1});
      pids[*rank] = process.pid;
      if (process.alive) alive.insert(*rank);
      if (waiting.contains(process.pid)) all_waiting.insert(*rank);
    }
    if (ranks < 2 || ranks > kMostParties || all_waiting.empty()) return false;
    std::vector<std::uint32_t> gone, elsewhere;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      if (!alive.contains(rank)) gone.push_back(static_cast<std::uint32_t>(rank));
      if (alive.contains(rank) && !all_waiting.contains(rank)) elsewhere.push_back(static_cast<std::uint32_t>(rank));
    }
    const std::vector<std::uint32_t>& absent = gone.empty() ? elsewhere : gone;
    if (absent.empty()) return false;
    cause_.kind = CauseKind::absent_rank;
    const bool counted = word_.value && word_.wanted && *word_.wanted - *word_.value == absent.size();
    cause_.confidence = counted ? Confidence::likely : Confidence::possible;
    std::string what;
    for (const std::uint32_t rank : absent) {
      const auto pid = pids.find(static_cast<std::int32_t>(rank));
      what += fmt::format(
          "{}rank {} of {} {}", what.empty() ? "" : "; ", rank, ranks,
          pid == pids.end() ? "never came to the session"
          : gone.empty()    ? fmt::format("(process {}) does not wait there{}", pid->second, what_it_does(pid->second))
                            : fmt::format("(process {}) has ended", pid->second));
    }
    cause_.text = fmt::format("{}; {} of the others wait for {}", what, all_waiting.size(), word_name(word_));
    if (counted) cause_.evidence.push_back("the word lacks as many arrivals as ranks are absent");
    return true;
  }

  /// The launcher's word, or NCCL's.
  std::pair<std::optional<std::int32_t>, std::optional<std::int32_t>> rank_of(const SeenProcess& process) const {
    std::optional<std::int32_t> rank = process.rank, size = process.ranks;
    for (const auto& [pid, communicator] : view_.nccl) {
      if (rank || pid != process.pid || communicator.world_rank < 0) continue;
      rank = communicator.world_rank;
      if (communicator.rank == communicator.world_rank) size = communicator.size;
    }
    return {rank, size};
  }

  /// "; its thread 71 sleeps in hrtimer_nanosleep", of a process's first thread.
  std::string what_it_does(std::uint32_t process) const {
    for (const SeenThread& thread : view_.threads) {
      if (thread.process == process && thread.thread == process) {
        return fmt::format("; its thread {} {}", thread.thread, doing(thread));
      }
    }
    return {};
  }

  /// Processes without ranks, where the waiter's shares memory of a GPU: one that does so, too, or runs the same
  /// program, and has ended; else the only one that does so, too, and waits for no word. The last calls of a process
  /// that was killed are not recorded.
  bool by_peer() {
    if (word_.source != WaitSource::patched || is_written_unseen(word_.memory)) return false;
    std::set<std::uint32_t> waiting(word_.processes.begin(), word_.processes.end());
    for (const WaitedWord& other : words_) {
      if (!other.is_satisfied()) waiting.insert(other.processes.begin(), other.processes.end());
    }
    const auto own = std::find_if(view_.processes.begin(), view_.processes.end(),
                                  [&](const SeenProcess& process) { return process.pid == word_.processes.front(); });
    if (own == view_.processes.end() || !own->shares_memory) return false;
    std::vector<const SeenProcess*> gone, elsewhere;
    for (const SeenProcess& process : view_.processes) {
      if (process.alive && process.shares_memory && !waiting.contains(process.pid)) elsewhere.push_back(&process);
      if (!process.alive && (process.shares_memory || process.name == own->name)) gone.push_back(&process);
    }
    if (gone.empty() && elsewhere.size() != 1) return false;
    cause_.kind = CauseKind::absent_rank;
    cause_.confidence = gone.size() == 1 && gone.front()->shares_memory ? Confidence::likely : Confidence::possible;
    std::string what;
    for (const SeenProcess* const process : gone.empty() ? elsewhere : gone) {
      what += fmt::format("{}process {} ({}), which {}, {}", what.empty() ? "" : "; ", process->pid,
                          one_line(process->name),
                          process->shares_memory ? "shares memory of GPUs" : "runs the same program",
                          process->alive ? "waits for no word" + what_it_does(process->pid) : "has ended");
    }
    cause_.text = fmt::format("{}; in process {}, {} for {}", what, own->pid, waiters_wait(word_), word_name(word_));
    name_candidates();
    return true;
  }

  bool by_late_writer() {
    const std::vector<LastSignal>& signals = parties_.site_signals;
    if (signals.size() < 2) return false;
    std::map<Agent, const LastSignal*> newest;
    for (const LastSignal& signal : signals) {
      const LastSignal*& known = newest[agent_of(signal)];
      if (known == nullptr || signal.at > known->at) known = &signal;
    }
    std::uint32_t most = 0;
    for (const auto& [agent, signal] : newest) most = std::max(most, signal->iteration);
    // Nobody has signalled the awaited iteration: then nobody is behind the others.
    if (word_.iteration == 0 || most < word_.iteration) return false;
    std::vector<std::pair<Agent, const LastSignal*>> late;
    const bool by_word = parties_.writers.size() < signals.size();  // signals of the word are told from its site's
    for (const auto& each : newest) {
      if (each.second->iteration >= word_.iteration) continue;
      if (!by_word || agent_of(parties_.writers.front()) == each.first) late.push_back(each);
    }
    if (late.empty()) return false;
    const auto& [agent, signal] = late.front();
    cause_.kind = CauseKind::late_writer;
    cause_.confidence = late.size() == 1 ? Confidence::likely : Confidence::possible;
    cause_.text = fmt::format(
        "missing signal: {} signalled site {} last for iteration {}, {} ago; others have signalled iteration {}, and "
        "{} "
        "wait for {} ({})",
        who(agent), one_line(word_.site), signal->iteration, age(view_.now, signal->at), most, waiters_wait(word_),
        word_name(word_), waiting_for(word_));
    describe(agent);
    return true;
  }

  void by_last_signal() {
    cause_.kind = CauseKind::missing_signal;
    cause_.text = fmt::format("missing signal: {} for {}, which has not got the value ({})", waiters_wait(word_),
                              word_name(word_), waiting_for(word_));
    name_candidates();
    if (word_.last) {
      const Agent agent = agent_of(*word_.last);
      // Stores of kernels and of the CPU to a patched loop's word are not seen: another writer may have come later.
      cause_.confidence = word_.source == WaitSource::patched ? Confidence::possible : Confidence::likely;
      const bool known = word_.last->writer != SignalWriter::unknown_copy;
      const std::string by(writer_words(word_.last->writer).text);
      cause_.text += fmt::format("; {} wrote it last{}, {} ago, with {}", who(agent), by.empty() ? "" : " by " + by,
                                 age(view_.now, word_.last->at),
                                 known ? std::to_string(word_.last->value) : "a value that is not known");
      if (!by.empty()) cause_.evidence.emplace_back("stores of kernels and of the CPU to the word would not be seen");
      describe(agent);
      return;
    }
    if (word_.source == WaitSource::patched) {
      cause_.confidence = word_.candidates.empty() ? Confidence::unknown : Confidence::possible;
      cause_.text += "; no copy, memset or stream's write of the word has been seen";
      if (is_written_unseen(word_.memory)) {
        cause_.confidence = Confidence::possible;
        cause_.text +=
            fmt::format(", and the word is in {}, where stores of the CPU are not seen: the CPU may be its writer",
                        word_.memory == WordMemory::managed ? "managed memory" : "the host's memory");
        for (const auto& [process, call] : view_.calls) {
          if (call.begin == 0 || call.waits_for_word != 0 || view_.now - call.begin < kLongAfter) continue;
          if (std::count(word_.processes.begin(), word_.processes.end(), process) == 0) continue;
          cause_.evidence.push_back(
              fmt::format("host thread {} has waited in {} for {}: it does not write the word meanwhile", call.thread,
                          call.name, age(view_.now, call.begin)));
        }
      }
      return;
    }
    cause_.confidence = Confidence::unknown;
    cause_.text += "; no signal of the site has been recorded, so who should write it is unknown";
    if (word_.releasing != 0) {
      cause_.confidence = Confidence::possible;
      cause_.text += word_.releasing == kHostEnd
                         ? ", except that the program declares the CPU as its writer"
                         : fmt::format(", except that the program declares its device {} as its writer",
                                       word_.releasing - kFirstDeviceEnd);
    }
  }

  /// Kernels whose code may store to the word: never more than candidates.
  void name_candidates() {
    std::size_t shown = 0;
    for (const SeenCandidate& candidate : word_.candidates) {
      if (++shown > kMostNames) break;
      std::string running;
      for (const auto& [process, kernel] : view_.kernels) {
        const bool same = function_name(kernel.name) == function_name(candidate.kernel);
        if (same && std::count(word_.processes.begin(), word_.processes.end(), process) > 0) {
          running = fmt::format("; launched {} ago, its end is not known", age(view_.now, kernel.launched));
        }
      }
      cause_.evidence.push_back(fmt::format(
          "candidate: kernel {} {}{}", one_line(function_name(candidate.kernel)),
          candidate.exact ? "stores to the word's address" : "stores through a pointer to the word's allocation",
          running));
    }
  }

  /// What the writer does now.
  void describe(const Agent& agent) {
    if (!agent.host) return;
    for (const auto& [process, call] : view_.calls) {
      if (process != agent.process || call.thread != agent.thread || call.begin == 0) continue;
      cause_.evidence.push_back(
          fmt::format("{} has been in {} for {}", who(agent), call.name, age(view_.now, call.begin)));
      // A thread that has copied to the word need not be the one whose signal is missing.
      const bool signals = word_.last && word_.last->writer == SignalWriter::program;
      if (signals && view_.now - call.begin >= kLongAfter && call.waits_for_word == 0 &&
          agent.process == word_.processes.front() && word_.device != kHostDevice) {
        cause_.kind = CauseKind::mutual_wait;
        cause_.text = fmt::format("{}: that thread waits itself in {}, and the kernel waits for its signal",
                                  cause_.text, call.name);
      }
      return;
    }
    for (const SeenThread& thread : view_.threads) {
      if (thread.process != agent.process || thread.thread != agent.thread) continue;
      cause_.evidence.push_back(fmt::format("{} ({}) {}", who(agent), one_line(thread.name),
                                            thread.state == 'R' ? "runs"
                                            : thread.kernel_place.empty()
                                                ? "sleeps, where is not known"
                                                : "sleeps in the system's " + thread.kernel_place));
      return;
    }
    if (!view_.threads.empty()) cause_.evidence.push_back(who(agent) + " has ended");
  }

  static constexpr std::size_t kMostNames = 6;

  const StuckView& view_;
  const std::vector<WaitedWord>& words_;
  const WaitedWord& word_;
  const WordParties& parties_;
  const std::size_t index_;
  Cause cause_;
};

}  // namespace

Cause cause_of(const StuckView& view, const WaitedWords& all, std::size_t index) {
  return Explanation(view, all, index).run();
}

}  // namespace wicprof::analyzer
