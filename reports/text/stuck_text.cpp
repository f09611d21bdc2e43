#include "reports/text/stuck_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/stuck/stuck_words.h"
#include "analyzer/words/format.h"
#include "reports/parts/tables.h"
#include "reports/text/table_text.h"

namespace wicprof::reports {
namespace {

std::string hex(std::uint64_t number) { return fmt::format("0x{:x}", number); }

std::uint64_t blocks_of(const OpenKernel& kernel) {
  return std::uint64_t{kernel.grid[0]} * kernel.grid[1] * kernel.grid[2];
}

std::string causes_text(const StuckAnswer& answer, const Screen& screen) {
  if (answer.causes.empty()) {
    return "nothing has waited for long: no wait of a kernel for 500 ms, no call or wait of a host thread for 1 s\n";
  }
  std::string text;
  for (const Cause& cause : answer.causes) {
    text += text.empty() ? "" : cause.kind == CauseKind::consequence ? "" : "\n";
    const std::string head = cause.kind == CauseKind::consequence
                                 ? std::string("follows: ")
                                 : fmt::format("{} ({}): ", cause_name(cause.kind), confidence_name(cause.confidence));
    text += paragraph(screen, head + one_line(cause.text), 0, 2);
    if (cause.kind == CauseKind::consequence) continue;
    for (const std::string& line : cause.evidence) text += paragraph(screen, one_line(line), 2, 2);
  }
  return text;
}

std::string tables_text(const StuckView& view, const StuckAnswer& answer, const Screen& screen) {
  using Call = OfProcess<OpenCall>;
  using Kernel = OfProcess<OpenKernel>;
  const auto who = [](const WaitedWord& w) {
    return w.device == kHostDevice ? "threads " + ranges_of(w.threads) : "blocks " + ranges_of(w.blocks);
  };
  const auto or_unknown = [](std::string text) { return text.empty() ? "?" : text; };
  const auto awaited = [](const Call& c) {
    return c.value.awaited == Awaited::stream  ? "stream " + hex(c.value.stream)
           : c.value.awaited == Awaited::event ? "event " + hex(c.value.handle)
                                               : std::string(awaited_name(c.value.awaited));
  };
  const auto state = [](const SeenThread& t) {
    return t.state == 'R' ? "runs" : t.kernel_place.empty() ? std::string(1, t.state) : "sleeps in " + t.kernel_place;
  };
  const auto since = [&](const StuckRank& r) {
    return r.begin == 0 ? "?"
           : r.end == 0 ? "in it for " + age(view.now, r.begin)
                        : "left " + age(view.now, r.end) + " ago";
  };
  const auto needs = [](const StuckRank& r) {
    return r.ended ? std::string("has ended") : ranges_of({r.needs.begin(), r.needs.end()});
  };
  std::vector<Call> calls = view.calls;
  std::erase_if(calls, [](const Call& call) { return call.value.waits_for_word != 0; });
  std::string text;
  for (const auto& [title, table] : {
           std::pair{"waits",
                     table_of<WaitedWord>(
                         "wait", answer.words, kAllRows,
                         {{"wait site", 'l', [](const WaitedWord& w) { return w.site; }},
                          {"address", 'r', [](const WaitedWord& w) { return w.address == 0 ? "?" : hex(w.address); }},
                          {"has", 'r',
                           [](const WaitedWord& w) {
                             const std::optional<std::uint64_t> value = w.value_held();
                             return value ? std::to_string(*value) : "?";
                           }},
                          {"wants", 'r', [&](const WaitedWord& w) { return or_unknown(w.wants_in_words()); }},
                          {"waiters", 'r', [](const WaitedWord& w) { return std::to_string(w.waiters); }},
                          {"who", 'l', who},
                          {"for", 'r', [&](const WaitedWord& w) { return age(view.now, w.since); }},
                          {"source", 'l', [](const WaitedWord& w) { return source_name(w.source); }}})},
           std::pair{"calls of host threads",
                     table_of<Call>("call", calls, kAllRows,
                                    {{"call", 'l', [](const Call& c) { return c.value.name; }},
                                     {"process", 'l', [](const Call& c) { return std::to_string(c.process); }},
                                     {"thread", 'r', [](const Call& c) { return std::to_string(c.value.thread); }},
                                     {"on", 'l', awaited},
                                     {"for", 'r', [&](const Call& c) { return age(view.now, c.value.begin); }}})},
           std::pair{
               "ranks of MPI",
               table_of<StuckRank>("rank", answer.ranks, kAllRows,
                                   {{"rank", 'r', [](const StuckRank& r) { return std::to_string(r.rank); }},
                                    {"process", 'l', [](const StuckRank& r) { return std::to_string(r.process); }},
                                    {"last call", 'l', [&](const StuckRank& r) { return or_unknown(r.call); }},
                                    {"since", 'r', since},
                                    {"waits for ranks", 'l', needs}})},
           std::pair{"kernels whose end is not known",
                     table_of<Kernel>(
                         "kernel", view.kernels, kAllRows,
                         {{"kernel", 'l', [](const Kernel& k) { return function_name(k.value.name); }},
                          {"process", 'l', [](const Kernel& k) { return std::to_string(k.process); }},
                          {"blocks", 'r', [](const Kernel& k) { return std::to_string(blocks_of(k.value)); }},
                          {"stream", 'l', [](const Kernel& k) { return hex(k.value.stream); }},
                          {"launched before", 'r', [&](const Kernel& k) { return age(view.now, k.value.launched); }}})},
           std::pair{
               "host threads",
               table_of<SeenThread>("thread", view.threads, kAllRows,
                                    {{"process", 'l', [](const SeenThread& t) { return std::to_string(t.process); }},
                                     {"thread", 'r', [](const SeenThread& t) { return std::to_string(t.thread); }},
                                     {"name", 'l', [](const SeenThread& t) { return t.name; }},
                                     {"state", 'l', state}})},
       }) {
    if (!table.rows.empty()) text += fmt::format("\n{}\n{}", title, table_text(table, screen, 2));
  }
  return text;
}

}  // namespace

std::string stuck_text(const StuckView& view, const StuckAnswer& answer, const Screen& screen) {
  std::string text = causes_text(answer, screen) + tables_text(view, answer, screen);
  if (view.sees_calls && !view.sees_launches) {
    text +=
        "\nkernels: not known, since launches are not recorded; wic-prof run --trace=cuda,nvtx,launches shows them\n";
  }
  if (view.left_out > 0)
    text += fmt::format("\n{} calls, kernels, waits or communicators had no room\n", view.left_out);
  return text;
}

}  // namespace wicprof::reports
