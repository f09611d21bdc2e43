// What each block or thread of a made program does, in the order of the program's source: a plan with its words, sites,
// acknowledgements and blocks. A simulation runs it (simulate.h); bench/made_run runs it on devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "tests/analyzer/made_programs/plan.h"

namespace wicprof::analyzer::made {

struct Action {
  enum class Kind { work, signal, wait, clear, wait_cleared } kind = Kind::work;
  std::uint32_t word = 0, value = 0, iteration = 0;
  SiteId site = 0;
  bool at_least = false;            ///< else: equals
  std::uint32_t extra_waiters = 0;  ///< further blocks that wait for the same
  Announcement announcement;
};

struct ScriptThread {
  std::uint32_t party = 0, block = 0;  ///< `block`: of its device, or the number of a host thread
  double slowness = 1;                 ///< of its work
  std::vector<Action> actions;
};

struct Script {
  std::uint32_t host = 0;  ///< the party that is the CPU; none if it is no party
  std::uint32_t extra_waiters = 0;
  bool names_wanted = true;           ///< waits record the value that they want
  bool same_addresses = true;         ///< waiters know a word by the same address as its signals
  std::vector<store::SiteRow> sites;  ///< numbered from 1
  std::size_t words = 0;
  std::vector<ScriptThread> threads;
};

Script script_of(const Plan& plan, Random& random);

}  // namespace wicprof::analyzer::made
