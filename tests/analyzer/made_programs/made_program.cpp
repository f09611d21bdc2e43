#include "tests/analyzer/made_programs/made_program.h"

#include "tests/analyzer/made_programs/losses.h"
#include "tests/analyzer/made_programs/simulate.h"

namespace wicprof::analyzer::made {
namespace {

/// Separates the stream of habits from the stream of everything else.
constexpr std::uint64_t kHabits = 0x6861626974730000;

Plan draw_plan(std::uint64_t seed, bool whole, Random& random) {
  Kind kind = draw_kind(random);
  Random habits(seed ^ kHabits);
  draw_habits(kind, habits);
  if (whole) kind.losses = Losses::none;
  return make_plan(kind, random);
}

MadeProgram make(std::uint64_t seed, bool whole) {
  Random random(seed);
  MadeProgram program;
  program.plan = draw_plan(seed, whole, random);
  program.trace = simulate(program.plan, random);
  settle(program.trace);
  lose(program.trace, program.plan.kind.losses, random);
  settle(program.trace);
  return program;
}

}  // namespace

MadeProgram make_program(std::uint64_t seed) { return make(seed, false); }
MadeProgram make_whole_program(std::uint64_t seed) { return make(seed, true); }

MadeScript make_script(std::uint64_t seed) {
  Random random(seed);
  MadeScript made;
  made.plan = draw_plan(seed, true, random);
  made.script = script_of(made.plan, random);
  return made;
}

}  // namespace wicprof::analyzer::made
