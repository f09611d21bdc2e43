// A communication program whose class is known, as a recorder would have seen it: drawn from a seed.
#pragma once

#include <cstdint>

#include "analyzer/trace/trace_model.h"
#include "tests/analyzer/made_programs/plan.h"
#include "tests/analyzer/made_programs/script.h"

namespace wicprof::analyzer::made {

struct MadeProgram {
  Plan plan;         ///< with its class
  TraceModel trace;  ///< settled
};

/// The same program for the same seed, on every machine.
MadeProgram make_program(std::uint64_t seed);

/// The program's text, to run on devices.
struct MadeScript {
  Plan plan;
  Script script;
};
MadeScript make_script(std::uint64_t seed);

/// The program with its losses left out, for tests that need the whole trace.
MadeProgram make_whole_program(std::uint64_t seed);

}  // namespace wicprof::analyzer::made
