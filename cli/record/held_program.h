// A program that is ready to start, and the session in which it will be recorded.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/record/app_environment.h"
#include "cli/record/last_way.h"
#include "cli/record/modules_folder.h"
#include "cli/record/recorded_process.h"
#include "cli/record/run_app.h"
#include "cli/record/terminal_signals.h"
#include "protocol/result.h"
#include "protocol/session.h"

namespace wicprof::cli {

struct HeldProgram {
  std::string app;  ///< its file's name
  SessionOwner session;
  std::optional<ModulesFolder> modules;      ///< for samples of program counters
  AppEnvironment environment;                ///< without `entries`, which the process has
  std::unique_ptr<RecordedProcess> process;  // ends before the session that it uses

  /// Creates the session and a process that waits for RecordedProcess::start(). Error: the program, the session or the
  /// log cannot be had.
  static Result<HeldProgram> hold(const RunPlan& plan, TerminalSignals& signals, LastWay& last_way);
  /// Creates the session for the process that the plan names. Error: it cannot be attached, or the session not be had.
  static Result<HeldProgram> attach(const RunPlan& plan, LastWay& last_way);

  SessionHeader& header() const { return session.map().header(); }
  ControlBlock& control() const { return session.map().control(); }
};

}  // namespace wicprof::cli
