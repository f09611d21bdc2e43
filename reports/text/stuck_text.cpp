#include "reports/text/stuck_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/stuck/stuck.h"
#include "analyzer/stuck/stuck_words.h"
#include "analyzer/words/format.h"
#include "reports/parts/analyzer_names.h"
#include "reports/parts/json.h"
#include "reports/parts/tables.h"
#include "reports/text/table_text.h"

namespace wicprof::reports {
namespace {

using Items = std::vector<Json>;

/// A text on one line, a number as it is; "?" for what is not known. A program may write anything.
std::string shown(const Json& value) {
  return value.is_null() ? "?" : value.is_string() ? one_line(value.get<std::string>()) : dump_json(value);
}
auto member(const char* name) {
  return [name](const Json& of) { return shown(of.at(name)); };
}
auto duration(const char* name) {
  return [name](const Json& of) { return format_duration(std::max<TimeNs>(of.at(name).get<TimeNs>(), 0)); };
}
std::string ranges(const Json& numbers) { return analyzer::ranges_of(numbers.get<std::vector<std::uint32_t>>()); }

std::string kind_text(const Json& cause) {
  return fmt::format("{} ({})", cause.at("kind").get<std::string>(), cause.at("confidence").get<std::string>());
}

std::string causes_text(const Json& causes, const Screen& screen) {
  if (causes.empty()) {
    return "nothing has waited for long: no wait of a kernel for 500 ms, no call or wait of a host thread for 1 s\n";
  }
  std::string text;
  for (const Json& cause : causes) {
    const bool follows = cause.at("kind") == cause_name(CauseKind::consequence);
    if (!text.empty() && !follows) text += "\n";
    text += paragraph(screen, (follows ? "follows" : kind_text(cause)) + ": " + shown(cause.at("text")), 0, 2);
    if (follows) continue;
    for (const Json& line : cause.at("evidence")) text += paragraph(screen, shown(line), 2, 2);
  }
  return text;
}

std::string who(const Json& wait) {
  return wait.at("device").is_null() ? "threads " + ranges(wait.at("threads")) : "blocks " + ranges(wait.at("blocks"));
}

std::string awaited(const Json& call) {
  const std::string what = shown(call.at("awaited"));
  const Json& handle = call.contains(what) ? call.at(what) : Json();  // of a stream or an event
  return handle.is_null() ? what : what + " " + shown(handle);
}

std::string state(const Json& thread) {
  const Json& place = thread.at("sleeps_in");
  return thread.at("state") == "R" ? "runs" : place.is_null() ? shown(thread.at("state")) : "sleeps in " + shown(place);
}

/// Of the innermost function.
std::string python_place(const Json& thread) {
  if (thread.at("python").empty()) return "";
  const Json& line = thread.at("python").front();
  return analyzer::place_text(
      {shown(line.at("function")), shown(line.at("file")), line.at("line").get<std::uint32_t>()});
}

/// `now`: the answer's. What a dump's ages count from says nothing, so its times are shown.
std::string since(const Json& rank, TimeNs now) {
  if (rank.at("begin_age_ns").is_null()) return "?";
  if (rank.at("process").is_null()) return analyzer::day_time(now - rank.at("begin_age_ns").get<TimeNs>());
  return rank.at("end_age_ns").is_null()
             ? "in it for " + duration("begin_age_ns")(rank)
             : (rank.at("library") == "NCCL" ? "enqueued " : "left ") + duration("end_age_ns")(rank) + " ago";
}

std::string needs(const Json& rank) { return rank.at("ended") == true ? "has ended" : ranges(rank.at("waits_for")); }

std::string blocks(const Json& kernel) {
  std::uint64_t product = 1;
  for (const Json& size : kernel.at("grid")) product *= size.get<std::uint64_t>();
  return std::to_string(product);
}

std::string tables_text(const Json& document, const Screen& screen) {
  const auto items = [&](const char* name) { return document.at(name).get<Items>(); };
  const auto now = document.at("at_ns").get<TimeNs>();
  std::string text;
  for (const auto& [title, table] : {
           std::pair{"waits", table_of<Json>("wait", items("waits"), kAllRows,
                                             {{"wait site", 'l', member("site")},
                                              {"address", 'r', member("address")},
                                              {"has", 'r', member("value")},
                                              {"wants", 'r', member("wants")},
                                              {"waiters", 'r', member("waiters")},
                                              {"who", 'l', who},
                                              {"for", 'r', duration("age_ns")},
                                              {"source", 'l', member("source")}})},
           std::pair{"calls of host threads", table_of<Json>("call", items("calls"), kAllRows,
                                                             {{"call", 'l', member("call")},
                                                              {"process", 'l', member("process")},
                                                              {"thread", 'r', member("thread")},
                                                              {"on", 'l', awaited},
                                                              {"for", 'r', duration("age_ns")}})},
           std::pair{"ranks", table_of<Json>("rank", items("mpi_ranks"), kAllRows,
                                             {{"rank", 'r', member("rank")},
                                              {"process", 'l', member("process")},
                                              {"last call", 'l', member("call")},
                                              {"since", 'r', [now](const Json& rank) { return since(rank, now); }},
                                              {"waits for ranks", 'l', needs}})},
           std::pair{"kernels whose end is not known",
                     table_of<Json>("kernel", items("kernels"), kAllRows,
                                    {{"kernel", 'l', [](const Json& k) { return function_name(shown(k.at("name"))); }},
                                     {"process", 'l', member("process")},
                                     {"blocks", 'r', blocks},
                                     {"stream", 'l', member("stream")},
                                     {"launched before", 'r', duration("age_ns")}})},
           std::pair{"host threads", table_of<Json>("thread", items("threads"), kAllRows,
                                                    {{"process", 'l', member("process")},
                                                     {"thread", 'r', member("thread")},
                                                     {"name", 'l', member("name")},
                                                     {"state", 'l', state},
                                                     {"Python", 'l', python_place}})},
       }) {
    if (!table.rows.empty()) text += fmt::format("\n{}\n{}", title, table_text(table, screen, 2));
  }
  return text;
}

}  // namespace

std::string stuck_text(const Json& document, const Screen& screen) {
  std::string text = causes_text(document.at("causes"), screen) + tables_text(document, screen);
  if (document.at("calls_seen") == true && document.at("launches_seen") == false) {
    text +=
        "\nkernels: not known, since launches are not recorded; wic-prof run --trace=cuda,nvtx,launches shows them\n";
  }
  if (const auto left_out = document.at("left_out").get<std::uint64_t>(); left_out > 0)
    text += fmt::format("\n{} calls, kernels, waits or communicators had no room\n", left_out);
  for (const Json& reason : document.at("not_seen")) text += "\ncould not look: " + shown(reason) + "\n";
  return text;
}

}  // namespace wicprof::reports
