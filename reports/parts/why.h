// Why a program is slow, in one paragraph: the cause and its cost, what was tried, what that brought, what to do.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/rules/remedy.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

/// A run that wic-prof recorded.
struct WhyRun {
  std::string command;       ///< of wic-prof; records another such run
  std::string failure = {};  ///< "ended with status 3"; empty: the program did not fail
  bool interrupted = false;  ///< by the user
  bool cut = false;          ///< wic-prof ended the program, since the time was over
  bool attached = true;      ///< some wait took changes of mode
};

struct WhyInput {
  const TraceModel& model;  ///< of the first run, or the trace that was given
  const Analysis& analysis;
  const WhyRun* recorded = nullptr;  ///< the first run; nullptr: a trace was given, and nothing ran
  const WhyRun* tried = nullptr;     ///< the second run, which tried what_to_try(); nullptr: there was none
  /// Of both ways of waiting: from the second run, else from the trace; nullptr if they are not in it.
  const Comparison* comparison = nullptr;
  std::string not_seen = {};      ///< why processes of the program may be missing in the trace
  std::string not_compared = {};  ///< why there was no second run, or why it has no comparison
};

struct WhySentence {
  std::string_view about;            ///< cause, also, tried, result, ...: docs/schemas/why.schema.json lists them
  std::string text;                  ///< one sentence, or several that belong together
  std::vector<std::string> backing;  ///< what it rests on: findings, figures, commands
};

struct Why {
  const Finding* cause = nullptr;  ///< what costs most; nullptr: nothing is known to
  const Finding* tried = nullptr;  ///< whose remedy can be tried; nullptr: nothing can be
  std::vector<WhySentence> sentences;
  std::string command_title, command;  ///< what to run next; may be empty
  /// The sentences, one after another.
  std::string paragraph() const;
};

/// The remedy that wic-prof can try by itself: the cause's, else that of the worst finding that has one.
struct WhyTrial {
  const Finding* finding = nullptr;
  Trial trial;
};
std::optional<WhyTrial> what_to_try(const Analysis& analysis);

/// Points into the input's analysis.
Why explain_why(const WhyInput& input);

}  // namespace wicprof::reports
