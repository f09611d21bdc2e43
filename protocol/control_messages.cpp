#include "protocol/control_messages.h"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "protocol/control_socket.h"
#include "protocol/plain_text.h"
#include "protocol/shell_words.h"

namespace wicprof {

namespace {

using Json = nlohmann::json;

constexpr TimeNs kStatusTimeout = kSecond;
constexpr TimeNs kToggleTimeout = 5 * kSecond;  // longer than the server waits for the program

std::string one_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// JSON holds no bytes that are not UTF-8, but a folder may have them in its name.
constexpr const char* kQuoted = "_quoted";

void add_path(Json& json, const std::string& key, const std::string& path) {
  json[key] = path;
  if (!is_plain(path)) json[key + kQuoted] = shell_word(path);
}

std::string path_in(const Json& json, const std::string& key) {
  const std::vector<std::string> words = words_of(json.value(key + kQuoted, std::string()));
  return words.size() == 1 ? words.front() : json.value(key, std::string());
}

Json to_json(const SessionStatus& s) {
  Json json{{"name", s.name},
            {"app", s.app},
            {"app_pid", s.app_pid},
            {"tool_pid", s.tool_pid},
            {"mode", mode_name(s.mode)},
            {"strategy", strategy_name(s.strategy)},
            {"host_mode", mode_name(s.host_mode)},
            {"host_strategy", strategy_name(s.host_strategy)},
            {"events", s.events},
            {"waits", s.waits},
            {"lost", s.lost},
            {"runtime_attached", s.runtime_attached},
            {"sites", s.sites},
            {"stopped", s.stopped},
            {"dump_failed", s.dump_failed},
            {"dumps", s.dumps},
            {"ab", s.ab},
            {"ab_running", s.ab_running},
            {"ab_side", side_name(s.ab_side)},
            {"autopilot", s.autopilot},
            {"autopilot_running", s.autopilot_running},
            {"unrecorded", s.unrecorded},
            {"unreached", s.unreached},
            {"started_ns", s.started},
            {"started_utc", s.started_utc},
            {"terminal", s.terminal},
            {"user", s.user ? Json(*s.user) : Json(nullptr)}};
  add_path(json, "output", s.output);
  add_path(json, "folder", s.folder);
  return json;
}

Json to_json(const ToggleReply& r) {
  Json before = Json::array();
  for (const WayOfWaiting& way : r.before) {
    before.push_back({{"site", way.site},
                      {"side", side_name(way.side)},
                      {"mode", mode_name(way.mode)},
                      {"strategy", strategy_name(way.strategy)}});
  }
  return {{"before", before},
          {"mode", mode_name(r.mode)},
          {"strategy", strategy_name(r.strategy)},
          {"site", r.site},
          {"side", side_name(r.side)},
          {"requested_ns", r.requested},
          {"effective_ns", r.effective},
          {"unreached", r.unreached},
          {"processes", r.processes},
          {"span_ns", r.span}};
}

Json error_answer(const Error& error) {
  return {{"ok", false},
          {"kind", error.kind == ErrorKind::bad_input ? "bad_input" : "unavailable"},
          {"message", error.message}};
}

// Reads the two words that name a way of waiting; nothing when either is unknown.
template <class Message>
bool read_wait(const Json& json, Message& message) {
  const std::optional<Mode> mode = mode_from_name(json.value("mode", std::string()));
  const std::optional<StrategyId> strategy = strategy_from_name(json.value("strategy", std::string()));
  if (!mode || !strategy) return false;
  message.mode = *mode;
  message.strategy = *strategy;
  return true;
}

// A wic-prof that knows no sides changes the waits in kernels, which are then both.
WaitSide side_of(const Json& json) {
  return side_from_name(json.value("side", std::string())).value_or(WaitSide::both);
}

/// Empty of meaning ("discarded") where the line is no JSON, or has a number that no message has. The library converts
/// numbers to integers unchecked: whole ones become integers here, and other ones are at most 1, as a precision is.
Json parse_line(const std::string& line) {
  bool fits = true;
  const auto look = [&](int, Json::parse_event_t event, Json& value) {
    if (event != Json::parse_event_t::value || !value.is_number_float()) return true;
    const double number = value.get<double>();
    if (std::abs(number) <= 1) return true;
    if (number == std::trunc(number) && std::abs(number) < 0x1p63) {
      value = static_cast<std::int64_t>(number);
    } else {
      fits = false;
    }
    return true;
  };
  Json json = Json::parse(line, look, false);
  return fits ? json : Json(Json::value_t::discarded);
}

Error bad_answer(const std::string& socket_path) {
  return unavailable("the run behind " + socket_path +
                     " gives an answer that this wic-prof does not understand; use one "
                     "release of wic-prof for both");
}

// The answer's document when the server said ok.
Result<Json> document_of(const std::string& line, const std::string& socket_path) {
  const Json answer = parse_line(line);
  if (!answer.is_object() || !answer.contains("ok")) return bad_answer(socket_path);
  if (answer.value("ok", false)) return answer;
  const std::string message = answer.value("message", std::string("refused without a reason"));
  return answer.value("kind", std::string()) == "bad_input" ? bad_input(message) : unavailable(message);
}

}  // namespace

// The library's accessors throw when a field has another type: a damaged answer ends here, not in the caller.
Result<SessionStatus> read_status_answer(const std::string& line, const std::string& socket_path) try {
  const Result<Json> answer = document_of(line, socket_path);
  if (!answer) return answer.error();
  const Json& json = answer->at("status");
  SessionStatus s;
  if (!read_wait(json, s)) return bad_answer(socket_path);
  s.host_mode = mode_from_name(json.value("host_mode", std::string())).value_or(Mode::poll);
  s.host_strategy = strategy_from_name(json.value("host_strategy", std::string())).value_or(StrategyId::poll);
  s.name = json.at("name");
  s.app = json.at("app");
  json.at("output").get_to(s.output);  // there must be one
  s.output = path_in(json, "output");
  s.app_pid = json.at("app_pid");
  s.tool_pid = json.at("tool_pid");
  s.events = json.at("events");
  s.waits = json.at("waits");
  s.lost = json.at("lost");
  s.runtime_attached = json.at("runtime_attached");
  s.sites = json.at("sites").get<std::vector<std::string>>();
  s.stopped = json.at("stopped");
  s.dump_failed = json.value("dump_failed", std::string());
  s.dumps = json.value("dumps", 0u);
  s.ab = json.at("ab");
  s.ab_running = json.at("ab_running");
  s.ab_side = side_from_name(json.value("ab_side", std::string())).value_or(WaitSide::device);
  s.autopilot = json.value("autopilot", std::string());
  s.autopilot_running = json.value("autopilot_running", false);
  s.unrecorded = json.value("unrecorded", 0u);
  s.unreached = json.value("unreached", 0u);
  s.started = json.value("started_ns", TimeNs{0});
  s.started_utc = json.value("started_utc", std::string());
  s.folder = path_in(json, "folder");
  s.terminal = json.value("terminal", std::string());
  if (const auto user = json.find("user"); user != json.end() && user->is_number()) s.user = user->get<std::uint32_t>();
  return s;
} catch (const Json::exception&) {
  return bad_answer(socket_path);
}

Result<ToggleReply> read_toggle_answer(const std::string& line, const std::string& socket_path) try {
  const Result<Json> answer = document_of(line, socket_path);
  if (!answer) return answer.error();
  const Json& json = answer->at("toggle");
  ToggleReply reply;
  if (!read_wait(json, reply)) return bad_answer(socket_path);
  reply.site = json.at("site");
  reply.side = side_of(json);
  reply.requested = json.at("requested_ns");
  reply.effective = json.at("effective_ns");
  reply.unreached = json.value("unreached", 0u);
  reply.processes = json.value("processes", 1u);
  reply.span = json.value("span_ns", TimeNs{0});
  for (const Json& item : json.value("before", Json::array())) {
    WayOfWaiting way;
    if (!read_wait(item, way)) return bad_answer(socket_path);
    way.site = item.value("site", std::string());
    way.side = side_of(item);
    reply.before.push_back(std::move(way));
  }
  return reply;
} catch (const Json::exception&) {
  return bad_answer(socket_path);
}

Result<> read_ab_answer(const std::string& line, const std::string& socket_path) try {
  const Result<Json> answer = document_of(line, socket_path);
  return answer ? ok() : answer.error();
} catch (const Json::exception&) {
  return bad_answer(socket_path);
}

Result<DumpReply> read_dump_answer(const std::string& line, const std::string& socket_path) try {
  const Result<Json> answer = document_of(line, socket_path);
  if (!answer) return answer.error();
  answer->at("trace");  // there must be one
  return DumpReply{path_in(*answer, "trace"), answer->at("number").get<unsigned>()};
} catch (const Json::exception&) {
  return bad_answer(socket_path);
}

Result<SessionStatus> ask_status(const std::string& socket_path) {
  const Result<std::string> line = ask(socket_path, one_line({{"request", "status"}}), kStatusTimeout);
  return line ? read_status_answer(*line, socket_path) : line.error();
}

Result<ToggleReply> ask_toggle(const std::string& socket_path, const ToggleRequest& request) {
  const Result<std::string> line = ask(socket_path,
                                       one_line({{"request", "toggle"},
                                                 {"mode", mode_name(request.mode)},
                                                 {"strategy", strategy_name(request.strategy)},
                                                 {"site", request.site},
                                                 {"side", side_name(request.side)}}),
                                       kToggleTimeout);
  return line ? read_toggle_answer(*line, socket_path) : line.error();
}

Result<> ask_ab(const std::string& socket_path, const AbRequest& request) {
  const Result<std::string> line = ask(socket_path,
                                       one_line({{"request", "ab"},
                                                 {"strategy", strategy_name(request.strategy)},
                                                 {"time_ns", request.time},
                                                 {"precision", request.precision},
                                                 {"side", side_name(request.side)}}),
                                       kToggleTimeout);
  return line ? read_ab_answer(*line, socket_path) : line.error();
}

Result<> ask_auto(const std::string& socket_path, const AutoRequest& request) {
  const Result<std::string> line = ask(socket_path,
                                       one_line({{"request", "auto"},
                                                 {"strategy", strategy_name(request.strategy)},
                                                 {"side", side_name(request.side)},
                                                 {"off", request.off}}),
                                       kToggleTimeout);
  return line ? read_ab_answer(*line, socket_path) : line.error();
}

Result<DumpReply> ask_dump(const std::string& socket_path) {
  const Result<std::string> line = ask(socket_path, one_line({{"request", "dump"}}), kStatusTimeout);
  return line ? read_dump_answer(*line, socket_path) : line.error();
}

std::string answer_request(const ControlHandler& handler, const std::string& line) try {
  const Json request = parse_line(line);
  const std::string what = request.is_object() ? request.value("request", std::string()) : std::string();
  if (what == "status") return one_line({{"ok", true}, {"status", to_json(handler.status())}});
  if (what == "toggle") {
    ToggleRequest toggle;
    if (!read_wait(request, toggle)) {
      return one_line(error_answer(bad_input("a toggle needs a mode and a strategy that this wic-prof knows")));
    }
    toggle.site = request.value("site", std::string());
    toggle.side = side_of(request);
    const Result<ToggleReply> reply = handler.toggle(toggle);
    return one_line(reply ? Json{{"ok", true}, {"toggle", to_json(*reply)}} : error_answer(reply.error()));
  }
  if (what == "ab") {
    AbRequest ab;
    const std::optional<StrategyId> strategy = strategy_from_name(request.value("strategy", std::string()));
    ab.time = request.value("time_ns", TimeNs{0});
    ab.precision = request.value("precision", 0.0);
    if (!strategy || ab.time <= 0 || !(ab.precision >= 0 && ab.precision < 1)) {
      return one_line(error_answer(bad_input(
          "a comparison of both modes needs a strategy that this wic-prof knows, a time and a precision below 1")));
    }
    ab.strategy = *strategy;
    // An older client means the waits that it could compare.
    ab.side = request.contains("side") ? side_of(request) : WaitSide::device;
    const Result<> begun = handler.ab(ab);
    return one_line(begun ? Json{{"ok", true}} : error_answer(begun.error()));
  }
  if (what == "auto") {
    AutoRequest asked;
    const std::optional<StrategyId> strategy = strategy_from_name(request.value("strategy", std::string()));
    if (!strategy) return one_line(error_answer(bad_input("the autopilot needs a strategy that this wic-prof knows")));
    asked.strategy = *strategy;
    asked.side = side_of(request);
    asked.off = request.value("off", false);
    const Result<> done = handler.autopilot(asked);
    return one_line(done ? Json{{"ok", true}} : error_answer(done.error()));
  }
  if (what == "dump") {
    const Result<DumpReply> dump = handler.dump();
    if (!dump) return one_line(error_answer(dump.error()));
    Json answer{{"ok", true}, {"number", dump->number}};
    add_path(answer, "trace", dump->trace);
    return one_line(answer);
  }
  return one_line(error_answer(
      bad_input("the request must be one JSON object whose \"request\" is status, toggle, ab, auto or dump")));
} catch (const Json::exception& e) {
  return one_line(error_answer(bad_input(std::string("the request cannot be read: ") + e.what())));
} catch (const std::exception& e) {
  return one_line(error_answer(unavailable(std::string("wic-prof run failed at this request: ") + e.what())));
}

}  // namespace wicprof
