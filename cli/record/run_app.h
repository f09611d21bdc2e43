// One recorded run of a program, from the session's making to its removal.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/record/app_process.h"
#include "cli/record/capture.h"
#include "cli/record/schedule.h"
#include "protocol/result.h"

namespace wicprof::cli {

struct RunPlan {
  std::vector<std::string> words;  ///< the program and its arguments
  std::string output;              ///< a pattern (output_name.h); empty = <program>.%p.wicprof
  bool overwrite = false;
  std::vector<Phase> phases;  ///< the first is in force from the start; empty = as the program itself wants
  std::string schedule_text;  ///< as the user wrote it; empty without a schedule
  std::string name;           ///< of the session; empty = after the program
  std::size_t buffer_bytes = std::size_t{128} << 20;  ///< all rings together
  CapturePlan capture;
  bool quiet = false;
  std::string log;        ///< a file that takes the program's stdout and stderr; empty: it keeps wic-prof's
  TimeNs time_limit = 0;  ///< a program that runs for longer is ended like one that is interrupted; 0 = none
  std::function<void(const std::string& session)> started;  ///< called once the program runs and the session answers
};

struct RunOutcome {
  std::string trace;               ///< where it was written
  AppEnd end;                      ///< how the program ended
  std::optional<int> interrupted;  ///< the signal that ended the run early
  bool timed_out = false;          ///< it was ended at its time limit
  std::optional<Error> recording;  ///< why the trace does not hold everything
};

/// Starts the program, records it until it ends, and finishes the trace. An error means that the program was not
/// started and that nothing was left behind.
Result<RunOutcome> run_app(const RunPlan& plan);

}  // namespace wicprof::cli
