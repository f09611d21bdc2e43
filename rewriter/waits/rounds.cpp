// Rounds of a loop that poll and change nothing: in such a round, only another thread ends the loop.
#include <algorithm>
#include <map>
#include <unordered_set>

#include <boost/container/flat_map.hpp>
#include <boost/container_hash/hash.hpp>

#include "rewriter/flow/live_values.h"
#include "rewriter/waits/values.h"

namespace wicprof::rewriter {

/// Walks through the rounds of a loop, with what the variables have there that decide about its ways out.
class LoopValues::RoundWalk {
 public:
  /// `nodes`: what the ways out depend on. Both must outlive it.
  RoundWalk(const LoopValues& values, const std::set<int>& nodes)
      : values_(values), program_(values.program_), graph_(values.graph_) {
    for (const int node : nodes) {
      const auto [index, variable] = values_.flow_.nodes()[index_of(node)];
      if (!values_.carried_.contains(node)) continue;
      carrying_.insert(variable);
      if (index == LoopFlow::npos) begun_.insert(variable);
    }
    std::set<int> conditions;
    each_instruction(graph_, values_.loop_, [&](std::size_t i) {
      const Instruction& instruction = program_.code[i];
      if (instruction.guard >= 0) conditions.insert(instruction.guard);
      if (chooses(instruction)) conditions.insert(instruction.sources[2].variable);
    });
    each_instruction(graph_, values_.loop_, [&](std::size_t i) {
      Step step;
      const Reading reading = values_.reading_of(i);
      step.polls = polls(i, reading);
      step.repeats = reading == Reading::changes && repeats(i);
      step.changes = reading == Reading::changes && !step.repeats;
      repeats_ |= step.repeats;
      step.stores = instruction_stores(program_.code[i]);
      for (const int node : values_.flow_.written_by(i)) {
        const int variable = values_.flow_.nodes()[index_of(node)].variable;
        if (carrying_.contains(variable)) step.writes.emplace_back(variable, values_.carried_.contains(node));
        if (conditions.contains(variable)) step.conditions.push_back(variable);
      }
      if (step.polls || step.repeats || step.changes || step.stores || !step.writes.empty() || !step.conditions.empty())
        steps_[i] = std::move(step);
    });
  }

  /// Whether some round polls, changes no memory by an atomic, and leaves all as it is. True as well where there are
  /// too many ways to look at: then nobody knows.
  bool finds_standstill() const {
    constexpr std::size_t kMostSteps = 20'000;  // not calibrated
    std::size_t steps = 0;
    std::unordered_set<Visit, boost::hash<Visit>> seen;
    std::vector<Visit> open{{values_.loop_.header, {}}};
    while (!open.empty()) {
      auto [at, before] = std::move(open.back());
      open.pop_back();
      if (++steps > kMostSteps) return true;
      if (!values_.loop_.contains(at) || !seen.insert({at, before}).second) continue;
      const Block& block = graph_.block(at);
      const Instruction& last = program_.code[block.end - 1];
      std::vector<State> ways{std::move(before)};
      const auto end = steps_.lower_bound(block.end);
      for (auto step = steps_.lower_bound(block.begin); step != end; ++step) {
        if ((steps += ways.size()) > kMostSteps) return true;
        pass(step->first, step->second, ways);
      }
      for (const State& state : ways) {
        if (at == values_.loop_.tail && stands_still(state)) return true;
        for (const int after : block.after) {
          if (after == values_.loop_.header) continue;
          State next = state;
          const bool is_branch = last.guard >= 0 && last.targets.size() == 1 && block.after.size() == 2;
          const bool taken = is_branch && graph_.block_of[index_of(last.targets.front())] == after;
          if (!is_branch || take(next, last.guard, taken != last.guard_negated))
            open.emplace_back(after, std::move(next));
        }
      }
    }
    return false;
  }

 private:
  /// What a variable has: what another one, of this number, had when the round began, or one of these.
  enum Origin : int { kFixed = -1, kChanged = -2 };

