#include "rewriter/waits/judge.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "rewriter/waits/decisions.h"
#include "rewriter/waits/values.h"
#include "rewriter/waits/wanted.h"

namespace wicprof::rewriter {

namespace {

// The analysis of a loop takes time that grows with the square of the loop's length. Waits are short: the longest of
// the test sets has some 300 instructions. The limit is ten times as high; not calibrated.
constexpr std::size_t kLongestLoop = 3'000;

// Calls that end the program, so that what they do does not matter.
bool ends_the_program(std::string_view callee) { return callee == "__assertfail" || callee == "__trap"; }

/// Whether the instruction is one at which all threads of the block, or as many as it says, wait for each other.
bool meets_block(std::string_view opcode) {
  return !has_modifier(opcode, "cluster") && (has_modifier(opcode, "sync") || has_modifier(opcode, "red"));
}

class LoopJudge {
 public:
  LoopJudge(FunctionFlow& flow, const Loop& loop)
      : flow_(flow), function_(flow.function), program_(flow.program), graph_(flow.graph), loop_(loop) {}

  LoopVerdict judge() {
    if (program_.code[last()].effect == Effect::indexed) return answer(Verdict::unknown, reasons::indexed_back_edge);
    if (const std::optional<LoopReason> why = cannot_wait()) return answer(Verdict::not_a_wait, *why);
    if (length_ > kLongestLoop) return answer(Verdict::unknown, reasons::too_long);
    values_.emplace(program_, graph_, loop_, flow_.writers);
    found_ = decisions_of(*values_);
    // What an inner loop searches is nothing that the outer one waits for.
    flow_.searched.merge(found_.searched);
    std::erase_if(found_.polls, [&](std::size_t poll) { return flow_.searched.contains(poll); });
    if (found_.polls.empty() && found_.hardware) return judge_tries();
    if (found_.polls.empty()) {
      // Only another thread ends a loop whose rounds change nothing that they compare.
      if (!found_.compared.empty() && values_->may_stay(found_.compared)) {
        return answer(Verdict::unknown, found_.doubtful.empty() ? text_of(reasons::may_stay) : found_.doubtful);
      }
      return answer(Verdict::not_a_wait, found_.doubtful.empty() ? text_of(found_.without_polls) : found_.doubtful);
    }
    for (const std::size_t poll : found_.polls) {
      result_.polls.push_back({program_.code[poll].opcode, program_.code[poll].place});
      result_.waited_for = std::max(result_.waited_for, values_->memory_of(program_.code[poll]));
    }
    if (found_.hardware) result_.waited_for = WaitedFor::mbarrier;  // the word may tell it to give up
    if (!found_.doubtful.empty()) return answer(Verdict::unknown, found_.doubtful);
    if (const std::optional<std::string> why = writes_what_a_mask_chooses()) return answer(Verdict::unknown, *why);
    if (const std::optional<std::string> why = more_than_turns()) {
      return answer(Verdict::wait_not_patchable,
                    text_of(reasons::words_in_turn, at_line(program_.code[*found_.in_turn.begin()])) + ", and " + *why);
    }
    if (writes_a_polled_word()) return answer(Verdict::unknown, reasons::writes_polled_word);
    if (const std::optional<std::string> why = forbidden()) return answer(Verdict::wait_not_patchable, *why);
    if (const std::optional<LoopReason> why = collected()) return answer(Verdict::unknown, *why);
    if (const std::optional<LoopReason> why = no_place_beside_poll()) return answer(Verdict::wait_not_patchable, *why);
    result_.pause = pause_of();
    if (found_.polls.size() == 1 && program_.code[last()].statement < function_.statements.size()) {
      const Statement& back_edge = function_.statements[program_.code[last()].statement];
      const std::size_t poll = *found_.polls.begin();
      result_.word = word_of(function_, flow_.names, *values_, poll, back_edge);
      if (result_.word) result_.wanted = wanted_of(*values_, poll, result_.word->is_64_bit);
    }
    find_exits();
    return answer(Verdict::wait, pause_reason_);
  }

 private:
  std::size_t last() const { return graph_.block(loop_.tail).end - 1; }

  template <class Visit>
  void each_instruction(Visit visit) const {
    wicprof::each_instruction(graph_, loop_, [&](std::size_t i) { visit(i, program_.code[i]); });
  }

