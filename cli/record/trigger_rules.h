// The rules of --trigger: what makes a run write the last minutes as a trace.
#pragma once

#include <string>
#include <vector>

#include "protocol/result.h"
#include "protocol/time.h"

namespace wicprof::cli {

struct TriggerRule {
  enum class Kind { wait, step, stuck, signal, dump };
  Kind kind = Kind::dump;
  std::string text;   ///< as the user wrote it
  std::string site;   ///< of wait; empty = any
  TimeNs time = 0;    ///< of wait, step and stuck; 0: `factor` applies
  double factor = 0;  ///< of step: over so many times the usual 99th percentile
  int signal = 0;
};

struct TriggerPlan {
  std::vector<TriggerRule> rules;
  TimeNs pause = 0;  ///< after a dump, rules about the program write none for this long

  bool wanted() const { return !rules.empty(); }
};

/// What a rule looks like, with an example: for help and errors.
std::string trigger_grammar();

/// Error: the first text that is no rule, with the grammar.
Result<std::vector<TriggerRule>> read_triggers(const std::vector<std::string>& texts);

}  // namespace wicprof::cli