  struct State {
    boost::container::flat_map<int, int> origins;  ///< per variable that the round has written
    boost::container::flat_map<int, bool> chosen;  ///< what it took conditions for
    bool polled = false, stored = false;
    bool operator==(const State&) const = default;
    friend std::size_t hash_value(const State& state) {
      std::size_t seed = (state.polled ? 2 : 0) + (state.stored ? 1 : 0);
      boost::hash_range(seed, state.origins.begin(), state.origins.end());
      boost::hash_range(seed, state.chosen.begin(), state.chosen.end());
      return seed;
    }
  };
  using Visit = std::pair<int, State>;  ///< a block, and what the variables have before it

  struct Step {
    bool polls = false, repeats = false, changes = false, stores = false;
    std::vector<std::pair<int, bool>> writes;  ///< variables, and whether the loop carries what is written
    std::vector<int> conditions;               ///< what it writes of those that choose
  };

  static bool chooses(const Instruction& instruction) {
    return mnemonic_of(instruction.opcode) == "selp" && instruction.sources.size() == 3 &&
           instruction.sources[2].kind == OperandKind::variable;
  }

  /// What the threads of a block read behind their barriers is no poll: they work on that.
  bool polls(std::size_t index, Reading reading) const {
    const Instruction& instruction = program_.code[index];
    const bool is_poll = instruction.effect != Effect::load || values_.fenced_ || is_strong(instruction.opcode);
    return reading == Reading::attempt || (reading == Reading::strong && is_poll);
  }

  /// Whether an atomic sets or clears the same bits again in a round that stores nothing, if the round finds the
  /// operands by ordinary loads alone.
  bool repeats(std::size_t index) const {
    const Instruction& instruction = program_.code[index];
    return may_repeat_itself(instruction) && instruction.sources.size() == 1 &&
           values_.value_of(index, instruction.sources.front()).polls.empty() &&
           values_.address_of(index).polls.empty();
  }

  static bool instruction_stores(const Instruction& instruction) {
    return (instruction.effect == Effect::store && !has_modifier(instruction.opcode, "local")) ||
           instruction.effect == Effect::reduction;
  }

  /// False: the round took the condition for the opposite before.
  static bool take(State& state, int condition, bool value) {
    return state.chosen.try_emplace(condition, value).first->second == value;
  }

  bool stands_still(const State& state) const {
    return state.polled && !(state.stored && repeats_) && std::ranges::all_of(state.origins, [&](const auto& of) {
             return of.second == kFixed || of.second == of.first || !begun_.contains(of.first);
           });
  }

  /// Moves the ways behind an instruction.
  void pass(std::size_t index, const Step& step, std::vector<State>& ways) const {
    const Instruction& instruction = program_.code[index];
    const bool guarded = instruction.guard >= 0 && instruction.targets.empty();
    std::vector<State> next;
    for (State& state : ways) {
      if (guarded) {
        if (State past = state; take(past, instruction.guard, instruction.guard_negated))
          next.push_back(std::move(past));
        if (!take(state, instruction.guard, !instruction.guard_negated)) continue;
      }
      if (step.changes || (step.repeats && !reads_fixed(instruction, state))) continue;
      state.polled |= step.polls || step.repeats;
      state.stored |= step.stores;
      const bool carried = std::ranges::any_of(step.writes, [](const auto& write) { return write.second; });
      const std::vector<std::size_t> kept =
          carried && !instruction.partial ? sources_kept(index) : std::vector<std::size_t>();
      for (const std::size_t number : kept) {
        State way = state;
        if (chooses(instruction) && !take(way, instruction.sources[2].variable, number == 0)) continue;
        write(step, origin_of(instruction.sources[number].variable, state), way);
        next.push_back(std::move(way));
      }
      if (!kept.empty()) continue;
      write(step, is_fixed(instruction, state) ? kFixed : kChanged, state);
      next.push_back(std::move(state));
    }
    ways = std::move(next);
  }

  static void write(const Step& step, int origin, State& state) {
    for (const auto& [variable, carried] : step.writes) state.origins[variable] = carried ? origin : kFixed;
    for (const int condition : step.conditions) state.chosen.erase(condition);
  }

