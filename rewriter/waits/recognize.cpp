#include "rewriter/waits/recognize.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "code/graph.h"
#include "protocol/symbol_name.h"
#include "rewriter/flow/live_values.h"
#include "rewriter/flow/names.h"
#include "rewriter/flow/program.h"
#include "rewriter/waits/site_names.h"
#include "rewriter/waits/values.h"
#include "rewriter/waits/visit_place.h"
#include "rewriter/waits/wanted.h"
#include "rewriter/waits/ways_out.h"

namespace wicprof::rewriter {

namespace {

// The analysis of a loop takes time that grows with the square of the loop's length. Waits are short: the longest of
// the test sets has some 300 instructions. The limit is ten times as high; not calibrated.
constexpr std::size_t kLongestLoop = 3'000;

// Calls that end the program, so that what they do does not matter.
bool ends_the_program(std::string_view callee) { return callee == "__assertfail" || callee == "__trap"; }

/// What the judgements of a function's loops share.
struct FunctionFlow {
  FunctionFlow(const Function& of, const Program& its_program)
      : function(of),
        program(its_program),
        graph(graph_of(successors_of(program))),
        names(function),
        live(program, graph) {
    loops = loops_of(graph, irreducible);
    writers = writers_in(program);
    loops_with.resize(graph.blocks.size());
    for (const Loop& loop : loops) {
      for (const int block : loop.blocks) loops_with[index_of(block)].push_back(&loop);
    }
  }
  FunctionFlow(const FunctionFlow&) = delete;
  FunctionFlow& operator=(const FunctionFlow&) = delete;

  const Function& function;
  const Program& program;
  Graph graph;
  Names names;
  LiveValues live;
  std::vector<Loop> loops;
  std::vector<int> irreducible;
  std::vector<std::vector<std::size_t>> writers;     ///< writers_in(program)
  std::vector<std::vector<const Loop*>> loops_with;  ///< per block, those that contain it
  std::map<const Loop*, bool> sleeps_by_the_clock;   ///< as far as it is known
  std::vector<const Loop*> waits;                    ///< judged so far
};

/// Whether the instruction is one at which all threads of the block, or as many as it says, wait for each other.
bool meets_block(std::string_view opcode) {
  return !has_modifier(opcode, "cluster") && (has_modifier(opcode, "sync") || has_modifier(opcode, "red"));
}

class LoopJudge {
 public:
  LoopJudge(FunctionFlow& flow, const Loop& loop)
      : flow_(flow), function_(flow.function), program_(flow.program), graph_(flow.graph), loop_(loop) {}

  LoopVerdict judge() {
    if (program_.code[last()].effect == Effect::indexed) return answer(Verdict::unknown, LoopReason::indexed_back_edge);
    if (const std::optional<LoopReason> why = cannot_wait()) return answer(Verdict::not_a_wait, *why);
    if (length_ > kLongestLoop) return answer(Verdict::unknown, LoopReason::too_long);
    const LoopValues values(program_, graph_, loop_, flow_.writers);
    ways_out(values);
    pass_on_broadcasts(values);
    if (deciding_.empty() && !hardware_) return answer(Verdict::not_a_wait, no_wait_reason());
    if (deciding_.empty()) {
      return answer(Verdict::wait_not_patchable, LoopReason::waits_in_hardware);
    }
    for (const std::size_t poll : deciding_) {
      result_.polls.push_back({program_.code[poll].opcode, program_.code[poll].place});
    }
    if (!doubtful_.empty()) return answer(Verdict::unknown, doubtful_);
    if (const std::optional<std::string> why = more_than_turns(values)) {
      return answer(Verdict::wait_not_patchable,
                    text_of(LoopReason::words_in_turn, at_line(*in_turn_.begin())) + ", and " + *why);
    }
    if (writes_a_polled_word(values)) return answer(Verdict::unknown, LoopReason::writes_polled_word);
    if (const std::optional<std::string> why = forbidden(values)) return answer(Verdict::wait_not_patchable, *why);
    if (const std::optional<LoopReason> why = collected(values)) return answer(Verdict::unknown, *why);
    if (const std::optional<LoopReason> why = no_place_beside_poll()) {
      return answer(Verdict::wait_not_patchable, *why);
    }
    result_.pause = pause_of(values);
    if (deciding_.size() == 1 && program_.code[last()].statement < function_.statements.size()) {
      const Statement& back_edge = function_.statements[program_.code[last()].statement];
      result_.word = word_of(function_, flow_.names, program_, loop_, graph_, values, *deciding_.begin(), back_edge);
      if (result_.word) {
        result_.wanted = wanted_of(program_, graph_, loop_, values, *deciding_.begin(), result_.word->is_64_bit);
      }
    }
    find_exits();
    return answer(Verdict::wait, pause_reason_);
  }

