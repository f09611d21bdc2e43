#include "cli/record/held_program.h"

#include <unistd.h>

#include <utility>

#include "cli/files/output_file.h"
#include "cli/files/output_name.h"
#include "cli/record/app_process.h"
#include "cli/record/attached_process.h"
#include "cli/record/buffer_size.h"
#include "cli/record/cgroup.h"
#include "cli/record/find_program.h"
#include "cli/record/loadable.h"
#include "cli/record/sender.h"
#include "cli/terminal/messages.h"
#include "protocol/process.h"

namespace wicprof::cli {

namespace {

// The program's name, with the characters that a session name may not contain replaced.
std::string session_name(const std::string& program) {
  std::string name = base_name(program).substr(0, 48);
  for (char& c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!plain && c != '.') c = '_';
  }
  if (name.empty() || name[0] == '.') name.insert(0, "app");
  return name;
}

Result<SessionOwner> create_session(const RunPlan& plan, const std::string& program) {
  SessionOptions options;
  options.name = plan.name.empty() ? session_name(program) : plan.name;
  options.number_if_taken = plan.name.empty();
  options.app = base_name(program);
  const BufferSize buffer =
      plan.buffer_bytes ? BufferSize{*plan.buffer_bytes, {}} : fitting_buffer(cgroup_memory_left(getpid()));
  if (!buffer.note.empty() && !plan.quiet) note(buffer.note);
  options.rings = divide_among_rings(buffer.bytes);
  return SessionOwner::create(options);
}

std::optional<ModulesFolder> folder_of_modules(const CapturePlan& capture, const std::string& session) {
  if (!capture.collects("pcsampling")) return std::nullopt;
  Result<ModulesFolder> made = ModulesFolder::make(session);
  if (made) return *std::move(made);
  warn(made.error().message + "; samples of program counters are recorded without their instructions");
  return std::nullopt;
}

}  // namespace

Result<HeldProgram> HeldProgram::hold(const RunPlan& plan, TerminalSignals& signals, LastWay& last_way) {
  const Result<std::string> program = find_program(plan.words.front());
  if (!program) return program.error();
  Result<SessionOwner> session = create_session(plan, *program);
  if (!session) return session.error();
  last_way.session(session->path());
  const CapturePlan& capture = plan.capture;
  std::optional<ModulesFolder> modules = folder_of_modules(capture, session->path());
  int log = -1;
  if (!plan.log.empty()) {
    const Result<int> opened = open_log({plan.log, plan.overwrite});
    if (!opened) return opened.error();
    log = *opened;
  }
  std::string mpi_program;
  if (capture.mpi != RankCapture::none) mpi_program = mpi_program_in(plan.words);
  if (capture.mpi == RankCapture::asked && mpi_program.empty()) mpi_program = *program;
  AppEnvironment environment =
      app_environment(*program, session->path(), capture, modules ? modules->path() : std::string(), mpi_program);
  Result<AppProcess> app =
      AppProcess::hold({*program, plan.words, std::move(environment.entries), &signals.previous(), log});
  if (log >= 0) close(log);
  if (!app) return app.error();
  session->map().header().app_pid = app->pid();
  signals.know_program(
      [app = app->pid(), path = session->path()](pid_t sender) { return is_of_program(sender, app, path); });
  return HeldProgram{base_name(*program), *std::move(session), std::move(modules), std::move(environment),
                     std::make_unique<AppProcess>(*std::move(app))};
}

Result<HeldProgram> HeldProgram::attach(const RunPlan& plan, LastWay& last_way) {
  Result<DormantProgram> dormant =
      plan.join ? DormantProgram::find_or_join(*plan.attach, plan.quiet) : DormantProgram::find(*plan.attach);
  if (!dormant) return dormant.error();
  const std::string app = executable_name_of(static_cast<std::uint32_t>(*plan.attach));
  Result<SessionOwner> session = create_session(plan, app);
  if (!session) return session.error();
  last_way.session(session->path());
  session->map().header().app_pid = dormant->pid();
  HeldProgram held{app, *std::move(session), std::nullopt, {}, nullptr};
  held.process = std::make_unique<AttachedProcess>(
      *std::move(dormant), WakeRequest{held.session.path(), plan.capture.collector}, held.control());
  return held;
}

}  // namespace wicprof::cli