  LoopVerdict answer(Verdict verdict, LoopReason reason) { return answer(verdict, text_of(reason)); }
  LoopVerdict answer(Verdict verdict, std::string reason) {
    result_.verdict = verdict;
    result_.reason = std::move(reason);
    int place = place_in_function(last());
    for (const std::size_t poll : found_.polls) {
      const int of_poll = place_in_function(poll);
      if (of_poll < 0) continue;
      place = of_poll;
      break;
    }
    // What the loop calls was inlined deeper than the loop.
    int caller = function_.caller_of(place);
    if (!found_.polls.empty()) {
      each_instruction([&](std::size_t i, const Instruction&) {
        const int other = place_in_function(i);
        if (other < 0) return;
        for (int of_other = function_.caller_of(other); of_other != caller;) {
          int& inner = of_other > caller ? of_other : caller;
          inner = function_.caller_of(inner);
        }
      });
    }
    while (function_.caller_of(place) != caller) place = function_.caller_of(place);
    result_.place = function_.place_at(place);
    while (function_.caller_of(place) >= 0) place = function_.caller_of(place);
    result_.called_at = function_.place_at(place);
    return std::move(result_);
  }

  /// In Function::places; of an instruction of a function that was inlined for the analysis, where this function calls
  /// it. -1: unknown.
  int place_in_function(std::size_t index) const {
    const std::size_t statement = program_.code[index].statement;
    return statement < function_.statements.size() ? function_.statements[statement].place : -1;
  }

  /// Whether a loop that does what this one does can be no wait, whatever its values are.
  std::optional<LoopReason> cannot_wait() {
    bool reads = false, fence = false, weak = false;
    each_instruction([&](std::size_t, const Instruction& instruction) {
      ++length_;
      fence |= instruction.effect == Effect::fence;
      meets_ |= instruction.effect == Effect::barrier;
      votes_ |= instruction.effect == Effect::barrier && has_modifier(instruction.opcode, "red");
      if (instruction.effect == Effect::atomic || instruction.effect == Effect::hardware_wait) reads = true;
      if (instruction.effect != Effect::load) return;
      (is_strong(instruction.opcode) ? reads : weak) = true;
    });
    if (reads || (weak && fence)) return std::nullopt;
    return weak ? reasons::ordinary_loads : reasons::reads_nothing;
  }

  /// The verdict on a loop that tries an mbarrier, and that no poll of memory decides.
  LoopVerdict judge_tries() {
    const std::optional<std::string> works = forbidden();
    // The tiles of a pipeline: the loop counts them, and waits for each in a loop of its own or at a try.
    if (works && found_.counts) return answer(Verdict::not_a_wait, reasons::limit_decides);
    if (works) return answer(Verdict::unknown, text_of(reasons::works_between_tries) + ": " + *works);
    // One that sleeps between its tries compares the time: without optimization, by words that it finds through
    // pointers.
    bool sleeps = false;
    each_instruction(
        [&](std::size_t, const Instruction& instruction) { sleeps |= instruction.effect == Effect::sleep; });
    if (!found_.doubtful.empty() && !sleeps) return answer(Verdict::unknown, found_.doubtful);
    if (found_.counted) return answer(Verdict::unknown, reasons::counted_tries);
    if (collected()) return answer(Verdict::unknown, reasons::works_between_tries);
    result_.waited_for = WaitedFor::mbarrier;
    return answer(Verdict::wait_not_patchable, reasons::waits_at_mbarrier);
  }

  /// Whether a store of the loop has the address of one of its polls: such a loop may end without another thread.
  bool writes_a_polled_word() const {
    bool writes = false;
    each_instruction([&](std::size_t i, const Instruction& instruction) {
      if (instruction.effect != Effect::store || !instruction.has_address) return;
      for (const std::size_t poll : found_.polls) writes |= have_one_address(*values_, i, poll);
    });
    return writes;
  }

  /// Where a mask chooses the word that is polled, and what is written: the loop's own stores may end it.
  std::optional<std::string> writes_what_a_mask_chooses() const {
    std::optional<std::string> why;
    each_instruction([&](std::size_t i, const Instruction& instruction) {
      const bool stores = instruction.effect == Effect::store && !has_modifier(instruction.opcode, "local");
      const bool writes = stores || instruction.effect == Effect::reduction || instruction.effect == Effect::atomic;
      if (!writes || (values_->address_of(i).sources & (kMask | kByMask)) == 0) return;
      if (values_->reading_of(i) != Reading::strong) why = text_of(reasons::writes_memory, at_line(instruction));
    });
    return why;
  }

