#include "gui/view/site_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/measure/statistics.h"
#include "analyzer/trace/wait_view.h"
#include "analyzer/words/format.h"
#include "reports/parts/phrases.h"

namespace wicprof::gui {

using analyzer::format_count;
using analyzer::format_duration;

namespace {

constexpr std::array<SiteColumnLook, kSiteColumns> kLooks{{{"name", "wait site", false},
                                                           {"count", "waits", true},
                                                           {"total", "total", true},
                                                           {"share", "share", true},
                                                           {"p50", "p50", true},
                                                           {"p99", "p99", true},
                                                           {"polls", "polls per wait", true},
                                                           {"wake", "wake p50", true},
                                                           {"waiters", "waiters per word", true},
                                                           {"gain", "predicted gain", true},
                                                           {"strategy", "strategy", false}}};

const analyzer::SitePrediction* prediction_of(const analyzer::Analysis& analysis, SiteId site) {
  const auto& list = analysis.prediction.sites;
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& p) { return p.site == site; });
  return found == list.end() ? nullptr : &*found;
}

SiteLine line_of(const analyzer::SiteStats& site, const analyzer::WakeStats* wake,
                 const analyzer::SitePrediction* prediction) {
  SiteLine line;
  line.site = site.site;
  const auto set = [&](SiteColumn column, double value, std::string text) {
    line.values[static_cast<std::size_t>(column)] = value;
    line.cells[static_cast<std::size_t>(column)] = std::move(text);
  };
  set(SiteColumn::name, 0, analyzer::one_line(site.name));
  set(SiteColumn::count, static_cast<double>(site.count), format_count(site.count));
  set(SiteColumn::total, static_cast<double>(site.total_ns), format_duration(site.total_ns));
  set(SiteColumn::share, site.share, analyzer::format_percent(site.share));
  set(SiteColumn::p50, static_cast<double>(site.p50_ns), format_duration(site.p50_ns));
  set(SiteColumn::p99, static_cast<double>(site.p99_ns), format_duration(site.p99_ns));
  set(SiteColumn::polls, site.polls_per_wait.value_or(-1),
      site.polls_per_wait ? analyzer::format_number(*site.polls_per_wait) : "-");
  const bool woken = wake != nullptr && wake->matched > 0;
  set(SiteColumn::wake, woken ? static_cast<double>(wake->p50_ns) : -1e18, woken ? format_duration(wake->p50_ns) : "-");
  set(SiteColumn::waiters, site.waiters_per_word ? *site.waiters_per_word : -1.0,
      site.waiters_per_word ? format_count(*site.waiters_per_word) : "-");
  const bool predicted = prediction != nullptr && prediction->gain;
  set(SiteColumn::gain, predicted ? prediction->gain->value : -1,
      prediction != nullptr ? reports::gain_text(prediction->gain) : "-");
  set(SiteColumn::strategy, 0, reports::strategy_mix(site));
  return line;
}

}  // namespace

const SiteColumnLook& look_of(SiteColumn column) { return kLooks[static_cast<std::size_t>(column)]; }

std::vector<SiteLine> site_table(const analyzer::Analysis& analysis, SiteColumn by, bool descending) {
  std::vector<SiteLine> lines;
  for (std::size_t i = 0; i < analysis.sites.size(); ++i)
    lines.push_back(line_of(analysis.sites[i], i < analysis.wakes.size() ? &analysis.wakes[i] : nullptr,
                            prediction_of(analysis, analysis.sites[i].site)));
  const auto column = static_cast<std::size_t>(by);
  std::stable_sort(lines.begin(), lines.end(), [&](const SiteLine& a, const SiteLine& b) {
    const SiteLine& first = descending ? b : a;
    const SiteLine& second = descending ? a : b;
    return look_of(by).numeric ? first.values[column] < second.values[column]
                               : first.cells[column] < second.cells[column];
  });
  return lines;
}

