#include "reports/csv/csv.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

std::string line_of(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) line += (line.empty() ? "" : ",") + csv_field(one_line(field));
  return line + "\r\n";
}

template <class Number>
std::string number(const Number& value) {
  return fmt::format("{}", value);
}
template <class Number>
std::string number(const std::optional<Number>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string report_csv(const ReportInput& input) {
  std::string text = line_of({"site", "strategy", "waits", "host_waits", "waiters", "total_ns", "p50_ns", "p99_ns",
                              "max_ns", "share", "polls", "polls_per_wait", "max_waiting", "waiters_a_word",
                              "deadline_missed", "wake_p50_ns", "wake_p99_ns"});
  for (std::size_t i = 0; i < input.analysis.sites.size(); ++i) {
    const SiteStats& site = input.analysis.sites[i];
    const WakeStats& wake = input.analysis.wakes[i];
    const auto strategy = site.main_strategy();
    const bool known = wake.matched > 0;
    text += line_of({site.name, strategy ? std::string(strategy_name(*strategy)) : std::string(), number(site.count),
                     number(site.host_count), number(site.groups), number(site.total_ns), number(site.p50_ns),
                     number(site.p99_ns), number(site.max_ns), number(site.share), number(site.polls),
                     number(site.polls_per_wait), number(site.max_waiting), number(site.waiters_per_word),
                     number(site.deadline_missed), known ? number(wake.p50_ns) : std::string(),
                     known ? number(wake.p99_ns) : std::string()});
  }
  return text;
}

}  // namespace wicprof::analyzer