 private:
  std::size_t last() const { return graph_.blocks[static_cast<std::size_t>(loop_.tail)].end - 1; }
  std::size_t first() const { return graph_.blocks[static_cast<std::size_t>(loop_.header)].begin; }

  template <class Visit>
  void each_instruction(Visit visit) const {
    each_instruction_of(loop_, visit);
  }
  template <class Visit>
  void each_instruction_of(const Loop& loop, Visit visit) const {
    wicprof::each_instruction(graph_, loop, [&](std::size_t i) { visit(i, program_.code[i]); });
  }

  LoopVerdict answer(Verdict verdict, LoopReason reason) { return answer(verdict, text_of(reason)); }
  LoopVerdict answer(Verdict verdict, std::string reason) {
    result_.verdict = verdict;
    result_.reason = std::move(reason);
    int place = place_in_function(last());
    for (const std::size_t poll : deciding_) {
      const int of_poll = place_in_function(poll);
      if (of_poll < 0) continue;
      place = of_poll;
      break;
    }
    // What the loop calls was inlined deeper than the loop.
    int caller = function_.caller_of(place);
    if (!deciding_.empty()) {
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
      agrees_ |= instruction.effect == Effect::barrier && has_modifier(instruction.opcode, "red");
      if (instruction.effect == Effect::atomic || instruction.effect == Effect::hardware_wait) reads = true;
      if (instruction.effect != Effect::load) return;
      const bool strong = has_modifier(instruction.opcode, "volatile") || has_modifier(instruction.opcode, "relaxed") ||
                          has_modifier(instruction.opcode, "acquire") || has_modifier(instruction.opcode, "mmio") ||
                          has_modifier(instruction.opcode, "cv") || has_modifier(instruction.opcode, "cg");
      (strong ? reads : weak) = true;
    });
    if (reads || (weak && fence)) return std::nullopt;
    return weak ? LoopReason::ordinary_loads : LoopReason::reads_nothing;
  }

  void ways_out(const LoopValues& values) {
    bool any = false;
    for (const Comparison& comparison : comparisons_of(program_, graph_, loop_, values)) {
      any = true;
      const std::uint32_t sources = comparison.value.sources;
      if (comparison.value.polls.empty() && (sources & (kCounter | kSequence)) != 0) counted_ = true;
      if (sources & kHardware) {
        hardware_ = true;
        continue;
      }
      if (sources & (kSequence | kCarried | kVaries)) {
        if (doubtful_.empty()) {
          doubtful_ = text_of(sources & kVaries ? LoopReason::address_changes : LoopReason::value_changes,
                              at_line(comparison.instruction));
        }
        continue;
      }
      if (comparison.value.polls.empty()) {
        if (sources & (kClock | kCounter)) bounded_ = true;
        continue;
      }
      if (sources & (kCounter | kClock)) {
        bounded_ = true;  // a limit that stands in memory
        continue;
      }
      if (polls_a_word_twice(values, comparison.value.polls)) {
        doubtful_ = text_of(LoopReason::polls_twice, at_line(comparison.instruction));
        continue;
      }
      if (sources & kInTurn) {
        // One question to each word: a search of a table asks whether an entry is the one, and whether it is the last.
        if (!in_turn_.empty()) doubtful_ = text_of(LoopReason::several_turns, at_line(comparison.instruction));
        in_turn_.insert(comparison.instruction);
      }
      deciding_.insert(comparison.value.polls.begin(), comparison.value.polls.end());
    }
    has_way_out_ = any;
    // Words in turn up to a number of them, or until a value is found: a search.
    if (!in_turn_.empty() && (counted_ || !doubtful_.empty())) {
      if (doubtful_.empty()) doubtful_ = text_of(LoopReason::counted_turns, at_line(*in_turn_.begin()));
      deciding_.clear();
    }
  }

