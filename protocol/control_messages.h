// Requests and answers of the control socket, as values. Each is one line of JSON on the wire.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "protocol/result.h"
#include "protocol/strategy.h"
#include "protocol/time.h"

namespace wicprof {

/// The state of a running session.
struct SessionStatus {
  std::string name;
  std::string app;
  std::string output;  ///< the trace being written
  pid_t app_pid = 0;
  pid_t tool_pid = 0;
  Mode mode = Mode::poll;
  StrategyId strategy = StrategyId::poll;
  Mode host_mode = Mode::poll;  ///< of host threads in calls of CUDA
  StrategyId host_strategy = StrategyId::poll;
  std::uint64_t events = 0;
  std::uint64_t waits = 0;
  std::uint64_t lost = 0;
  bool runtime_attached = false;
  std::vector<std::string> sites;
  std::string stopped;      ///< why nothing more is recorded; empty while all is well
  std::string dump_failed;  ///< why the dump that is due is not written yet; empty while all is well
  unsigned dumps = 0;       ///< that are complete, in their order
  std::string ab;           ///< what the comparison of both modes does; empty if none was begun
  bool ab_running = false;
  std::string autopilot;  ///< what the autopilot does and decided last; empty if none was begun
  bool autopilot_running = false;
  std::uint32_t unrecorded = 0;         ///< producers that found no free ring
  std::uint32_t unreached = 0;          ///< producers that toggles may not reach, those included
  WaitSide ab_side = WaitSide::device;  ///< whose waits a comparison is about unless somebody names a side
  // The next five are unknown (0 or empty) if the session belongs to an older wic-prof.
  TimeNs started = 0;                 ///< when the recording began (host time)
  std::string started_utc;            ///< the same for people: 2026-01-31T23:59:59Z
  std::string folder;                 ///< wic-prof's working folder; empty also if it was removed
  std::string terminal;               ///< wic-prof's controlling terminal, such as "pts/3"; empty also without one
  std::optional<std::uint32_t> user;  ///< the real user's id
};

struct ToggleRequest {
  Mode mode = Mode::park;
  StrategyId strategy = StrategyId::automatic;
  std::string site;                ///< empty = the whole program
  WaitSide side = WaitSide::both;  ///< of the whole program: which of its waits
};

/// How the whole program or one site waits.
struct WayOfWaiting {
  std::string site;  ///< empty = the whole program
  Mode mode = Mode::poll;
  StrategyId strategy = StrategyId::poll;
  WaitSide side = WaitSide::both;  ///< of the whole program: which of its waits
};

struct ToggleReply {
  Mode mode = Mode::park;
  StrategyId strategy = StrategyId::automatic;
  std::string site;
  TimeNs requested = 0;
  TimeNs effective = 0;  ///< when the new way was in every device's memory, of every process
  /// What the change replaced: first the way of the site or the whole program, then those of single sites that a
  /// change of the whole program clears. Empty if the session belongs to an older wic-prof.
  std::vector<WayOfWaiting> before = {};
  WaitSide side = WaitSide::both;
  std::uint32_t unreached = 0;  ///< parts of processes without room in the session: they may not have heard of it
  std::uint32_t processes = 1;  ///< that have taken the change
  TimeNs span = 0;              ///< from the first of these to the last one
};

/// Of a comparison for which nobody names others.
inline constexpr TimeNs kAbTime = 60 * kSecond;
inline constexpr double kAbPrecision = 0.01;

/// Compares both modes in the running program, in turn (cli/record/ab_schedule.h).
struct AbRequest {
  StrategyId strategy = StrategyId::automatic;  ///< of the mode park
  TimeNs time = kAbTime;                        ///< at most; above 0
  double precision = kAbPrecision;              ///< ends once the interval is this narrow; 0: not before the time
  WaitSide side = WaitSide::device;             ///< whose waits change
};

/// Begins the autopilot (cli/record/auto_run.h), or ends it.
struct AutoRequest {
  StrategyId strategy = StrategyId::automatic;  ///< of the mode park
  WaitSide side = WaitSide::both;               ///< whose waits it may park
  bool off = false;                             ///< end it, and bring back what it changed
};

/// A trace that is complete once SessionStatus::dumps has come to its number, or the run has ended.
struct DumpReply {
  std::string trace;
  unsigned number = 0;
};

/// Client side: each asks the session behind the socket and waits for its answer.
Result<SessionStatus> ask_status(const std::string& socket_path);
Result<ToggleReply> ask_toggle(const std::string& socket_path, const ToggleRequest& request);
/// Returns once the comparison has begun.
Result<> ask_ab(const std::string& socket_path, const AbRequest& request);
/// Returns once the autopilot has begun, or has ended.
Result<> ask_auto(const std::string& socket_path, const AutoRequest& request);
/// Asks for the last minutes as a trace (run --trigger).
Result<DumpReply> ask_dump(const std::string& socket_path);

/// Client side: the answer's line as a value. `socket_path` names the session in errors.
Result<SessionStatus> read_status_answer(const std::string& line, const std::string& socket_path);
Result<ToggleReply> read_toggle_answer(const std::string& line, const std::string& socket_path);
/// Of a comparison, or of the autopilot.
Result<> read_ab_answer(const std::string& line, const std::string& socket_path);
Result<DumpReply> read_dump_answer(const std::string& line, const std::string& socket_path);

/// Server side: what to do for each request.
struct ControlHandler {
  std::function<SessionStatus()> status;
  std::function<Result<ToggleReply>(const ToggleRequest&)> toggle;
  std::function<Result<>(const AbRequest&)> ab;
  std::function<Result<>(const AutoRequest&)> autopilot;
  std::function<Result<DumpReply>()> dump;
};

/// One request line -> one answer line. A line that cannot be understood is answered with an error.
std::string answer_request(const ControlHandler& handler, const std::string& line);

}  // namespace wicprof
