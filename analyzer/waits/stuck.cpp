#include "analyzer/waits/stuck.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {

/// Stores of the CPU to such memory are no calls: nobody sees them.
bool is_written_unseen(WordMemory memory) { return memory == WordMemory::pinned_host || memory == WordMemory::managed; }

/// A block where it runs, or a host thread.
struct Agent {
  std::uint32_t process = 0;
  bool host = false;
  std::uint32_t block = 0, sm = 0, thread = 0;
  auto operator<=>(const Agent&) const = default;
};

Agent agent_of(const LastSignal& signal) {
  if (signal.device == kHostDevice) return {signal.process, true, 0, 0, signal.thread};
  return {signal.process, false, signal.block, signal.sm, 0};
}

std::string who(const Agent& agent) {
  if (agent.host) return fmt::format("host thread {} of process {}", agent.thread, agent.process);
  return fmt::format("block {} on SM {} of process {}", agent.block, agent.sm, agent.process);
}

std::string age(TimeNs now, TimeNs since) { return format_duration(std::max<TimeNs>(now - since, 0)); }

std::string word_name(const WaitedWord& word) {
  return fmt::format("word 0x{:x} of site {}", word.address, one_line(word.site));
}

std::string waiting_for(const WaitedWord& word) {
  if (word.source == WaitSource::patched) {
    if (word.address == 0) return "which word that is, and what it holds, the loop's code does not show";
    const std::string wants = wanted_text(word.wants);
    return fmt::format("wants {}, has {}",
                       wants.empty() ? "a value that is unknown, since the code has it in a register" : wants,
                       word.wide_value ? std::to_string(*word.wide_value) : "an unknown value");
  }
  std::string text;
  if (word.wanted) text += fmt::format("wants {}", *word.wanted);
  if (word.value) text += fmt::format("{}has {}", text.empty() ? "" : ", ", *word.value);
  return text.empty() ? "value and goal unknown" : text;
}

/// "block 3 of 8 waits", "blocks 0 to 3 of 8 wait", "host thread 12 waits".
std::string waiters_wait(const WaitedWord& word) {
  const bool host = word.device == kHostDevice;
  const std::vector<std::uint32_t>& all = host ? word.threads : word.blocks;
  const bool one = all.size() == 1;
  return fmt::format("{}{} {}{} {}", host ? "host thread" : "block", one ? "" : "s", ranges_of(all),
                     host || word.grid == 0 ? "" : fmt::format(" of {}", word.grid), one ? "waits" : "wait");
}

class Diagnosis {
 public:
  explicit Diagnosis(const StuckView& view) : view_(view) {}

  StuckAnswer run() {
    group_words();
    find_writers();
    for (std::size_t i = 0; i < words().size(); ++i) {
      if (!words()[i].is_satisfied()) answer_.causes.push_back(cause_of(i));
    }
    merge_ranks();
    find_cycles();
    mark_consequences();
    explain_calls();
    std::stable_sort(answer_.causes.begin(), answer_.causes.end(), [](const Cause& a, const Cause& b) {
      return std::tuple(a.kind == CauseKind::consequence, rank_of(a), a.since) <
             std::tuple(b.kind == CauseKind::consequence, rank_of(b), b.since);
    });
    return std::move(answer_);
  }

 private:
  static int rank_of(const Cause& cause) {
    const int by_kind = cause.kind == CauseKind::missing_signal ? 1 : 0;
    return static_cast<int>(cause.confidence) * 2 + by_kind;
  }

  std::vector<WaitedWord>& words() { return answer_.words; }