  /// Where one thread polls and gives the block what it read through shared memory, its poll decides.
  void pass_on_broadcasts(const LoopValues& values) {
    std::set<std::size_t> polled;
    for (const std::size_t poll : deciding_) {
      bool meets = false;
      std::vector<std::size_t> stores;
      each_instruction([&](std::size_t i, const Instruction& instruction) {
        meets |= instruction.effect == Effect::barrier;
        if (instruction.effect == Effect::store && instruction.has_address && !instruction.sources.empty() &&
            is_shared(program_.code[poll]) && have_one_address(values, i, poll)) {
          stores.push_back(i);
        }
      });
      if (!meets || stores.empty()) continue;
      for (const std::size_t store : stores) {
        Value value;
        for (const Operand& source : program_.code[store].sources) value.add(values.value_of(store, source));
        constexpr std::uint32_t kWork =
            kCounter | kSequence | kClock | kWeak | kVaries | kCarried | kHardware | kInTurn;
        // A sum of what was there counts; only what is given as it was read waits.
        if ((value.sources & kWork) != 0 || value.polls.empty() || value.polls.contains(poll)) return;
        polled.insert(value.polls.begin(), value.polls.end());
      }
      broadcasts_.insert(poll);
      passing_on_.insert(stores.begin(), stores.end());
    }
    agrees_ |= !broadcasts_.empty();
    for (const std::size_t poll : broadcasts_) deciding_.erase(poll);
    deciding_.insert(polled.begin(), polled.end());
  }

  /// Whether two of the polls read one word one after the other, as the reader of a sequence lock does. Polls on two
  /// ways through the loop are alternatives.
  bool polls_a_word_twice(const LoopValues& values, const std::set<std::size_t>& polls) const {
    // Two addresses are equal where the same instructions wrote the same variable.
    using Place = std::tuple<std::vector<std::size_t>, int, std::int64_t>;
    std::map<Place, std::vector<std::size_t>> places;
    for (const std::size_t poll : polls) {
      const Instruction& instruction = program_.code[poll];
      if (!instruction.has_address || instruction.address.kind != OperandKind::variable) continue;
      const int variable = instruction.address.variable;
      std::vector<std::size_t>& same = places[{values.writers_of(poll, variable), variable, instruction.offset}];
      for (const std::size_t other : same) {
        const int a = graph_.block_of[other], b = graph_.block_of[poll];
        if (graph_.dominates(a, b) || graph_.dominates(b, a)) return true;
      }
      same.push_back(poll);
    }
    return false;
  }

  std::string no_wait_reason() const {
    if (!doubtful_.empty()) return doubtful_;
    return text_of(!has_way_out_ ? LoopReason::no_way_out
                   : bounded_    ? LoopReason::limit_decides
                                 : LoopReason::no_deciding_load);
  }

  std::string at_line(std::size_t index) const {
    const Instruction& instruction = program_.code[index];
    std::string text = " (" + std::string(instruction.opcode);
    if (instruction.place.line != 0) text += ", source line " + std::to_string(instruction.place.line);
    return text + ")";
  }

  /// Whether a store of the loop has the address of one of its polls: such a loop may end without another thread.
  bool writes_a_polled_word(const LoopValues& values) const {
    bool writes = false;
    each_instruction([&](std::size_t i, const Instruction& instruction) {
      if (instruction.effect != Effect::store || !instruction.has_address) return;
      for (const std::size_t poll : deciding_) writes |= have_one_address(values, i, poll);
    });
    return writes;
  }

