#include "cli/window/open.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/files/named_file.h"
#include "cli/files/process_memory.h"
#include "cli/sessions/running_sessions.h"
#include "gui/gui.h"
#include "gui/source/facts.h"
#include "protocol/control_messages.h"

namespace wicprof::cli {

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
  return gui::run_gui(plan);
}

}  // namespace wicprof::cli
