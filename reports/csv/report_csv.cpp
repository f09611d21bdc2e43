// The wait sites as comma-separated values (RFC 4180): a line of names, then one line per site. Times are in ns; an
// empty field means unknown.

#include <fmt/format.h>

#include <vector>

#include "reports/csv/field.h"
#include "reports/parts/report.h"

namespace wicprof::reports {
namespace {

std::string line_of(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) line += (line.empty() ? "" : ",") + field;
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

template <>
std::string render_as<struct Csv>(const ReportInput& input) {
  std::string text = line_of({"site", "strategy", "waits", "host_waits", "waiters", "total_ns", "p50_ns", "p99_ns",
                              "max_ns", "share", "polls", "polls_per_wait", "max_waiting", "waiters_a_word",
                              "deadline_missed", "wake_p50_ns", "wake_p99_ns"});
  for (std::size_t i = 0; i < input.analysis.sites.size(); ++i) {
    const SiteStats& site = input.analysis.sites[i];
    const WakeStats& wake = input.analysis.wakes[i];
    const auto strategy = site.main_strategy();
    const bool known = wake.matched > 0;
    text += line_of({csv_text(site.name), strategy ? std::string(strategy_name(*strategy)) : std::string(),
                     number(site.count), number(site.host_count), number(site.groups), number(site.total_ns),
                     number(site.p50_ns), number(site.p99_ns), number(site.max_ns), number(site.share),
                     number(site.polls), number(site.polls_per_wait), number(site.max_waiting),
                     number(site.waiters_per_word), number(site.deadline_missed),
                     known ? number(wake.p50_ns) : std::string(), known ? number(wake.p99_ns) : std::string()});
  }
  return text;
}

}  // namespace wicprof::reports