  void group_words() {
    using WordKey = std::tuple<std::uint32_t, DeviceId, std::string, std::uint64_t, std::optional<std::uint32_t>>;
    std::map<WordKey, std::size_t> known;
    const auto word_at = [&](const WordKey& key, TimeNs since) -> WaitedWord& {
      const auto [at, added] = known.try_emplace(key, words().size());
      if (added) {
        words().emplace_back().since = since;
        agents_.emplace_back();
      }
      WaitedWord& word = words()[at->second];
      word.since = std::min(word.since, since);
      ++word.waiters;
      return word;
    };
    for (const auto& [process, wait] : view_.waits) {
      std::optional<std::uint32_t> wanted;
      if (wait.names_wanted != 0) wanted = wait.wanted;
      WaitedWord& word = word_at({process, wait.device, wait.site, wait.address, wanted}, wait.begin);
      const auto index = static_cast<std::size_t>(&word - words().data());
      word.source = wait.source;
      word.processes = {process};
      word.device = wait.device;
      word.site = wait.site;
      word.address = wait.address;
      word.wanted = wanted;
      if (!word.value || wait.seen >= seen_[index]) {
        word.value = wait.value;
        seen_[index] = wait.seen;
      }
      word.iteration = wait.iteration;
      word.grid = wait.blocks;
      word.releasing = wait.releasing;
      if (wait.source == WaitSource::patched) {
        if (wait.address == 0) word.value.reset();
        word.memory = wait.memory;
        word.wants = {wait.relation, wait.is_64_bit != 0, wait.wide_wanted, wait.wanted_mask};
        if (wait.address != 0 && wait.seen >= seen_[index]) {
          word.wide_value = wait.wide_value;
          word.value_at = wait.seen;
        }
      }
      word.blocks.push_back(wait.block);
      agents_[index].insert({process, false, wait.block, wait.sm, 0});
      tags_[index] = wait.word_tag;
    }
    for (std::size_t i = 0; i < view_.calls.size(); ++i) {
      const auto& [process, call] = view_.calls[i];
      if (call.waits_for_word == 0 || view_.now - call.begin < kLongAfter) continue;
      std::optional<std::uint32_t> wanted;
      if (call.names_wanted != 0) wanted = call.wanted;
      WaitedWord& word = word_at({process, kHostDevice, call.name, call.handle, wanted}, call.begin);
      word.source = call.source;
      word.processes = {process};
      word.device = kHostDevice;
      word.site = call.name;
      word.address = call.handle;
      word.wanted = wanted;
      if (i < view_.call_values.size()) word.value = view_.call_values[i];
      word.iteration = call.iteration;
      word.threads.push_back(call.thread);
      agents_[static_cast<std::size_t>(&word - words().data())].insert({process, true, 0, 0, call.thread});
    }
    for (WaitedWord& word : words()) {
      for (auto* list : {&word.blocks, &word.threads}) {
        std::sort(list->begin(), list->end());
        list->erase(std::unique(list->begin(), list->end()), list->end());
      }
    }
  }

  /// Signals of the word; of its site, where no signal carries the word's tag, since two sides may see a word at two
  /// addresses. The newest first.
  void find_writers() {
    for (std::size_t i = 0; i < words().size(); ++i) {
      std::vector<LastSignal> of_site, of_word;
      for (const LastSignal& signal : view_.signals) {
        if (signal.site != words()[i].site) continue;
        of_site.push_back(signal);
        const auto tag = tags_.find(i);
        if (tag != tags_.end() && tag->second != 0 && signal.word == tag->second) of_word.push_back(signal);
      }
      if (!of_word.empty()) told_by_word_.insert(i);
      // Copies and other writes of a patched loop's word are known by the word alone.
      const bool by_word = words()[i].source == WaitSource::patched;
      if (by_word) of_site = of_word;
      std::vector<LastSignal> writers = of_word.empty() ? of_site : std::move(of_word);
      std::sort(writers.begin(), writers.end(), [](const auto& a, const auto& b) { return a.at > b.at; });
      if (!writers.empty()) words()[i].last = writers.front();
      if (by_word) {
        for (const SeenCandidate& candidate : view_.candidates) {
          if (candidate.site != words()[i].site || candidate.word != tags_[i]) continue;
          words()[i].candidates.push_back(candidate);
        }
        std::stable_sort(words()[i].candidates.begin(), words()[i].candidates.end(),
                         [](const auto& a, const auto& b) { return a.exact > b.exact; });
      }
      sites_.push_back(std::move(of_site));
      writers_.push_back(std::move(writers));
    }
  }

  Cause cause_of(std::size_t index) {
    const WaitedWord& word = words()[index];
    Cause cause;
    cause.word = index;
    cause.since = word.since;
    cause.evidence.push_back(fmt::format("{} for {} (for {} now): {}", waiters_wait(word), word_name(word),
                                         age(view_.now, word.since), waiting_for(word)));
    if (by_count(index, cause) || by_rank(index, cause) || by_late_writer(index, cause)) return cause;
    by_last_signal(index, cause);
    return cause;
  }

