// wic-prof toggle: changes how a running program waits.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/record/wait_options.h"
#include "cli/sessions/running_sessions.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/messages.h"
#include "protocol/control_messages.h"

namespace wicprof::cli {

namespace {

struct ToggleOptions {
  std::string mode, strategy, session, site;
  std::string format = "text";
};

int toggle(const ToggleOptions& options) {
  const Result<WantedWait> wanted = wanted_wait(options.mode, options.strategy);
  if (!wanted) return fail(wanted.error());
  const Result<SessionInfo> session = choose_session(options.session);
  if (!session) return fail(session.error());
  const Result<ToggleReply> reply = ask_toggle(session->socket_path, {wanted->mode, wanted->strategy, options.site});
  if (!reply) {
    return fail({reply.error().kind, fmt::format("session '{}': {}", session->name, reply.error().message)});
  }
  const TimeNs took = reply->effective - reply->requested;
  if (options.format == "text") {
    fmt::print(
        "session '{}': {} now waits by {} ({}); in effect {:.3f} ms after the request, at {:.6f} s on the trace's "
        "clock\n",
        session->name, reply->site.empty() ? "the whole program" : fmt::format("site '{}'", reply->site),
        mode_name(reply->mode), strategy_name(reply->strategy), static_cast<double>(took) / kMillisecond,
        static_cast<double>(reply->effective) / kSecond);
  } else {
    const nlohmann::ordered_json json = {
        {"session", session->name},
        {"site", reply->site.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(reply->site)},
        {"mode", mode_name(reply->mode)},
        {"strategy", strategy_name(reply->strategy)},
        {"requested_ns", reply->requested},
        {"effective_ns", reply->effective},
        {"took_ns", took}};
    fmt::print("{}\n", json.dump(2));
  }
  return kDone;
}

}  // namespace

template <>
VerbBody declare<struct ToggleVerb>(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<ToggleOptions>();
  verb.add_option("MODE", options->mode, "poll (the program's own way) or park")
      ->required()
      ->check(CLI::IsMember({"poll", "park"}));
  verb.add_option("--session", options->session, "the session; required if several are running")->type_name("NAME");
  verb.add_option("--site", options->site, "only this wait site; default: the whole program")->type_name("SITE");
  verb.add_option("--strategy", options->strategy, "how park waits: " + strategy_list() + "; default: auto")
      ->type_name("NAME");
  add_format(verb, options->format);
  add_example(verb, "wic-prof toggle park --session halo --strategy=backoff");
  return [options] { return toggle(*options); };
}

}  // namespace wicprof::cli
