// wic-prof stuck: what a program that hangs waits for, and the likeliest missing signal.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "analyzer/words/format.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/sessions/own_session.h"
#include "cli/sessions/running_sessions.h"
#include "cli/sessions/stuck_view.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/width.h"
#include "cli/terminal/write_text.h"
#include "reports/parts/json.h"

namespace wicprof::cli {

namespace {

using Json = nlohmann::ordered_json;
using analyzer::StuckAnswer;
using analyzer::StuckView;
using analyzer::WaitedWord;

struct StuckOptions {
  std::string session, format = "text";
};

std::string source_name(WaitSource source) {
  return source == WaitSource::wic ? "wic" : source == WaitSource::patched ? "patched" : "host";
}

std::string awaited_name(Awaited awaited) {
  switch (awaited) {
    case Awaited::stream:
      return "stream";
    case Awaited::event:
      return "event";
    case Awaited::device:
      return "device";
    case Awaited::copy:
      return "copy";
    case Awaited::unknown:
      break;
  }
  return "unknown";
}

std::string writer_name(SignalWriter writer) {
  switch (writer) {
    case SignalWriter::copy:
    case SignalWriter::unknown_copy:
      return "copy";
    case SignalWriter::memset:
      return "memset";
    case SignalWriter::stream_write:
      return "stream_write";
    case SignalWriter::program:
      break;
  }
  return "program";
}

std::string hex(std::uint64_t number) { return fmt::format("0x{:x}", number); }

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const analyzer::LastSignal& signal, TimeNs now) {
  const bool host = signal.device == kHostDevice;
  return {{"process", signal.process},
          {"thread", host ? Json(signal.thread) : Json(nullptr)},
          {"block", host ? Json(nullptr) : Json(signal.block)},
          {"value", signal.writer == SignalWriter::unknown_copy ? Json(nullptr) : Json(signal.value)},
          {"writer", writer_name(signal.writer)},
          {"iteration", signal.iteration},
          {"age_ns", now - signal.at}};
}

/// What the word holds; a patched loop's may be of 64 bits.
std::optional<std::uint64_t> value_of(const WaitedWord& word) {
  if (word.source == WaitSource::patched) return word.wide_value;
  return word.value ? std::optional<std::uint64_t>(*word.value) : std::nullopt;
}

/// What is wanted, as a sentence's part; empty: not known.
std::string wants_of(const WaitedWord& word) {
  if (word.source == WaitSource::patched) return analyzer::wanted_text(word.wants);
  return word.wanted ? std::to_string(*word.wanted) : "";
}

Json to_json(const WaitedWord& word, TimeNs now) {
  Json candidates = Json::array();
  for (const analyzer::SeenCandidate& each : word.candidates) {
    candidates.push_back({{"kernel", each.kernel}, {"exact", each.exact}});
  }
  const std::string wants = wants_of(word);
  return {{"source", source_name(word.source)},
          {"process", word.processes.front()},
          {"device", word.device == kHostDevice ? Json(nullptr) : Json(word.device)},
          {"site", word.site},
          {"address", word.address == 0 ? Json(nullptr) : Json(hex(word.address))},
          {"memory", word.memory == WordMemory::unknown ? Json(nullptr) : Json(analyzer::memory_name(word.memory))},
          {"value", or_null(value_of(word))},
          {"wanted", or_null(word.wanted)},
          {"wants", wants.empty() ? Json(nullptr) : Json(wants)},
          {"satisfied", word.is_satisfied()},
          {"iteration", word.iteration},
          {"waiters", word.waiters},
          {"blocks", word.blocks},
          {"grid_blocks", word.grid == 0 ? Json(nullptr) : Json(word.grid)},
          {"threads", word.threads},
          {"age_ns", now - word.since},
          {"last_signal", word.last ? to_json(*word.last, now) : Json(nullptr)},
          {"candidates", candidates}};
}

std::string answer_json(const SeenSession& seen, const StuckAnswer& answer, const SessionStatus& status) {
  const StuckView& view = seen.view;
  Json causes = Json::array(), words = Json::array(), calls = Json::array(), kernels = Json::array(),
       threads = Json::array();
  for (const analyzer::Cause& cause : answer.causes) {
    causes.push_back({{"kind", cause_name(cause.kind)},
                      {"confidence", confidence_name(cause.confidence)},
                      {"text", cause.text},
                      {"evidence", cause.evidence},
                      {"wait", or_null(cause.word)},
                      {"age_ns", view.now - cause.since}});
  }
  for (const WaitedWord& word : answer.words) words.push_back(to_json(word, view.now));
  for (const auto& [process, call] : view.calls) {
    if (call.waits_for_word != 0) continue;
    calls.push_back({{"process", process},
                     {"thread", call.thread},
                     {"call", call.name},
                     {"awaited", awaited_name(call.awaited)},
                     {"stream", call.awaited == Awaited::stream ? Json(hex(call.stream)) : Json(nullptr)},
                     {"event", call.awaited == Awaited::event ? Json(hex(call.handle)) : Json(nullptr)},
                     {"age_ns", view.now - call.begin}});
  }
  for (const auto& [process, kernel] : view.kernels) {
    kernels.push_back({{"process", process},
                       {"thread", kernel.thread},
                       {"name", kernel.name},
                       {"stream", hex(kernel.stream)},
                       {"grid", kernel.grid},
                       {"block", kernel.block},
                       {"age_ns", view.now - kernel.launched}});
  }
  for (const analyzer::SeenThread& thread : view.threads) {
    threads.push_back({{"process", thread.process},
                       {"thread", thread.thread},
                       {"name", thread.name},
                       {"state", std::string(1, thread.state)},
                       {"sleeps_in", thread.kernel_place.empty() ? Json(nullptr) : Json(thread.kernel_place)}});
  }
  return reports::json_document(Json{{"session", status.name},
                                     {"app", status.app},
                                     {"pid", status.app_pid},
                                     {"trace", status.output},
                                     {"causes", causes},
                                     {"waits", words},
                                     {"calls", calls},
                                     {"kernels", kernels},
                                     {"threads", threads},
                                     {"launches_seen", view.sees_launches},
                                     {"calls_seen", view.sees_calls},
                                     {"left_out", view.left_out},
                                     {"not_seen", seen.not_seen}});
}

std::string age(TimeNs now, TimeNs since) { return analyzer::format_duration(std::max<TimeNs>(now - since, 0)); }

std::string causes_text(const StuckAnswer& answer, std::size_t width) {
  if (answer.causes.empty()) {
    return "nothing has waited for long: no wait of a kernel for 500 ms, no call or wait of a host thread for 1 s\n";
  }
  std::string text;
  for (const analyzer::Cause& cause : answer.causes) {
    text += text.empty() ? "" : cause.kind == analyzer::CauseKind::consequence ? "" : "\n";
    const std::string head = cause.kind == analyzer::CauseKind::consequence
                                 ? std::string("follows: ")
                                 : fmt::format("{} ({}): ", cause_name(cause.kind), confidence_name(cause.confidence));
    text += analyzer::wrap(head + analyzer::one_line(cause.text), width, 2) + "\n";
    if (cause.kind == analyzer::CauseKind::consequence) continue;
    for (const std::string& line : cause.evidence)
      text += "  " + analyzer::wrap(analyzer::one_line(line), width - 2, 4) + "\n";
  }
  return text;
}

std::string tables_text(const StuckView& view, const StuckAnswer& answer, std::size_t width) {
  std::string text;
  const auto add = [&](const char* title, const analyzer::TextTable& table) {
    text += fmt::format("\n{}\n{}", title, table.str(2, width));
  };
  if (!answer.words.empty()) {
    analyzer::TextTable table("llrrrlrl", {"site", "address", "has", "wants", "waiters", "who", "for", "source"});
    for (const WaitedWord& word : answer.words) {
      const std::string who = word.device == kHostDevice ? "threads " + analyzer::ranges_of(word.threads)
                                                         : "blocks " + analyzer::ranges_of(word.blocks);
      const std::optional<std::uint64_t> value = value_of(word);
      const std::string wants = wants_of(word);
      table.add({analyzer::one_line(word.site), word.address == 0 ? "?" : hex(word.address),
                 value ? std::to_string(*value) : "?", wants.empty() ? "?" : wants, std::to_string(word.waiters), who,
                 age(view.now, word.since), source_name(word.source)});
    }
    add("waits", table);
  }
  analyzer::TextTable calls("llrlr", {"call", "process", "thread", "on", "for"});
  bool any = false;
  for (const auto& [process, call] : view.calls) {
    if (call.waits_for_word != 0) continue;
    any = true;
    calls.add({analyzer::one_line(call.name), std::to_string(process), std::to_string(call.thread),
               call.awaited == Awaited::stream  ? "stream " + hex(call.stream)
               : call.awaited == Awaited::event ? "event " + hex(call.handle)
                                                : awaited_name(call.awaited),
               age(view.now, call.begin)});
  }
  if (any) add("calls of host threads", calls);
  if (!view.kernels.empty()) {
    analyzer::TextTable table("llrlr", {"kernel", "process", "blocks", "stream", "launched before"});
    for (const auto& [process, kernel] : view.kernels) {
      const std::uint64_t blocks = std::uint64_t{kernel.grid[0]} * kernel.grid[1] * kernel.grid[2];
      table.add({analyzer::one_line(analyzer::function_name(kernel.name)), std::to_string(process),
                 std::to_string(blocks), hex(kernel.stream), age(view.now, kernel.launched)});
    }
    add("kernels whose end is not known", table);
  }
  if (!view.threads.empty()) {
    analyzer::TextTable table("lrll", {"process", "thread", "name", "state"});
    for (const analyzer::SeenThread& thread : view.threads) {
      table.add({std::to_string(thread.process), std::to_string(thread.thread), analyzer::one_line(thread.name),
                 thread.state == 'R'           ? "runs"
                 : thread.kernel_place.empty() ? std::string(1, thread.state)
                                               : "sleeps in " + analyzer::one_line(thread.kernel_place)});
    }
    add("host threads", table);
  }
  return text;
}

int stuck(const StuckOptions& options) {
  const Result<SessionInfo> session = choose_session(options.session);
  if (!session) return fail(session.error());
  const Result<SessionStatus> status = ask_status(session->socket_path);
  if (!status) {
    return fail({status.error().kind, fmt::format("session '{}': {}", session->name, status.error().message)});
  }
  const Result<SeenSession> seen = look_at_session(*session, *status);
  if (!seen) return fail(seen.error());
  const StuckAnswer answer = analyzer::diagnose(seen->view);
  if (options.format == "json") return print_answer(answer_json(*seen, answer, *status));
  const std::size_t width = text_width(STDOUT_FILENO);
  std::string text = causes_text(answer, width) + tables_text(seen->view, answer, width);
  if (seen->view.sees_calls && !seen->view.sees_launches) {
    text +=
        "\nkernels: not known, since launches are not recorded; wic-prof run --trace=cuda,nvtx,launches shows them\n";
  }
  if (seen->view.left_out > 0) text += fmt::format("\n{} calls, kernels or waits had no room\n", seen->view.left_out);
  for (const std::string& reason : seen->not_seen) text += "\ncould not look: " + analyzer::one_line(reason) + "\n";
  return print_answer(text);
}

}  // namespace

template <>
VerbBody declare<struct StuckVerb>(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<StuckOptions>();
  verb.add_option("--session", options->session, "the session to look at; default: the only one")->type_name("NAME");
  add_format(verb, options->format);
  add_example(verb, "wic-prof stuck --session halo");
  return [options] { return stuck(*options); };
}

}  // namespace wicprof::cli