  /// Barriers that count the blocks of one kernel: each block adds 1, and all wait for a multiple of their number.
  bool by_count(std::size_t index, Cause& cause) {
    const WaitedWord& word = words()[index];
    const auto here = static_cast<std::uint32_t>(word.blocks.size());
    if (word.device == kHostDevice || word.grid < 2 || !word.value || !word.wanted || here == 0) return false;
    const std::uint32_t came = *word.value % word.grid;
    const auto missing = static_cast<std::int32_t>(*word.wanted - *word.value);
    if (missing <= 0) return false;
    if (here == word.grid && *word.value != 0 && came == 0 && *word.wanted % word.grid != 0) {
      cause.kind = CauseKind::wrong_count;
      cause.confidence = Confidence::likely;
      cause.text = fmt::format(
          "wrong count: all {} blocks of the kernel wait for {}, and have raised it to {}; the wait wants {}, which is "
          "no multiple of {}",
          word.grid, word_name(word), *word.value, *word.wanted, word.grid);
      return true;
    }
    if (here >= word.grid || came != here || *word.wanted % word.grid != 0) return false;
    std::vector<std::uint32_t> absent;
    for (std::uint32_t block = 0; block < word.grid; ++block) {
      if (!std::binary_search(word.blocks.begin(), word.blocks.end(), block)) absent.push_back(block);
    }
    cause.evidence.push_back(
        fmt::format("{} of the kernel's {} blocks have come, as the word says, too", here, word.grid));
    // Blocks that came to an earlier round of the barrier have had room.
    const bool last_ones = absent.front() > word.blocks.back() && *word.value < word.grid;
    cause.confidence = last_ones ? Confidence::likely : Confidence::possible;
    cause.kind = last_ones ? CauseKind::grid_too_large : CauseKind::absent_blocks;
    cause.text = last_ones
                     ? fmt::format(
                           "grid larger than the device: blocks {} of {} have not come to {}; they are the kernel's "
                           "last ones, so they most likely have no room until a block that waits for them ends",
                           ranges_of(absent), word.grid, word_name(word))
                     : fmt::format("blocks {} of {} have not come to {}: they have ended, or are elsewhere",
                                   ranges_of(absent), word.grid, word_name(word));
    return true;
  }

