// The lines of the control socket: requests from any client, answers from any server.
#include "protocol/control_messages.h"

#include <nlohmann/json.hpp>

#include "tests/fuzz/target.h"

namespace wicprof::fuzz {
namespace {

ControlHandler handler_that_says(const std::string& text) {
  ControlHandler handler;
  handler.status = [text] {
    SessionStatus status;
    status.name = status.app = status.output = status.stopped = status.ab = status.autopilot = text;
    status.sites = {text, ""};
    return status;
  };
  handler.toggle = [text](const ToggleRequest& request) -> Result<ToggleReply> {
    if (request.site.empty()) return unavailable(text);
    return ToggleReply{request.mode, request.strategy, request.site, 1, 2};
  };
  handler.ab = [text](const AbRequest& request) -> Result<> {
    require(request.time > 0 && request.precision >= 0 && request.precision < 1, "an accepted request is in range");
    return request.precision > 0.5 ? Result<>(bad_input(text)) : ok();
  };
  handler.autopilot = [text](const AutoRequest& request) { return request.off ? Result<>(unavailable(text)) : ok(); };
  handler.dump = [text] { return Result<DumpReply>({text, 1}); };
  return handler;
}

// Each client reads the answers that look like its own.
void take_answer(const std::string& line) {
  if (line.find("status") != line.npos) return (void)read_status_answer(line, "/a.sock");
  if (line.find("toggle") != line.npos) return (void)read_toggle_answer(line, "/a.sock");
  (void)read_ab_answer(line, "/a.sock");
  (void)read_dump_answer(line, "/a.sock");
}

}  // namespace

void run(std::string_view input) {
  const std::string line(input);
  if (line.find("\"ok\"") != line.npos) return take_answer(line);
  const std::string answer = answer_request(handler_that_says(line.substr(0, 20)), line);
  require(answer.find('\n') == std::string::npos, "an answer is one line");
  require(nlohmann::json::accept(answer), "an answer is JSON");
  take_answer(answer);
  if (answer.starts_with("{\"ok\":true,\"status\"")) {
    require(static_cast<bool>(read_status_answer(answer, "/a.sock")), "a client reads the status that a server gives");
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> all{R"({"request":"status"})",
                               R"({"request":"toggle","mode":"park","strategy":"auto","site":"left"})",
                               R"({"request":"toggle","mode":"poll","strategy":"poll"})",
                               R"({"request":"ab","strategy":"auto","time_ns":1000000000,"precision":0.05})",
                               R"({"request":"dump"})",
                               R"({"ok":false,"kind":"bad_input","message":"no"})",
                               R"({"ok":true})"};
  for (const char* request : {all[0].c_str(), all[1].c_str()}) {
    all.push_back(answer_request(handler_that_says("a"), request));
  }
  return all;
}

}  // namespace wicprof::fuzz
