#include "reports/json/stuck_json.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/stuck/trace_rows.h"
#include "analyzer/words/format.h"
#include "analyzer/words/writers.h"
#include "reports/parts/json.h"

namespace wicprof::reports {
namespace {

std::string hex_text(std::uint64_t number) { return fmt::format("0x{:x}", number); }

Json to_json(const LastSignal& signal, TimeNs now) {
  const bool host = signal.device == kHostDevice;
  return {{"process", signal.process},
          {"thread", host ? Json(signal.thread) : Json(nullptr)},
          {"block", host ? Json(nullptr) : Json(signal.block)},
          {"value", signal.writer == SignalWriter::unknown_copy ? Json(nullptr) : Json(signal.value)},
          {"writer", analyzer::writer_words(signal.writer).name},
          {"iteration", signal.iteration},
          {"age_ns", now - signal.at}};
}

Json to_json(const WaitedWord& word, TimeNs now) {
  Json candidates = Json::array();
  for (const SeenCandidate& each : word.candidates) {
    candidates.push_back({{"kernel", each.kernel}, {"exact", each.exact}});
  }
  const std::string wants = word.wants_in_words();
  return {{"source", source_name(word.source)},
          {"process", word.processes.front()},
          {"device", word.device == kHostDevice ? Json(nullptr) : Json(word.device)},
          {"site", word.site},
          {"address", word.address == 0 ? Json(nullptr) : Json(hex_text(word.address))},
          {"memory", word.memory == WordMemory::unknown ? Json(nullptr) : Json(memory_name(word.memory))},
          {"value", or_null(word.value_held())},
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

Json causes_json(const StuckView& view, const StuckAnswer& answer) {
  Json causes = Json::array();
  for (const Cause& cause : answer.causes) {
    causes.push_back({{"kind", cause_name(cause.kind)},
                      {"confidence", confidence_name(cause.confidence)},
                      {"text", cause.text},
                      {"evidence", cause.evidence},
                      {"wait", or_null(cause.word)},
                      {"age_ns", view.now - cause.since}});
  }
  return causes;
}

}  // namespace

nlohmann::ordered_json hang_json(const TraceModel& model) {
  const std::optional<analyzer::RecordedHang> hang = analyzer::recorded_hang(model);
  return hang ? causes_json(hang->view, hang->answer) : Json(nullptr);
}

nlohmann::ordered_json stuck_json(const StuckView& view, const StuckAnswer& answer) {
  const auto own = [&](std::uint32_t process) {
    const SeenProcess* const seen = view.process(process);
    return seen == nullptr ? process : seen->shown_pid();
  };
  Json words = Json::array(), calls = Json::array(), kernels = Json::array(), threads = Json::array(),
       ranks = Json::array();
  for (const WaitedWord& word : answer.words) words.push_back(to_json(word, view.now));
  for (const auto& [process, call] : view.calls) {
    if (call.waits_for_word != 0) continue;
    calls.push_back({{"process", own(process)},
                     {"thread", call.thread},
                     {"call", call.name},
                     {"awaited", awaited_name(call.awaited)},
                     {"stream", call.awaited == Awaited::stream ? Json(hex_text(call.stream)) : Json(nullptr)},
                     {"event", call.awaited == Awaited::event ? Json(hex_text(call.handle)) : Json(nullptr)},
                     {"age_ns", view.now - call.begin}});
  }
  for (const StuckRank& rank : answer.ranks) {
    const SeenProcess* const process = view.process(rank.process);
    const std::string host = process == nullptr ? "" : process->host;
    ranks.push_back({{"rank", rank.rank},
                     {"ranks", rank.ranks},
                     {"library", rank.library},
                     {"process", view.by == SeenBy::dumps ? Json(nullptr) : Json(own(rank.process))},
                     {"host", host.empty() ? Json(nullptr) : Json(host)},
                     {"ended", rank.ended},
                     {"call", rank.call.empty() ? Json(nullptr) : Json(rank.call)},
                     {"begin_age_ns", rank.begin == 0 ? Json(nullptr) : Json(view.now - rank.begin)},
                     {"end_age_ns", rank.end == 0 ? Json(nullptr) : Json(view.now - rank.end)},
                     {"waits_for", rank.needs}});
  }
  for (const auto& [process, kernel] : view.kernels) {
    kernels.push_back({{"process", own(process)},
                       {"thread", kernel.thread},
                       {"name", kernel.name},
                       {"stream", hex_text(kernel.stream)},
                       {"grid", kernel.grid},
                       {"block", kernel.block},
                       {"age_ns", view.now - kernel.launched}});
  }
  for (const SeenThread& thread : view.threads) {
    Json python = Json::array(), native = Json::array();
    for (const PythonLine& line : thread.python)
      python.push_back({{"function", line.function}, {"file", line.file}, {"line", line.line}});
    for (const NativeFrame& frame : thread.native) {
      native.push_back(
          {{"function", frame.function.empty() ? Json(nullptr) : Json(frame.function)}, {"object", frame.object}});
    }
    threads.push_back({{"process", own(thread.process)},
                       {"thread", thread.thread},
                       {"name", thread.name},
                       {"state", std::string(1, thread.state)},
                       {"sleeps_in", thread.kernel_place.empty() ? Json(nullptr) : Json(thread.kernel_place)},
                       {"python", python},
                       {"native", native}});
  }
  return {{"at_ns", view.now},
          {"causes", causes_json(view, answer)},
          {"waits", words},
          {"calls", calls},
          {"mpi_ranks", ranks},
          {"kernels", kernels},
          {"threads", threads},
          {"launches_seen", view.sees_launches},
          {"calls_seen", view.sees_calls},
          {"left_out", view.left_out}};
}

}  // namespace wicprof::reports
