#include "cli/record/run_app.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "cli/record/held_program.h"
#include "cli/record/last_way.h"
#include "cli/record/recording_run.h"
#include "cli/record/stop_signal.h"
#include "cli/record/subreaper.h"
#include "cli/record/terminal_signals.h"
#include "cli/stacks/child_processes.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/messages.h"
#include "protocol/limit_words.h"

namespace wicprof::cli {

namespace {

/// A second request to end counts as unheard once the first has waited so long: a thread waits for a disk, say. Longer
/// than a message to a slow terminal takes.
constexpr std::size_t kRequests = 2;
constexpr TimeNs kUnheardPatience = 2 * kSecond + 500 * kMillisecond;

// Without this check, each lack of a descriptor would show as another error, of SQLite or of the session.
Result<> check_descriptors() {
  constexpr std::size_t kNeeded = 24;  // session, trace with its log, ballast, pipes, socket, some clients
  std::vector<int> opened;
  int error = 0;
  while (opened.size() < kNeeded && error == 0) {
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
      error = errno;
    } else {
      opened.push_back(fd);
    }
  }
  for (const int fd : opened) close(fd);
  if (error == 0) return ok();
  return unavailable(fmt::format("cannot open the {} files that a recording needs: {}; raise ulimit -n", kNeeded,
                                 std::strerror(error)));
}

// Until the program starts, an exception passes through; afterwards nothing does.
Result<RunOutcome> record(const RunPlan& plan, TerminalSignals& signals) {
  const auto last_way = std::make_shared<LastWay>(plan.stop_signal == kNoSignal);
  signals.watch({kRequests, kUnheardPatience, [last_way](int signal) { last_way->take(signal); },
                 [last_way] { last_way->warn(); }});
  if (const Result<> enough = check_descriptors(); !enough) return enough.error();
  if (plan.wait_for_all) {
    if (const Result<std::vector<pid_t>> listed = child_processes(getpid()); !listed) return listed.error();
  }
  const Subreaper subreaper(plan.wait_for_all);
  Result<HeldProgram> held =
      plan.attach ? HeldProgram::attach(plan, *last_way) : HeldProgram::hold(plan, signals, *last_way);
  if (!held) return held.error();
  RecordingRun run(plan, signals, *last_way, *held);
  if (const Result<> begun = run.begin(); !begun) return begun.error();
  return run.until_end();
}

}  // namespace

std::string RunOutcome::failure() const {
  if (ended_as_planned || left_running || end.status == 0) return {};
  if (end.signal) return fmt::format("was killed by signal {} ({})", *end.signal, strsignal(*end.signal));
  return fmt::format("ended with status {}", end.status);
}

int RunOutcome::status() const {
  const int of_program = ended_as_planned || left_running ? static_cast<int>(kDone) : end.status;
  return of_program == kDone && lost ? static_cast<int>(kUnavailable) : of_program;
}

Result<RunOutcome> run_app(const RunPlan& plan, TerminalSignals& signals) try {
  return record(plan, signals);
} catch (const std::bad_alloc&) {
  return unavailable("cannot start the recording: out of memory; " + memory_cure());
} catch (const std::exception& e) {
  return unavailable(fmt::format("cannot start the recording: {}; raise {}", e.what(), thread_limits()));
}

Result<RunOutcome> run_app(const RunPlan& plan) {
  TerminalSignals signals;
  return run_app(plan, signals);
}

}  // namespace wicprof::cli