  /// What a loop that polls words in turn does beside that; else nothing.
  std::optional<std::string> more_than_turns() const {
    if (found_.in_turn.empty()) return std::nullopt;
    // Whether it waits for one of several locks, or looks for a free place in a table, the code does not tell.
    for (const std::size_t poll : found_.polls) {
      if (values_->reading_of(poll) == Reading::attempt) return text_of(reasons::takes_first_free);
    }
    if (writes_a_polled_word()) return text_of(reasons::writes_polled_word);
    if (std::optional<std::string> why = forbidden()) return why;
    if (const std::optional<LoopReason> why = collected()) return text_of(*why);
    return std::nullopt;
  }

  /// Where the block meets in the loop, the visit stands behind the poll: why it cannot.
  std::optional<LoopReason> no_place_beside_poll() {
    if (!meets_) return std::nullopt;
    const std::optional<std::size_t> poll = first_of(graph_, found_.polls);
    if (!poll) return reasons::several_polls_at_barrier;
    for (const Loop* const inner : flow_.waits) {
      if (inner->contains(graph_.block_of[*poll])) return reasons::inner_wait_at_barrier;
    }
    result_.visit_behind = visit_place(function_, program_, *poll);
    if (!result_.visit_behind) return reasons::called_poll_at_barrier;
    return std::nullopt;
  }

  /// What the loop does beside waiting that a patch must not repeat later than the program does.
  std::optional<std::string> forbidden() const {
    std::optional<std::string> why;
    each_instruction([&](std::size_t i, const Instruction& instruction) {
      if (why) return;
      switch (instruction.effect) {
        case Effect::compute:
        case Effect::fence:
        case Effect::sleep:
        case Effect::warp:
        case Effect::branch:
        case Effect::indexed:
        case Effect::leave:
          return;
        case Effect::load:
          if (mnemonic_of(instruction.opcode) == "multimem") {
            why = text_of(reasons::reads_several_devices, at_line(instruction));
          }
          return;
        case Effect::atomic:
          if (values_->reading_of(i) == Reading::changes) why = text_of(reasons::changes_memory, at_line(instruction));
          return;
        case Effect::call:
          if (!ends_the_program(instruction.callee)) why = text_of(reasons::calls, instruction.callee);
          return;
        case Effect::store:
          if (has_modifier(instruction.opcode, "local")) return;  // nobody else sees it
          if (!found_.passing_on.contains(i)) why = text_of(reasons::writes_memory, at_line(instruction));
          return;
        case Effect::reduction:
          why = text_of(reasons::writes_memory, at_line(instruction));
          return;
        case Effect::barrier:
          // Threads that do not agree about the way out may meet others at the barrier, or not.
          if ((!votes_ && found_.broadcasts.empty()) || !meets_block(instruction.opcode))
            why = text_of(reasons::barrier, at_line(instruction));
          return;
        case Effect::hardware_wait:
          if (mnemonic_of(instruction.opcode) != "mbarrier") {
            why = text_of(reasons::waits_in_hardware, at_line(instruction));
          } else if (!found_.polls.empty()) {  // else the loop is this wait alone
            why = text_of(reasons::waits_at_mbarrier, at_line(instruction));
          }
          return;
        case Effect::asynchronous:
        case Effect::other_memory:
        case Effect::unknown:
          why = text_of(reasons::other_effect, at_line(instruction));
          return;
      }
    });
    return why;
  }

  /// What the program goes on with that the loop collected from round to round: such a loop does work.
  std::optional<LoopReason> collected() const {
    constexpr std::uint32_t kCollected = kSequence | kCarried | kVaries | kRewritten;
    std::set<int> written;
    bool stored = false;  // in memory of the thread's own
    each_instruction([&](std::size_t i, const Instruction& instruction) {
      written.insert(instruction.defines.begin(), instruction.defines.end());
      if (instruction.effect != Effect::store) return;
      for (const Operand& source : instruction.sources)
        stored |= (values_->value_of(i, source).sources & kCollected) != 0;
    });
    if (stored) return reasons::stores_collected;
    for (const int exit : exits_of(graph_, loop_)) {
      const Block& block = graph_.block(exit);
      for (const int variable : written) {
        const Value value = values_->value_of(block.end - 1, {OperandKind::variable, variable});
        if ((value.sources & kCollected) == 0 || is_of_a_turn(block.end - 1, variable)) continue;
        for (const int after : block.after) {
          if (loop_.contains(after)) continue;
          if (flow_.live.lives(variable, after)) return reasons::returns_collected;
        }
      }
    }
    return std::nullopt;
  }

