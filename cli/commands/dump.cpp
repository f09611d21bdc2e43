// wic-prof dump: writes the last minutes of a running program as a trace.
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/words/format.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/sessions/own_session.h"
#include "cli/sessions/place.h"
#include "cli/terminal/messages.h"
#include "protocol/control_messages.h"
#include "protocol/open_work.h"
#include "protocol/shell_words.h"
#include "reports/parts/json.h"
#include "store/format/meta_key.h"
#include "store/read/reader.h"

namespace wicprof::cli {

namespace {

constexpr std::chrono::milliseconds kBetweenLooks{50};
/// A wic-prof that writes a dump answers meanwhile; one that was stopped does not. Not calibrated.
constexpr TimeNs kPatience = 10 * kSecond;

struct DumpOptions {
  std::vector<std::string> sessions;
  std::string format = "text";
};

struct Dump {
  AnsweringSession from;
  DumpReply asked;
  std::int64_t begin = 0, end = 0;  ///< what it covers, ns of its clock
};

/// Says what the trace covers. Error: it is not complete.
Result<> look_into(Dump& dump) {
  const Result<store::Reader> reader = store::Reader::open(dump.asked.trace);
  const auto meta = reader ? reader->meta() : Result<std::map<std::string, std::string>>(reader.error());
  if (!meta) return in_session(dump.from.session, meta.error());
  const auto value = [&](store::MetaKey key) {
    const auto found = meta->find(std::string(store::name_of(key)));
    return found == meta->end() ? std::string() : found->second;
  };
  if (value(store::MetaKey::state) != "complete")
    return in_session(dump.from.session,
                      unavailable(dump.asked.trace + " could not be completed; the messages of wic-prof run say why"));
  dump.begin = std::strtoll(value(store::MetaKey::capture_from_ns).c_str(), nullptr, 10);
  dump.end = std::strtoll(value(store::MetaKey::ended_ns).c_str(), nullptr, 10);
  return ok();
}

Result<> wait_for(Dump& dump) {
  TimeNs answered = now_ns();
  while (!process_is_gone(static_cast<std::uint32_t>(dump.from.status.tool_pid))) {
    const Result<SessionStatus> status = ask_status(dump.from.session.socket_path);
    if (status) {
      answered = now_ns();
    } else if (now_ns() - answered > kPatience) {
      return in_session(dump.from.session, status.error());
    }
    if (status && status->dumps >= dump.asked.number) break;
    if (status && !status->dump_failed.empty())
      return in_session(dump.from.session, unavailable("the dump is not written yet: " + status->dump_failed));
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return look_into(dump);
}

std::string dump_text(const Dump& dump) {
  const std::string trace = path_from(place_of_this_process().folder, dump.asked.trace);
  return fmt::format("{}: the last {} of {} (pid {}); next: wic-prof analyze {}\n", analyzer::one_line(trace),
                     analyzer::format_duration(dump.end - dump.begin), analyzer::one_line(dump.from.status.app),
                     dump.from.status.app_pid, shell_word(trace));
}

nlohmann::ordered_json dump_json(const Dump& dump) {
  return {{"session", dump.from.session.name}, {"app", dump.from.status.app}, {"pid", dump.from.status.app_pid},
          {"trace", dump.asked.trace},         {"begin_ns", dump.begin},      {"end_ns", dump.end}};
}

/// Asks all sessions before it waits for any, so that their traces end at the same time.
int dump(const DumpOptions& options) {
  std::vector<std::string> names = options.sessions;
  if (names.empty()) names.emplace_back();
  std::vector<AnsweringSession> sessions;
  for (const std::string& name : names) {
    const Result<std::vector<AnsweringSession>> chosen = sessions_to_change(name, "wic-prof dump", true);
    if (!chosen) return fail(chosen.error());
    sessions.insert(sessions.end(), chosen->begin(), chosen->end());
  }
  std::vector<Dump> dumps;
  for (const AnsweringSession& session : sessions) {
    const Result<DumpReply> asked = ask_dump(session.session.socket_path);
    if (!asked) return fail(in_session(session.session, asked.error()));
    dumps.push_back({session, *asked});
  }
  std::string text;
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (Dump& one : dumps) {
    if (const Result<> written = wait_for(one); !written) return fail(written.error());
    text += dump_text(one);
    json.push_back(dump_json(one));
  }
  return print_answer(options.format == "text" ? text : reports::json_document({{"dumps", json}}));
}

}  // namespace

template <>
VerbBody declare<struct DumpVerb>(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<DumpOptions>();
  verb.add_option(
          "SESSION,--session", options->sessions,
          "the sessions; default: the only one that was started in this folder or this terminal, or those of all "
          "ranks of one job. Each must have begun with run --keep-last and --trigger")
      ->type_name("NAME");
  add_format(verb, options->format);
  add_example(verb, "wic-prof dump server");
  return [options] { return dump(*options); };
}

}  // namespace wicprof::cli