std::optional<SiteDetail> site_detail(const analyzer::TraceModel& model, const analyzer::Analysis& analysis,
                                      SiteId id) {
  const auto found =
      std::find_if(analysis.sites.begin(), analysis.sites.end(), [&](const auto& s) { return s.site == id; });
  if (found == analysis.sites.end()) return std::nullopt;
  const analyzer::SiteStats& site = *found;
  SiteDetail detail;
  detail.site = id;
  detail.name = analyzer::one_line(site.name);
  const auto fact = [&](const char* name, std::string value) { detail.facts.emplace_back(name, std::move(value)); };
  fact("waits", fmt::format("{}, by {}", format_count(site.count), analyzer::count_of(site.groups, "waiter")));
  fact("at once",
       fmt::format("{} waiting, {} of them polling", format_count(site.max_waiting), format_count(site.max_polling)));
  if (site.declared) {
    fact("word", std::string(analyzer::memory_name(site.word_memory)));
    fact("words", reports::words_text(site));
  }
  fact("waiting", fmt::format("{} of a waiter's time; at least one waiter waits {} of the time",
                              analyzer::format_percent(site.share), analyzer::format_percent(site.any_share)));
  const auto wake =
      std::find_if(analysis.wakes.begin(), analysis.wakes.end(), [&](const auto& w) { return w.site == id; });
  if (wake != analysis.wakes.end() && wake->matched > 0)
    fact("wake latency", fmt::format("p50 {}, p99 {}", format_duration(wake->p50_ns), format_duration(wake->p99_ns)));
  if (const std::string by = reports::released_text(analysis, id); !by.empty()) fact("released", by);
  if (const std::string why = reports::open_text(analysis, id); !why.empty()) fact("open wake edges", why);
  if (const analyzer::SitePrediction* prediction = prediction_of(analysis, id)) {
    fact("parked, predicted",
         prediction->gain ? reports::gain_text(prediction->gain) + "; " + prediction->reason : prediction->reason);
  }
  for (const analyzer::EnergyUse& meter : analysis.energy) {
    const auto of =
        std::find_if(meter.sites.begin(), meter.sites.end(), [&](const auto& s) { return s.site == site.name; });
    if (of == meter.sites.end()) continue;
    const auto& joules = of->polling.joules_per_iteration;
    fact("polling takes",
         fmt::format("{} of {}{}", reports::watts_text(of->polling.watts), analyzer::one_line(meter.meter),
                     joules ? fmt::format("; per iteration {}", reports::joules_text(*joules)) : std::string()));
  }
  for (const analyzer::StrategyStats& s : site.strategies) {
    fact(std::string(strategy_name(s.strategy)).c_str(),
         fmt::format("{} waits, p50 {}, p99 {}, {} polls per wait", format_count(s.count), format_duration(s.p50_ns),
                     format_duration(s.p99_ns), analyzer::format_number(s.polls_per_wait)));
  }
  if (site.choice) fact("auto chose", reports::choice_text(site));
  if (site.deadline_missed > 0) fact("deadlines", analyzer::count_of(site.deadline_missed, "wait") + " missed");
  std::vector<TimeNs> durations;
  analyzer::for_each_wait(model, [&](const analyzer::WaitView& wait) {
    if (wait.site != id) return;
    const TimeNs took = wait.end - wait.begin;
    durations.push_back(took);
    if (!detail.longest || took > detail.longest->end - detail.longest->begin)
      detail.longest = {{wait.host ? EventKind::host_wait : EventKind::wait, wait.row}, wait.begin, wait.end};
  });
  std::sort(durations.begin(), durations.end());
  for (const double percent : {10.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
    if (durations.empty()) break;
    // Nearest rank, like analyzer::percentile, but with one sort for all percentiles.
    const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * static_cast<double>(durations.size())));
    detail.percentiles.emplace_back(percent == 100 ? "max" : fmt::format("p{:g}", percent),
                                    durations[std::max<std::size_t>(rank, 1) - 1]);
  }
  analyzer::WaitFilter filter;
  filter.site = id;
  detail.waits = analyzer::wait_distribution(model, filter);
  return detail;
}

}  // namespace wicprof::gui