  /// Where words are polled in turn: whether the variable has what a poll has read, or what the thread itself keeps of
  /// it in local memory, one place per word.
  bool is_of_a_turn(std::size_t reader, int variable) const {
    const auto is = [&](std::size_t writer) {
      return found_.polls.contains(writer) ||
             (program_.code[writer].effect == Effect::load && has_modifier(program_.code[writer].opcode, "local"));
    };
    const std::vector<std::size_t> writers = values_->flow().writers_of(reader, variable);
    return !found_.in_turn.empty() &&
           std::ranges::all_of(writers, [&](std::size_t writer) { return writer != LoopFlow::npos && is(writer); });
  }

  void find_exits() {
    const auto goes_on = [&](int block) {
      const std::vector<const Loop*>& with = flow_.loops_with[index_of(block)];
      return std::ranges::any_of(with, [&](const Loop* other) { return other->header == loop_.header; });
    };
    std::set<std::size_t> exits;
    result_.exits_known = true;
    for (const int block : exits_of(graph_, loop_)) {
      const Block& from = graph_.block(block);
      const Instruction& last = program_.code[from.end - 1];
      // A thread that has trapped ends with its kernel.
      if (last.effect == Effect::leave && mnemonic_of(last.opcode) != "trap") result_.exits_known = false;
      for (const int after : from.after) {
        if (goes_on(after)) continue;
        const Instruction& first = program_.code[graph_.block(after).begin];
        if (first.inlined) {
          result_.exits_known = false;
        } else {
          exits.insert(first.statement);
        }
      }
    }
    result_.exits.assign(exits.begin(), exits.end());
  }

  /// Of the loop, or of one around it.
  bool sleeps_by_the_clock() {
    for (const Loop* const outer : flow_.loops_with[index_of(loop_.header)]) {
      if (!std::includes(outer->blocks.begin(), outer->blocks.end(), loop_.blocks.begin(), loop_.blocks.end()))
        continue;
      const auto [known, is_new] = flow_.sleeps_by_the_clock.try_emplace(outer, false);
      if (is_new) known->second = sleeps_by_the_clock(*outer);
      if (known->second) return true;
    }
    return false;
  }
  bool sleeps_by_the_clock(const Loop& outer) const {
    std::size_t length = 0;
    std::vector<std::size_t> sleeps;
    wicprof::each_instruction(graph_, outer, [&](std::size_t i) {
      ++length;
      if (program_.code[i].effect == Effect::sleep) sleeps.push_back(i);
    });
    if (sleeps.empty() || length > kLongestLoop) return false;
    const LoopValues values(program_, graph_, outer, flow_.writers);
    return std::ranges::any_of(sleeps, [&](std::size_t i) {
      const std::vector<Operand>& sources = program_.code[i].sources;
      return std::ranges::any_of(
          sources, [&](const Operand& source) { return (values.value_of(i, source).sources & kClock) != 0; });
    });
  }

  Pause pause_of() {
    if (sleeps_by_the_clock()) {
      pause_reason_ = reasons::pause_by_clock;
      return Pause::none;
    }
    pause_reason_ = !found_.broadcasts.empty() ? reasons::broadcast : meets_ ? reasons::vote : reasons::deciding_load;
    Pause pause = Pause::any;
    const auto is_brief = [&](const LoopReason& why) {
      pause_reason_ = why;
      pause = Pause::brief;
    };
    each_instruction([&](std::size_t i, const Instruction& instruction) {
      if (instruction.effect == Effect::warp) {
        is_brief(reasons::exchanges_in_warp);
      } else if (instruction.effect == Effect::atomic && values_->reading_of(i) == Reading::attempt) {
        is_brief(reasons::short_for_lock);
      } else if (found_.polls.contains(i) && values_->reads_shared_memory(instruction)) {
        is_brief(values_->memory_of(instruction) == WaitedFor::cluster_word ? reasons::short_in_cluster
                                                                            : reasons::short_in_shared_memory);
      }
    });
    if (!found_.in_turn.empty()) is_brief(reasons::short_in_turn);
    return pause;
  }

  FunctionFlow& flow_;
  const Function& function_;
  const Program& program_;
  const Graph& graph_;
  const Loop& loop_;
  LoopVerdict result_;
  std::size_t length_ = 0;
  std::optional<LoopValues> values_;
  Decisions found_;
  LoopReason pause_reason_ = reasons::deciding_load;
  bool meets_ = false;  // the block does, at a barrier
  bool votes_ = false;  // and its threads agree there about the way out
};

}  // namespace

LoopVerdict judge(FunctionFlow& flow, const Loop& loop) { return LoopJudge(flow, loop).judge(); }

}  // namespace wicprof::rewriter
