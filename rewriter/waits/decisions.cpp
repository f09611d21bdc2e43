#include "rewriter/waits/decisions.h"

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "rewriter/waits/ways_out.h"

namespace wicprof::rewriter {

namespace {

class Decider {
 public:
  explicit Decider(const LoopValues& values) : program_(values.program()), values_(values) {}

  Decisions decide() {
    ways_out();
    pass_on_broadcasts();
    return std::move(found_);
  }

 private:
  void ways_out() {
    bool any = false, bounded = false, in_turn = false, timed = false;
    int of_table = 0;
    for (const Comparison& comparison : comparisons_of(values_)) {
      any = true;
      const std::uint32_t sources = comparison.value.sources;
      found_.compared.insert(comparison.instruction);
      timed |= (sources & (kClock | kHardware)) != 0;
      const bool pauses = comparison.value.polls.empty() && (sources & ~(kCounter | kSequence)) == 0 &&
                          values_.compares_pauses(comparison.instruction);
      if (comparison.value.polls.empty() && (sources & (kCounter | kSequence)) != 0) {
        found_.counts |= !pauses;
        found_.counted |= comparison.chooses;
      }
      if (sources & kHardware) {
        found_.hardware = true;
        continue;
      }
      // A count that only chooses how long to pause.
      if (!comparison.chooses && comparison.value.polls.empty() && (sources & ~(kCounter | kSequence)) == 0) continue;
      // A pause that grows to its limit is a limit of the time.
      if (pauses) {
        bounded = true;
        continue;
      }
      if (sources & (kSequence | kCarried | kVaries)) {
        if (found_.doubtful.empty()) {
          found_.doubtful = text_of(sources & kVaries ? reasons::address_changes : reasons::value_changes,
                                    at_line(program_.code[comparison.instruction]));
        }
        continue;
      }
      if (comparison.value.polls.empty()) {
        if (sources & (kClock | kCounter)) bounded = true;
        continue;
      }
      if (sources & (kCounter | kClock)) {
        bounded = true;  // a limit that stands in memory
        continue;
      }
      if (polls_a_word_twice(comparison.value.polls)) {
        found_.doubtful = text_of(reasons::polls_twice, at_line(program_.code[comparison.instruction]));
        continue;
      }
      if (!comparison.chooses) continue;  // what an inner loop waits for
      of_table += (sources & kInTable) != 0;
      if (sources & kInTurn) {
        // One question to each word: a search of a table asks whether an entry is the one, and whether it is the last.
        if (in_turn) found_.doubtful = text_of(reasons::several_turns, at_line(program_.code[comparison.instruction]));
        in_turn = true;
      }
      // The loop asks the word that a mask chooses until its bit goes: no search.
      if (sources & (kInTurn | kByMask)) found_.in_turn.insert(comparison.instruction);
      found_.polls.insert(comparison.value.polls.begin(), comparison.value.polls.end());
    }
    if (timed) found_.compared.clear();
    found_.without_polls = !any ? reasons::no_way_out : bounded ? reasons::limit_decides : reasons::no_deciding_load;
    // Words in turn up to a number of them, or until a value is found: a search. A few words may be asked one question
    // up to a number of times.
    if ((in_turn && (found_.counts || !found_.doubtful.empty())) || (of_table > 1 && found_.counts)) {
      if (found_.doubtful.empty()) {
        found_.doubtful =
            text_of(reasons::counted_turns, in_turn ? at_line(program_.code[*found_.in_turn.begin()]) : std::string());
      }
      found_.searched = std::exchange(found_.polls, {});
    }
  }

  /// Where one thread polls and gives the block what it read through shared memory, its poll decides.
  void pass_on_broadcasts() {
    std::set<std::size_t> polled, broadcasts, passing_on;
    for (const std::size_t poll : found_.polls) {
      bool meets = false;
      std::vector<std::size_t> stores;
      each_instruction(values_.graph(), values_.loop(), [&](std::size_t i) {
        const Instruction& instruction = program_.code[i];
        meets |= instruction.effect == Effect::barrier;
        if (instruction.effect == Effect::store && instruction.has_address && !instruction.sources.empty() &&
            values_.reads_shared_memory(program_.code[poll]) && have_one_address(values_, i, poll)) {
          stores.push_back(i);
        }
      });
      if (!meets || stores.empty()) continue;
      for (const std::size_t store : stores) {
        Value value;
        for (const Operand& source : program_.code[store].sources) value.add(values_.value_of(store, source));
        constexpr std::uint32_t kWork =
            kCounter | kSequence | kClock | kWeak | kVaries | kCarried | kHardware | kInTurn;
        // A sum of what was there counts; only what is given as it was read waits.
        if ((value.sources & kWork) != 0 || value.polls.empty() || value.polls.contains(poll)) return;
        polled.insert(value.polls.begin(), value.polls.end());
      }
      broadcasts.insert(poll);
      passing_on.insert(stores.begin(), stores.end());
    }
    for (const std::size_t poll : broadcasts) found_.polls.erase(poll);
    found_.polls.merge(polled);
    found_.broadcasts = std::move(broadcasts);
    found_.passing_on = std::move(passing_on);
  }

  /// Whether two of the polls read one word one after the other, as the reader of a sequence lock does. Polls on two
  /// ways through the loop are alternatives.
  bool polls_a_word_twice(const std::set<std::size_t>& polls) const {
    // Two addresses are equal where the same instructions wrote the same variable.
    using Place = std::tuple<std::vector<std::size_t>, int, std::int64_t>;
    std::map<Place, std::vector<std::size_t>> places;
    for (const std::size_t poll : polls) {
      const Instruction& instruction = program_.code[poll];
      if (!instruction.has_address || instruction.address.kind != OperandKind::variable) continue;
      const int variable = instruction.address.variable;
      std::vector<std::size_t>& same =
          places[{values_.flow().writers_of(poll, variable), variable, instruction.offset}];
      for (const std::size_t other : same) {
        const int a = values_.graph().block_of[other], b = values_.graph().block_of[poll];
        if (values_.graph().dominates(a, b) || values_.graph().dominates(b, a)) return true;
      }
      same.push_back(poll);
    }
    return false;
  }

  const Program& program_;
  const LoopValues& values_;
  Decisions found_;
};

}  // namespace

Decisions decisions_of(const LoopValues& values) { return Decider(values).decide(); }

bool have_one_address(const LoopValues& values, std::size_t a, std::size_t b) {
  const Instruction &first = values.program().code[a], &second = values.program().code[b];
  if (!second.has_address || first.offset != second.offset) return false;
  if (const std::string_view symbol = values.symbol_of(first.address); !symbol.empty()) {
    return symbol == values.symbol_of(second.address);
  }
  if (first.address.kind != second.address.kind) return false;
  if (first.address.kind != OperandKind::variable || first.address.variable != second.address.variable) return false;
  return values.flow().writers_of(a, first.address.variable) == values.flow().writers_of(b, second.address.variable);
}

std::string at_line(const Instruction& instruction) {
  std::string text = " (" + std::string(instruction.opcode);
  if (instruction.place.line != 0) text += ", source line " + std::to_string(instruction.place.line);
  return text + ")";
}

}  // namespace wicprof::rewriter