  bool reads_fixed(const Instruction& instruction, const State& state) const {
    bool fixed = true;
    each_read(instruction, [&](int variable) { fixed &= origin_of(variable, state) == kFixed; });
    return fixed;
  }

  /// Whether the result is the same as long as other threads write nothing.
  bool is_fixed(const Instruction& instruction, const State& state) const {
    const Effect effect = instruction.effect;
    const bool computes = effect == Effect::compute || effect == Effect::warp || effect == Effect::load;
    return computes && !instruction.partial && reads_fixed(instruction, state);
  }

  /// The sources whose value the result may have, or has once more where the round repeats itself: bits that are set or
  /// cleared, and what one lane gives to all.
  std::vector<std::size_t> sources_kept(std::size_t index) const {
    static const std::set<std::string_view> kRepeat = {"and", "or", "min", "max"};
    const Instruction& instruction = program_.code[index];
    std::vector<std::size_t> kept = values_.kept_sources(index);
    if (mnemonic_of(instruction.opcode) == "shfl") kept = {0};
    if (!kept.empty() || instruction.sources.size() != 2 || !kRepeat.contains(mnemonic_of(instruction.opcode)))
      return kept;
    std::int64_t constant = 0;
    for (const std::size_t number : {0u, 1u}) {
      if (values_.constant_of(instruction.sources[1 - number], constant)) kept = {number};
    }
    return kept;
  }

  /// `variable`: -1 stands for a constant.
  int origin_of(int variable, const State& state) const {
    const auto known = state.origins.find(variable);
    if (known != state.origins.end()) return known->second;
    return carrying_.contains(variable) ? variable : kFixed;
  }

  const LoopValues& values_;
  const Program& program_;
  const Graph& graph_;
  std::map<std::size_t, Step> steps_;  // per instruction that matters
  std::set<int> carrying_;             // variables that have something of what the loop carries from round to round
  bool repeats_ = false;               // an atomic of the loop does, unless the round stores
  std::set<int> begun_;                // those that have it when a round begins
};

/// Whether the operand of a compare-and-exchange has, on some way through the round, a value that the round before does
/// not give: then the word is waited for as long as it has another one.
bool LoopValues::asks_for_fixed_value(std::size_t reader, const Operand& operand, int depth) const {
  constexpr int kDeepest = 12;  // code without optimization has several moves per choice
  if (operand.kind != OperandKind::variable) return operand.kind != OperandKind::clock;
  if (!flow_.written_in_loop(operand.variable)) return true;
  return depth <= kDeepest && std::ranges::any_of(flow_.reaching(reader, operand.variable), [&](int node) {
           const std::size_t index = flow_.nodes()[index_of(node)].instruction;
           if (index == LoopFlow::npos) return false;
           const auto [known, fresh] = fixed_.try_emplace({index, depth}, false);
           if (!fresh) return known->second;
           const Instruction& instruction = program_.code[index];
           if (instruction.effect != Effect::compute || instruction.sources.empty()) return false;
           const auto is_fixed = [&](const Operand& source) { return asks_for_fixed_value(index, source, depth + 1); };
           known->second = mnemonic_of(instruction.opcode) == "selp"
                               ? is_fixed(instruction.sources[0]) || is_fixed(instruction.sources[1])
                               : std::ranges::all_of(instruction.sources, is_fixed);
           return known->second;
         });
}

bool LoopValues::may_stay(const std::set<std::size_t>& instructions) const {
  std::set<int> nodes;
  for (const std::size_t instruction : instructions) nodes.merge(made_of(instruction));
  for (const int node : nodes) {
    const std::size_t index = flow_.nodes()[index_of(node)].instruction;
    if (index == LoopFlow::npos) continue;
    const Instruction& from = program_.code[index];
    const bool exchanges = from.effect == Effect::atomic && has_modifier(from.opcode, "cas");
    // One that always asks for the same tries the places of a table, or is a lock.
    const bool asks = exchanges && from.sources.size() == 2 && value_of(index, from.sources[0]).sources != 0;
    if (asks && asks_for_fixed_value(index, from.sources[0], 0)) return true;
  }
  return RoundWalk(*this, nodes).finds_standstill();
}

}  // namespace wicprof::rewriter
