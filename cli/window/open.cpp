#include "cli/window/open.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "analyzer/ranks/join.h"
#include "cli/files/named_file.h"
#include "cli/files/process_memory.h"
#include "cli/sessions/running_sessions.h"
#include "gui/gui.h"
#include "gui/source/facts.h"
#include "protocol/control_messages.h"
#include "store/read/reader.h"

namespace wicprof::cli {

namespace {

/// Whether the files are traces of one job, as far as their communicators say. Error: there are more than two, and they
/// are not. What cannot be read is for the window to report.
Result<bool> is_one_job(const std::vector<std::string>& files) {
  if (files.size() < 2) return false;
  std::vector<analyzer::TraceModel> traces;
  for (const std::string& file : files) {
    const Result<store::Reader> reader = store::Reader::open(file);
    if (!reader) return files.size() == 2 ? Result<bool>(false) : reader.error();
    Result<std::vector<store::MpiCommunicatorRow>> rows = reader->rows<store::MpiCommunicatorTable>();
    if (!rows) return rows.error();
    analyzer::TraceModel& trace = traces.emplace_back();
    trace.name = file;
    trace.mpi_communicators = *std::move(rows);
  }
  if (files.size() == 2) {
    const auto has_ranks = [](const analyzer::TraceModel& trace) { return !trace.mpi_communicators.empty(); };
    return std::all_of(traces.begin(), traces.end(), has_ranks) && analyzer::are_of_one_job(traces);
  }
  const Result<analyzer::TraceModel> joined = analyzer::join(std::move(traces));
  return joined ? Result<bool>(true) : joined.error();
}

}  // namespace

Result<> open_gui(const GuiRequest& request) {
  if (request.check_libraries) return ok();
  if (request.check_display) return gui::check_display();
  if (request.facts) {
    return request.files.size() == 1 ? gui::write_facts(request.files[0]) : bad_input("name one trace to analyze");
  }
  gui::GuiPlan plan;
  plan.app.files = request.files;
  plan.app.analyst = {"/proc/self/exe", "--facts"};
  plan.screenshot = request.screenshot;
  plan.script = request.script;
  plan.app.dark = request.dark;
  plan.app.scale = static_cast<float>(request.scale) / 100;
  if (!request.view.empty()) plan.app.view = gui::view_from_name(request.view);
  char rest = 0;
  if (!request.size.empty() && (std::sscanf(request.size.c_str(), "%dx%d%c", &plan.width, &plan.height, &rest) != 2 ||
                                plan.width < 320 || plan.height < 240 || plan.width > 16384 || plan.height > 16384)) {
    return bad_input(
        fmt::format("'{}' is not a size; write WIDTHxHEIGHT, such as 1440x900, at least 320x240", request.size));
  }
  if (request.files.empty() || !request.session.empty()) {
    if (!request.files.empty()) return bad_input("a session brings its own trace: name either FILE or --session");
    const Result<SessionInfo> session = choose_session(request.session);
    if (!session) {
      const bool named = !request.session.empty();
      return named ? session.error()
                   : bad_input("gui needs a trace, such as wic-prof gui halo.wicprof, or one running session: " +
                               session.error().message);
    }
    const Result<SessionStatus> status = ask_status(session->socket_path);
    if (!status) return status.error();
    keep_picture_memory();
    plan.app.session = *session;
    plan.app.files = {status->output};
  }
  for (const std::string& file : request.files) {
    if (const std::string why = why_no_file(file); !why.empty()) return bad_input(why + "; name a trace (.wicprof)");
  }
  const Result<bool> one_job = is_one_job(request.files);
  if (!one_job) return one_job.error();
  plan.app.one_job = *one_job;
  return gui::run_gui(plan);
}

}  // namespace wicprof::cli