  bool by_rank(std::size_t index, Cause& cause) {
    const WaitedWord& word = words()[index];
    std::set<std::uint32_t> waiting;  // processes that wait at the site
    for (const WaitedWord& other : words()) {
      if (other.site == word.site) waiting.insert(other.processes.begin(), other.processes.end());
    }
    std::int32_t ranks = 0;
    std::set<std::int32_t> alive, all_waiting;
    std::map<std::int32_t, std::uint32_t> pids;
    for (const SeenProcess& process : view_.processes) {
      if (!process.rank) continue;
      ranks = std::max({ranks, process.ranks.value_or(0), *process.rank + 1});
      pids[*process.rank] = process.pid;
      if (process.alive) alive.insert(*process.rank);
      if (waiting.contains(process.pid)) all_waiting.insert(*process.rank);
    }
    if (ranks < 2 || all_waiting.empty()) return false;
    std::vector<std::uint32_t> gone, elsewhere;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      if (!alive.contains(rank)) gone.push_back(static_cast<std::uint32_t>(rank));
      if (alive.contains(rank) && !all_waiting.contains(rank)) elsewhere.push_back(static_cast<std::uint32_t>(rank));
    }
    const std::vector<std::uint32_t>& absent = gone.empty() ? elsewhere : gone;
    if (absent.empty()) return false;
    cause.kind = CauseKind::absent_rank;
    const bool counted = word.value && word.wanted && *word.wanted - *word.value == absent.size();
    cause.confidence = counted ? Confidence::likely : Confidence::possible;
    std::string what;
    for (const std::uint32_t rank : absent) {
      const auto pid = pids.find(static_cast<std::int32_t>(rank));
      what += fmt::format("{}rank {} of {} {}", what.empty() ? "" : "; ", rank, ranks,
                          pid == pids.end() ? "never came to the session"
                          : gone.empty()    ? fmt::format("(process {}) does not wait there", pid->second)
                                            : fmt::format("(process {}) has ended", pid->second));
    }
    cause.text = fmt::format("{}; {} of the others wait for {}", what, all_waiting.size(), word_name(word));
    if (counted) cause.evidence.push_back("the word lacks as many arrivals as ranks are absent");
    return true;
  }

  /// Processes see one word at addresses of their own: one cause for all ranks that wait at a site.
  void merge_ranks() {
    std::map<std::string, std::size_t> first;
    for (std::size_t i = 0; i < answer_.causes.size();) {
      Cause& cause = answer_.causes[i];
      const auto known = cause.kind == CauseKind::absent_rank ? first.try_emplace(words()[*cause.word].site, i)
                                                              : std::pair(first.end(), true);
      if (known.second) {
        ++i;
        continue;
      }
      Cause& kept = answer_.causes[known.first->second];
      kept.evidence.push_back(cause.evidence.front());
      kept.since = std::min(kept.since, cause.since);
      answer_.causes.erase(answer_.causes.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  bool by_late_writer(std::size_t index, Cause& cause) {
    const std::vector<LastSignal>& signals = sites_[index];
    const WaitedWord& word = words()[index];
    if (signals.size() < 2) return false;
    std::map<Agent, const LastSignal*> newest;
    for (const LastSignal& signal : signals) {
      const LastSignal*& known = newest[agent_of(signal)];
      if (known == nullptr || signal.at > known->at) known = &signal;
    }
    std::uint32_t most = 0;
    for (const auto& [agent, signal] : newest) most = std::max(most, signal->iteration);
    // Nobody has signalled the awaited iteration: then nobody is behind the others.
    if (word.iteration == 0 || most < word.iteration) return false;
    std::vector<std::pair<Agent, const LastSignal*>> late;
    const bool by_word = writers_[index].size() < signals.size();  // signals of the word are told from its site's
    for (const auto& each : newest) {
      if (each.second->iteration >= word.iteration) continue;
      if (!by_word || agent_of(writers_[index].front()) == each.first) late.push_back(each);
    }
    if (late.empty()) return false;
    const auto& [agent, signal] = late.front();
    cause.kind = CauseKind::late_writer;
    cause.confidence = late.size() == 1 ? Confidence::likely : Confidence::possible;
    cause.text = fmt::format(
        "missing signal: {} signalled site {} last for iteration {}, {} ago; others have signalled iteration {}, and "
        "{} "
        "wait for {} ({})",
        who(agent), one_line(word.site), signal->iteration, age(view_.now, signal->at), most, waiters_wait(word),
        word_name(word), waiting_for(word));
    describe(agent, cause);
    return true;
  }

  void by_last_signal(std::size_t index, Cause& cause) {
    const WaitedWord& word = words()[index];
    cause.kind = CauseKind::missing_signal;
    cause.text = fmt::format("missing signal: {} for {}, which has not got the value ({})", waiters_wait(word),
                             word_name(word), waiting_for(word));
    name_candidates(word, cause);
    if (word.last) {
      const Agent agent = agent_of(*word.last);
      // Stores of kernels and of the CPU to a patched loop's word are not seen: another writer may have come later.
      cause.confidence = word.source == WaitSource::patched ? Confidence::possible : Confidence::likely;
      const bool known = word.last->writer != SignalWriter::unknown_copy;
      const std::string by = writer_text(word.last->writer);
      cause.text += fmt::format("; {} wrote it last{}, {} ago, with {}", who(agent), by.empty() ? "" : " by " + by,
                                age(view_.now, word.last->at),
                                known ? std::to_string(word.last->value) : "a value that is not known");
      if (!by.empty()) cause.evidence.emplace_back("stores of kernels and of the CPU to the word would not be seen");
      describe(agent, cause);
      return;
    }
    if (word.source == WaitSource::patched) {
      cause.confidence = word.candidates.empty() ? Confidence::unknown : Confidence::possible;
      cause.text += "; no copy, memset or stream's write of the word has been seen";
      if (is_written_unseen(word.memory)) {
        cause.confidence = Confidence::possible;
        cause.text +=
            fmt::format(", and the word is in {}, where stores of the CPU are not seen: the CPU may be its writer",
                        word.memory == WordMemory::managed ? "managed memory" : "the host's memory");
        for (const auto& [process, call] : view_.calls) {
          if (call.begin == 0 || call.waits_for_word != 0 || view_.now - call.begin < kLongAfter) continue;
          if (std::count(word.processes.begin(), word.processes.end(), process) == 0) continue;
          cause.evidence.push_back(
              fmt::format("host thread {} has waited in {} for {}: it does not write the word meanwhile", call.thread,
                          call.name, age(view_.now, call.begin)));
        }
      }
      return;
    }
    cause.confidence = Confidence::unknown;
    cause.text += "; no signal of the site has been recorded, so who should write it is unknown";
    if (word.releasing != 0) {
      cause.confidence = Confidence::possible;
      cause.text += word.releasing == kHostEnd
                        ? ", except that the program declares the CPU as its writer"
                        : fmt::format(", except that the program declares its device {} as its writer",
                                      word.releasing - kFirstDeviceEnd);
    }
  }

  static std::string writer_text(SignalWriter writer) {
    switch (writer) {
      case SignalWriter::copy:
      case SignalWriter::unknown_copy:
        return "a copy";
      case SignalWriter::memset:
        return "a memset";
      case SignalWriter::stream_write:
        return "a stream's write";
      case SignalWriter::program:
        break;
    }
    return {};
  }

  /// Kernels whose code may store to the word: never more than candidates.
  void name_candidates(const WaitedWord& word, Cause& cause) const {
    std::size_t shown = 0;
    for (const SeenCandidate& candidate : word.candidates) {
      if (++shown > kMostNames) break;
      std::string running;
      for (const auto& [process, kernel] : view_.kernels) {
        const bool same = function_name(kernel.name) == function_name(candidate.kernel);
        if (same && std::count(word.processes.begin(), word.processes.end(), process) > 0) {
          running = fmt::format("; launched {} ago, its end is not known", age(view_.now, kernel.launched));
        }
      }
      cause.evidence.push_back(fmt::format(
          "candidate: kernel {} {}{}", one_line(function_name(candidate.kernel)),
          candidate.exact ? "stores to the word's address" : "stores through a pointer to the word's allocation",
          running));
    }
  }

  /// What the writer does now.
  void describe(const Agent& agent, Cause& cause) {
    if (!agent.host) return;
    for (const auto& [process, call] : view_.calls) {
      if (process != agent.process || call.thread != agent.thread || call.begin == 0) continue;
      cause.evidence.push_back(
          fmt::format("{} has been in {} for {}", who(agent), call.name, age(view_.now, call.begin)));
      if (view_.now - call.begin >= kLongAfter && call.waits_for_word == 0 && cause.word &&
          agent.process == words()[*cause.word].processes.front() && words()[*cause.word].device != kHostDevice) {
        cause.kind = CauseKind::mutual_wait;
        cause.text = fmt::format("{}: that thread waits itself in {}, and the kernel waits for its signal", cause.text,
                                 call.name);
      }
      return;
    }
    for (const SeenThread& thread : view_.threads) {
      if (thread.process != agent.process || thread.thread != agent.thread) continue;
      cause.evidence.push_back(fmt::format("{} ({}) {}", who(agent), one_line(thread.name),
                                           thread.state == 'R' ? "runs"
                                           : thread.kernel_place.empty()
                                               ? "sleeps, where is not known"
                                               : "sleeps in the system's " + thread.kernel_place));
      return;
    }
    if (!view_.threads.empty()) cause.evidence.push_back(who(agent) + " has ended");
  }

  /// Whether one of the word's last writers waits at the other word.
  /// Writers that are known only by the site say nothing about two words of that site: those who have come to a barrier
  /// have signalled there, and wait there.
  bool depends_on(std::size_t word, std::size_t other) const {
    if (!told_by_word_.contains(word) && answer_.words[word].site == answer_.words[other].site) return false;
    return std::any_of(writers_[word].begin(), writers_[word].end(),
                       [&](const LastSignal& signal) { return agents_[other].contains(agent_of(signal)); });
  }

  void find_cycles() {
    const std::size_t count = std::min<std::size_t>(words().size(), kMostWordsInCycles);
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = a + 1; b < count; ++b) {
        if (!depends_on(a, b) || !depends_on(b, a)) continue;
        answer_.causes.push_back(mutual(a, b, Confidence::likely, {"each was last written by a waiter of the other"}));
        in_cycle_.insert({a, b});
      }
    }
    if (!in_cycle_.empty() || count != 2) return;
    // Nobody has ever signalled either of the only two words: the waiters may wait for each other.
    const bool silent = sites_[0].empty() && sites_[1].empty() && words()[0].site != words()[1].site &&
                        words()[0].device != kHostDevice && words()[1].device != kHostDevice &&
                        !is_written_unseen(words()[0].memory) && !is_written_unseen(words()[1].memory);
    if (silent && answer_.causes[0].kind == CauseKind::missing_signal &&
        answer_.causes[1].kind == CauseKind::missing_signal) {
      answer_.causes.push_back(
          mutual(0, 1, Confidence::possible, {"no signal of either site has been recorded, and nothing else waits"}));
    }
  }

  Cause mutual(std::size_t a, std::size_t b, Confidence confidence, std::vector<std::string> evidence) {
    // The signal that was due first: the one with the lower iteration.
    std::size_t first = a, second = b;
    const bool known = words()[a].iteration != words()[b].iteration;
    if (words()[b].iteration < words()[a].iteration) std::swap(first, second);
    Cause cause;
    cause.kind = CauseKind::mutual_wait;
    cause.confidence = confidence;
    cause.word = first;
    cause.since = std::min(words()[a].since, words()[b].since);
    cause.text = fmt::format("two waits for each other: {} for {} ({}), and {} for {} ({}); {}",
                             waiters_wait(words()[first]), word_name(words()[first]), waiting_for(words()[first]),
                             waiters_wait(words()[second]), word_name(words()[second]), waiting_for(words()[second]),
                             known ? "the first was due first, by its iteration" : "which was due first is unknown");
    cause.evidence = std::move(evidence);
    return cause;
  }

  /// A wait whose writer waits elsewhere is not the first cause.
  void mark_consequences() {
    for (Cause& cause : answer_.causes) {
      if (!cause.word || cause.kind == CauseKind::mutual_wait || cause.kind == CauseKind::grid_too_large) continue;
      const std::size_t word = *cause.word;
      for (std::size_t other = 0; other < words().size(); ++other) {
        if (other == word || !depends_on(word, other)) continue;
        if (depends_on(other, word) && !in_cycle_.contains({std::min(word, other), std::max(word, other)})) continue;
        cause.kind = CauseKind::consequence;
        cause.text += fmt::format("; its last writer waits itself, for {}", word_name(words()[other]));
        break;
      }
    }
  }

  /// The kernel that runs, as far as it is known.
  std::string running_one(const std::vector<const OpenKernel*>& kernels, std::vector<std::string>& evidence) const {
    const auto named = [&](const OpenKernel& kernel) {
      return fmt::format("kernel {}, launched {} ago on stream 0x{:x}", one_line(function_name(kernel.name)),
                         age(view_.now, kernel.launched), kernel.stream);
    };
    if (kernels.size() == 1) return named(*kernels.front());
    std::set<std::string> sampled, candidates;
    for (const SampledPlace& place : view_.samples) sampled.insert(function_name(place.function));
    const OpenKernel* only = nullptr;
    for (const OpenKernel* kernel : kernels) {
      const std::string name = function_name(kernel->name);
      candidates.insert(name);
      if (sampled.contains(name)) only = kernel;
    }
    const bool one = std::count_if(candidates.begin(), candidates.end(),
                                   [&](const std::string& name) { return sampled.contains(name); }) == 1;
    if (one) {
      evidence.emplace_back("of the kernels there, samples of the last seconds show only this one");
      return named(*only);
    }
    evidence.emplace_back("some of these kernels may have ended: CUPTI reports ends late");
    std::string names;
    std::size_t shown = 0;
    for (const std::string& name : candidates) {
      if (++shown > kMostNames) break;
      names += (names.empty() ? "" : ", ") + one_line(name);
    }
    return fmt::format("one of {} kernels of the stream without a known end ({}{})", kernels.size(), names,
                       candidates.size() > kMostNames ? ", ..." : "");
  }

  void explain_calls() {
    for (const auto& [process, call] : view_.calls) {
      if (call.begin == 0 || call.waits_for_word != 0 || view_.now - call.begin < kLongAfter) continue;
      Cause cause;
      cause.since = call.begin;
      const std::string thread = fmt::format("host thread {} of process {} has waited in {} for {}", call.thread,
                                             process, call.name, age(view_.now, call.begin));
      std::vector<const OpenKernel*> kernels;
      for (const auto& [owner, kernel] : view_.kernels) {
        if (owner != process || kernel.launched > call.begin) continue;
        if (call.awaited == Awaited::stream && kernel.stream != call.stream) continue;
        kernels.push_back(&kernel);
      }
      const bool explained = std::any_of(words().begin(), words().end(), [&, of = process](const WaitedWord& word) {
        return word.device != kHostDevice && !word.is_satisfied() &&
               std::count(word.processes.begin(), word.processes.end(), of) > 0;
      });
      cause.confidence = Confidence::unknown;
      if (explained) {
        cause.kind = CauseKind::consequence;
        cause.text = thread + ", behind a kernel that waits";
      } else if (!kernels.empty()) {
        cause.kind = CauseKind::running_kernel;
        cause.text = fmt::format(
            "{}, behind {}: what its warps wait for, if they wait, is unknown, since they do not "
            "wait through wic",
            thread, running_one(kernels, cause.evidence));
      } else {
        cause.kind = CauseKind::waiting_call;
        cause.text =
            thread + (view_.sees_launches ? ": no kernel there is known to run, so what it waits for is unknown"
                                          : ": which kernel runs there is unknown, since launches are not "
                                            "recorded (--trace with the word launches)");
      }
      for (const SampledPlace& place : view_.samples) {
        cause.evidence.push_back(fmt::format(
            "{} samples of {} at offset 0x{:x}{}: {}", place.samples, one_line(function_name(place.function)),
            place.offset, place.file.empty() ? "" : fmt::format(" ({}:{})", one_line(place.file), place.line),
            place.reason));
        if (cause.evidence.size() == kMostSamples) break;
      }
      answer_.causes.push_back(std::move(cause));
    }
  }

  static constexpr std::size_t kMostWordsInCycles = 256;  // bounds the time for pairs
  static constexpr std::size_t kMostSamples = 4, kMostNames = 6;

  const StuckView& view_;
  StuckAnswer answer_;
  std::vector<std::set<Agent>> agents_;           // that wait, per word
  std::vector<std::vector<LastSignal>> sites_;    // signals of the word's site
  std::vector<std::vector<LastSignal>> writers_;  // of the word, the newest first
  std::map<std::size_t, WordTag> tags_;           // per word
  std::map<std::size_t, TimeNs> seen_;            // when its value was reported last
  std::set<std::size_t> told_by_word_;            // words whose writers are told from their site's by a tag
  std::set<std::pair<std::size_t, std::size_t>> in_cycle_;
};

}  // namespace