  /// The variable of the module whose address the operand is, in whatever address space; empty: another address.
  std::string_view symbol_of(Operand operand) const {
    constexpr int kLongestChain = 16;  // of moves; nvcc's code without optimization has three
    for (int step = 0; step < kLongestChain && operand.kind == OperandKind::variable; ++step) {
      const std::vector<std::size_t>& writers = flow_.writers[index_of(operand.variable)];
      if (writers.size() != 1) return {};
      const Instruction& writer = program_.code[writers.front()];
      const std::string_view mnemonic = mnemonic_of(writer.opcode);
      if (writer.sources.size() != 1 || (mnemonic != "mov" && mnemonic != "cvt" && mnemonic != "cvta")) return {};
      operand = writer.sources.front();
    }
    return operand.kind == OperandKind::symbol ? operand.name : std::string_view();
  }

  /// Whether two accesses surely begin at the same place.
  bool have_one_address(const LoopValues& values, std::size_t a, std::size_t b) const {
    const Instruction &first = program_.code[a], &second = program_.code[b];
    if (!second.has_address || first.offset != second.offset) return false;
    if (const std::string_view symbol = symbol_of(first.address); !symbol.empty()) {
      return symbol == symbol_of(second.address);
    }
    if (first.address.kind != second.address.kind) return false;
    if (first.address.kind != OperandKind::variable || first.address.variable != second.address.variable) return false;
    return values.writers_of(a, first.address.variable) == values.writers_of(b, second.address.variable);
  }

  /// What a loop that polls words in turn does beside that; else nothing.
  std::optional<std::string> more_than_turns(const LoopValues& values) const {
    if (in_turn_.empty()) return std::nullopt;
    // Whether it waits for one of several locks, or looks for a free place in a table, the code does not tell.
    for (const std::size_t poll : deciding_) {
      if (values.reading_of(poll) == Reading::attempt) return text_of(LoopReason::takes_first_free);
    }
    if (writes_a_polled_word(values)) return text_of(LoopReason::writes_polled_word);
    if (std::optional<std::string> why = forbidden(values)) return why;
    if (const std::optional<LoopReason> why = collected(values)) return text_of(*why);
    return std::nullopt;
  }

  /// Where the block meets in the loop, the visit stands behind the poll: why it cannot.
  std::optional<LoopReason> no_place_beside_poll() {
    if (!meets_) return std::nullopt;
    const std::optional<std::size_t> poll = first_of(graph_, deciding_);
    if (!poll) return LoopReason::several_polls_at_barrier;
    for (const Loop* const inner : flow_.waits) {
      if (inner->contains(graph_.block_of[*poll])) return LoopReason::inner_wait_at_barrier;
    }
    result_.visit_behind = visit_place(function_, program_, *poll);
    if (!result_.visit_behind) return LoopReason::called_poll_at_barrier;
    return std::nullopt;
  }

