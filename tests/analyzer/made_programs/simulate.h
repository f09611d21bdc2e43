// Runs a plan: threads that compute, signal and wait, on a clock of their own speed, and write down what a recorder
// would.
#pragma once

#include "analyzer/trace/trace_model.h"
#include "tests/analyzer/made_programs/plan.h"

namespace wicprof::analyzer::made {

/// The whole trace, not settled yet. Throws std::logic_error if the program hangs, which no plan should.
TraceModel simulate(const Plan& plan, Random& random);

}  // namespace wicprof::analyzer::made