std::string wanted_text(const WantedValue& wanted) {
  const std::uint64_t all = wanted.is_64_bit ? ~std::uint64_t{0} : 0xffff'ffffu;
  const bool masked = (wanted.mask & all) != all;
  const std::string value = masked ? fmt::format("0x{:x}", wanted.value) : std::to_string(wanted.value);
  const std::string bits = masked ? fmt::format(" in the bits 0x{:x}", wanted.mask & all) : "";
  const std::int64_t as_signed = wanted.is_64_bit ? static_cast<std::int64_t>(wanted.value)
                                                  : static_cast<std::int32_t>(static_cast<std::uint32_t>(wanted.value));
  switch (wanted.relation) {
    case WantedRelation::equal:
      return value + bits;
    case WantedRelation::not_equal:
      return "other than " + value + bits;
    case WantedRelation::at_least:
      return "at least " + value;
    case WantedRelation::at_most:
      return "at most " + value;
    case WantedRelation::signed_at_least:
      return fmt::format("at least {} (signed)", as_signed);
    case WantedRelation::signed_at_most:
      return fmt::format("at most {} (signed)", as_signed);
    case WantedRelation::unknown:
      break;
  }
  return {};
}

const char* confidence_name(Confidence confidence) {
  switch (confidence) {
    case Confidence::likely:
      return "likely";
    case Confidence::possible:
      return "possible";
    case Confidence::unknown:
      break;
  }
  return "unknown";
}

const char* cause_name(CauseKind kind) {
  switch (kind) {
    case CauseKind::missing_signal:
      return "missing_signal";
    case CauseKind::late_writer:
      return "late_writer";
    case CauseKind::wrong_count:
      return "wrong_count";
    case CauseKind::grid_too_large:
      return "grid_too_large";
    case CauseKind::absent_blocks:
      return "absent_blocks";
    case CauseKind::absent_rank:
      return "absent_rank";
    case CauseKind::mutual_wait:
      return "mutual_wait";
    case CauseKind::running_kernel:
      return "running_kernel";
    case CauseKind::waiting_call:
      return "waiting_call";
    case CauseKind::consequence:
      break;
  }
  return "consequence";
}

std::string ranges_of(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]);
    if (last > i) text += (last == i + 1 ? ", " : " to ") + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

StuckAnswer diagnose(const StuckView& view) { return Diagnosis(view).run(); }

}  // namespace wicprof::analyzer