  /// What the loop does beside waiting that a patch must not repeat later than the program does.
  std::optional<std::string> forbidden(const LoopValues& values) const {
    std::optional<std::string> found;
    each_instruction([&](std::size_t i, const Instruction& instruction) {
      if (found) return;
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
            found = text_of(LoopReason::reads_several_devices, at_line(i));
          }
          return;
        case Effect::atomic:
          if (values.reading_of(i) == Reading::changes) found = text_of(LoopReason::changes_memory, at_line(i));
          return;
        case Effect::call:
          if (!ends_the_program(instruction.callee)) {
            found = text_of(LoopReason::calls, instruction.callee);
          }
          return;
        case Effect::store:
          if (has_modifier(instruction.opcode, "local")) return;  // nobody else sees it
          if (!passing_on_.contains(i)) found = text_of(LoopReason::writes_memory, at_line(i));
          return;
        case Effect::reduction:
          found = text_of(LoopReason::writes_memory, at_line(i));
          return;
        case Effect::barrier:
          // Threads that do not agree about the way out may meet others at the barrier, or not.
          if (!agrees_ || !meets_block(instruction.opcode)) found = text_of(LoopReason::barrier, at_line(i));
          return;
        case Effect::hardware_wait:
          found = text_of(LoopReason::waits_in_hardware, at_line(i));
          return;
        case Effect::asynchronous:
        case Effect::other_memory:
        case Effect::unknown:
          found = text_of(LoopReason::other_effect, at_line(i));
          return;
      }
    });
    return found;
  }

  /// What the program goes on with that the loop collected from round to round: such a loop does work.
  std::optional<LoopReason> collected(const LoopValues& values) const {
    constexpr std::uint32_t kCollected = kSequence | kCarried | kVaries | kWeak;
    std::set<int> written;
    bool stored = false;  // in memory of the thread's own
    each_instruction([&](std::size_t i, const Instruction& instruction) {
      written.insert(instruction.defines.begin(), instruction.defines.end());
      if (instruction.effect != Effect::store) return;
      for (const Operand& source : instruction.sources)
        stored |= (values.value_of(i, source).sources & kCollected) != 0;
    });
    if (stored) return LoopReason::stores_collected;
    for (const int exit : exits_of(graph_, loop_)) {
      const Block& block = graph_.blocks[static_cast<std::size_t>(exit)];
      for (const int variable : written) {
        const Value value = values.value_of(block.end - 1, {OperandKind::variable, variable});
        if ((value.sources & kCollected) == 0 || is_of_a_turn(values, block.end - 1, variable)) continue;
        for (const int after : block.after) {
          if (loop_.contains(after)) continue;
          if (flow_.live.lives(variable, after)) return LoopReason::returns_collected;
        }
      }
    }
    return std::nullopt;
  }

  /// Where words are polled in turn: whether the variable has what a poll has read, or what the thread itself keeps of
  /// it in local memory, one place per word.
  bool is_of_a_turn(const LoopValues& values, std::size_t reader, int variable) const {
    const auto is = [&](std::size_t writer) {
      return deciding_.contains(writer) ||
             (program_.code[writer].effect == Effect::load && has_modifier(program_.code[writer].opcode, "local"));
    };
    const std::vector<std::size_t> writers = values.writers_of(reader, variable);
    return !in_turn_.empty() && std::all_of(writers.begin(), writers.end(), [&](std::size_t writer) {
      return writer != LoopValues::npos && is(writer);
    });
  }

  bool is_shared(const Instruction& poll) const { return reads_shared_memory(program_, flow_.writers, poll); }

  void find_exits() {
    const auto goes_on = [&](int block) {
      const std::vector<const Loop*>& with = flow_.loops_with[index_of(block)];
      return std::any_of(with.begin(), with.end(), [&](const Loop* other) { return other->header == loop_.header; });
    };
    std::set<std::size_t> exits;
    result_.exits_known = true;
    for (const int block : exits_of(graph_, loop_)) {
      const Block& from = graph_.blocks[static_cast<std::size_t>(block)];
      const Instruction& last = program_.code[from.end - 1];
      // A thread that has trapped ends with its kernel.
      if (last.effect == Effect::leave && mnemonic_of(last.opcode) != "trap") result_.exits_known = false;
      for (const int after : from.after) {
        if (goes_on(after)) continue;
        const Instruction& first = program_.code[graph_.blocks[static_cast<std::size_t>(after)].begin];
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
    each_instruction_of(outer, [&](std::size_t i, const Instruction& instruction) {
      ++length;
      if (instruction.effect == Effect::sleep) sleeps.push_back(i);
    });
    if (sleeps.empty() || length > kLongestLoop) return false;
    const LoopValues values(program_, graph_, outer, flow_.writers);
    return std::any_of(sleeps.begin(), sleeps.end(), [&](std::size_t i) {
      const std::vector<Operand>& sources = program_.code[i].sources;
      return std::any_of(sources.begin(), sources.end(),
                         [&](const Operand& source) { return (values.value_of(i, source).sources & kClock) != 0; });
    });
  }

  LoopReason what_ends_it() const {
    return !broadcasts_.empty() ? LoopReason::broadcast : meets_ ? LoopReason::vote : LoopReason::deciding_load;
  }

  Pause pause_of(const LoopValues& values) {
    if (sleeps_by_the_clock()) {
      pause_reason_ = LoopReason::pause_by_clock;
      return Pause::none;
    }
    pause_reason_ = what_ends_it();
    Pause pause = Pause::any;
    each_instruction([&](std::size_t i, const Instruction& instruction) {
      if (instruction.effect == Effect::warp) {
        pause_reason_ = LoopReason::exchanges_in_warp;
        pause = Pause::brief;
      } else if (instruction.effect == Effect::atomic && values.reading_of(i) == Reading::attempt) {
        pause_reason_ = LoopReason::short_for_lock;
        pause = Pause::brief;
      } else if (deciding_.contains(i) && is_shared(instruction)) {
        pause_reason_ = LoopReason::short_in_shared_memory;
        pause = Pause::brief;
      }
    });
    if (!in_turn_.empty()) {
      pause_reason_ = LoopReason::short_in_turn;
      pause = Pause::brief;
    }
    return pause;
  }

  FunctionFlow& flow_;
  const Function& function_;
  const Program& program_;
  const Graph& graph_;
  const Loop& loop_;
  LoopVerdict result_;
  std::size_t length_ = 0;
  std::set<std::size_t> deciding_;
  std::set<std::size_t> in_turn_;     // comparisons of words that are polled in turn
  std::set<std::size_t> broadcasts_;  // loads of shared memory that return what a poll of the loop has read
  std::set<std::size_t> passing_on_;  // the stores of those
  std::string doubtful_;
  LoopReason pause_reason_ = LoopReason::deciding_load;
  bool hardware_ = false, bounded_ = false, counted_ = false, has_way_out_ = false;
  bool meets_ = false;   // the block does, at a barrier
  bool agrees_ = false;  // its threads do, about the way out: by a vote, or since one passes on what it polls
};

/// The statements that call functions inside loops.
std::vector<std::size_t> calls_inside_loops(const Program& program, const Graph& graph) {
  std::vector<int> irreducible;
  std::set<std::size_t> calls;
  for (const Loop& loop : loops_of(graph, irreducible)) {
    each_instruction(graph, loop, [&](std::size_t i) {
      if (program.code[i].effect == Effect::call) calls.insert(program.code[i].statement);
    });
  }
  return {calls.begin(), calls.end()};
}

void place_back_edge(const Lines& lines, const FunctionFlow& flow, int header, int tail, LoopVerdict& verdict) {
  const std::size_t first = flow.graph.blocks[index_of(header)].begin;
  const Instruction& last = flow.program.code[flow.graph.blocks[index_of(tail)].end - 1];
  verdict.back_edge = last.statement;
  verdict.falls_through =
      std::find(last.targets.begin(), last.targets.end(), static_cast<int>(first)) == last.targets.end() ||
      last.inlined;
  const std::vector<Statement>& statements = flow.function.statements;
  const auto line = [&](std::size_t statement) {
    return lines.of(statement < statements.size() ? statements[statement].range.begin : flow.function.body.end);
  };
  verdict.first_line = line(flow.program.code[first].statement);
  verdict.last_line = line(last.statement);
  verdict.header = flow.program.code[first].statement;
  for (std::size_t at = verdict.header; at > 0; --at) {
    const StatementKind before = statements[at - 1].kind;
    if (before == StatementKind::label) verdict.header = at - 1;
    if (before != StatementKind::label && before != StatementKind::other) break;
  }
}

/// What lives where the waits begin: `headers` has a block for each wait of `loops`.
void count_live_values(FunctionFlow& flow, const std::vector<int>& headers, std::vector<LoopVerdict>& loops) {
  if (headers.empty()) return;
  const std::vector<std::vector<int>> live = flow.live.at(headers);
  const RegisterCount registers(flow.program);
  const ParameterPointers pointers(flow.function, flow.program);
  std::size_t next = 0;
  for (LoopVerdict& verdict : loops) {
    if (verdict.verdict != Verdict::wait) continue;
    verdict.live_registers = registers.of(live[next]);
    verdict.pointers = pointers.of(live[next], flow.graph.blocks[index_of(headers[next])].begin);
    ++next;
  }
}

/// False: `goes_on` said so.
bool recognize_function(const Module& module, const Function& function, const Lines& lines, const GoesOn& goes_on,
                        FunctionVerdicts& verdicts) {
  verdicts.function = &function;
  Program program = program_of(module, function, {});
  if (program.problem.empty()) {
    const std::vector<std::size_t> calls = calls_inside_loops(program, graph_of(successors_of(program)));
    if (!calls.empty()) program = program_of(module, function, calls);
  }
  if (!program.problem.empty()) {
    verdicts.problem = program.problem;
    return goes_on();
  }
  FunctionFlow flow(function, program);
  std::vector<int> headers;
  for (const Loop& loop : flow.loops) {
    if (!goes_on()) return false;
    const Instruction& first = program.code[flow.graph.blocks[index_of(loop.header)].begin];
    const Instruction& last = program.code[flow.graph.blocks[index_of(loop.tail)].end - 1];
    // A loop of a function that was inlined: its own function has it.
    if (first.inlined && last.inlined && first.statement == last.statement) continue;
    LoopVerdict verdict = LoopJudge(flow, loop).judge();
    place_back_edge(lines, flow, loop.header, loop.tail, verdict);
    if (verdict.verdict == Verdict::wait) {
      headers.push_back(loop.header);
      flow.waits.push_back(&loop);
    }
    verdicts.loops.push_back(std::move(verdict));
  }
  count_live_values(flow, headers, verdicts.loops);
  for (const int tail : flow.irreducible) {
    const Instruction& last = program.code[flow.graph.blocks[index_of(tail)].end - 1];
    if (last.inlined) continue;
    LoopVerdict verdict;
    verdict.reason = text_of(LoopReason::two_entries);
    verdict.place = last.place;
    place_back_edge(lines, flow, tail, tail, verdict);
    verdicts.loops.push_back(std::move(verdict));
  }
  std::stable_sort(verdicts.loops.begin(), verdicts.loops.end(),
                   [](const LoopVerdict& a, const LoopVerdict& b) { return a.back_edge < b.back_edge; });
  return goes_on();
}

void name_sites(std::vector<FunctionVerdicts>& all) {
  SiteNames names;
  std::size_t number = 0;
  for (FunctionVerdicts& function : all) {
    for (LoopVerdict& loop : function.loops) {
      if (loop.verdict != Verdict::wait) continue;
      const std::string unique = std::to_string(number++);
      const std::string line = loop.place.line != 0 ? std::to_string(loop.place.line) : "site" + unique;
      loop.name = names.of(short_symbol(function.function->name) + ':' + line, unique);
    }
  }
}

}  // namespace

std::string_view name_of(Pause pause) {
  switch (pause) {
    case Pause::none:
      return "none";
    case Pause::brief:
      return "brief";
    case Pause::any:
      break;
  }
  return "any";
}

std::vector<FunctionVerdicts> recognize(const Module& module) {
  return *recognize(module, [] { return true; });
}

std::optional<std::vector<FunctionVerdicts>> recognize(const Module& module, const GoesOn& goes_on) {
  const Lines lines(module.text);
  std::vector<FunctionVerdicts> all;
  for (const Function& function : module.functions) {
    if (!function.has_body) continue;
    if (!recognize_function(module, function, lines, goes_on, all.emplace_back())) return std::nullopt;
  }
  name_sites(all);
  return all;
}

}  // namespace wicprof::rewriter
