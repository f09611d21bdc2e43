#include "tests/analyzer/made_programs/made_program.h"

#include "tests/analyzer/made_programs/losses.h"
#include "tests/analyzer/made_programs/simulate.h"

namespace wicprof::analyzer::made {
namespace {

/// Separates the stream of habits from the stream of everything else.
constexpr std::uint64_t kHabits = 0x6861626974730000;

MadeProgram make(std::uint64_t seed, bool whole) {
  Random random(seed);
  Kind kind = draw_kind(random);
  Random habits(seed ^ kHabits);
  draw_habits(kind, habits);
  if (whole) kind.losses = Losses::none;
  MadeProgram program;
  program.plan = make_plan(kind, random);
  program.trace = simulate(program.plan, random);
  settle(program.trace);
  lose(program.trace, kind.losses, random);
  settle(program.trace);
  return program;
}

}  // namespace

MadeProgram make_program(std::uint64_t seed) { return make(seed, false); }
MadeProgram make_whole_program(std::uint64_t seed) { return make(seed, true); }

}  // namespace wicprof::analyzer::made
