#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/words/change.h"
#include "analyzer/words/decision.h"
#include "analyzer/words/format.h"
#include "reports/parts/phrases.h"
#include "reports/parts/tables.h"

namespace wicprof::reports {
namespace {

/// A site with what else is known of it, or the part of a strategy in it.
struct SiteRow {
  const SiteStats* site;
  const WakeStats* wake;
  const SitePrediction* prediction;
  const StrategyStats* part = nullptr;
};

std::vector<SiteRow> site_rows(const Analysis& analysis, std::size_t most) {
  std::vector<SiteRow> rows;
  for (std::size_t i = 0; i < std::min(most, analysis.sites.size()); ++i) {
    rows.push_back({&analysis.sites[i], i < analysis.wakes.size() ? &analysis.wakes[i] : nullptr,
                    i < analysis.prediction.sites.size() ? &analysis.prediction.sites[i] : nullptr});
  }
  return rows;
}

Cell site_name(const SiteRow& row) {
  if (row.part != nullptr) return "";
  Cell cell = cell::name(row.site->name);
  cell.remark = row.site->declared ? memory_name(row.site->word_memory) : "memory of its word not recorded";
  return cell;
}

Cell wake_of(const SiteRow& row) {
  if (row.part != nullptr) return "";
  return row.wake != nullptr && row.wake->matched > 0 ? cell::duration(row.wake->p50_ns) : "-";
}

Cell gain_of(const SiteRow& row) {
  if (row.part != nullptr) return "";
  const bool known = row.prediction != nullptr && row.prediction->gain;
  return known ? Cell(change_text(1 / row.prediction->gain->value), row.prediction->gain->value) : Cell("-");
}

Cell strategy_of(const SiteRow& row) {
  if (row.part != nullptr) return strategy_name(row.part->strategy);
  return row.site->strategies.size() > 1 ? Cell("mixed:") : Cell(strategy_mix(*row.site));
}

/// The columns of an answer about communication.
template <class Row>
std::vector<Field<Row>> with_answer(std::vector<Field<Row>> fields) {
  const auto confidence = [](double value) { return value > 0 ? cell::number(value) : Cell("-"); };
  const auto period = [](const CommunicationAnswer& c) {
    return c.period.what + (c.period.ns > 0 ? ", every " + format_duration(c.period.ns) : "");
  };
  const std::vector<Field<Row>> answer{
      {"model", 'l', [](const Row& c) { return model_name(c.model); }},
      {"confidence", 'r', [=](const Row& c) { return confidence(c.model_confidence); }, On::pages},
      {"pattern", 'l', [](const Row& c) { return pattern_name(c.pattern); }},
      {"confidence", 'r', [=](const Row& c) { return confidence(c.pattern_confidence); }, On::pages},
      {"iteration", 'l', period, On::pages}};
  fields.insert(fields.end(), answer.begin(), answer.end());
  return fields;
}

}  // namespace

Table sites_table(const Analysis& analysis, std::size_t most) {
  std::vector<SiteRow> rows;
  for (const SiteRow& site : site_rows(analysis, most)) {
    rows.push_back(site);
    if (site.site->strategies.size() < 2) continue;
    for (const StrategyStats& part : site.site->strategies) rows.push_back({site.site, site.wake, nullptr, &part});
  }
  /// What a site and a strategy's part of it both know.
  const auto both = [](auto get) {
    return [get](const SiteRow& r) { return r.part != nullptr ? get(*r.part) : get(*r.site); };
  };
  /// What only a site knows.
  const auto site = [](auto get) {
    return [get](const SiteRow& r) { return r.part != nullptr ? Cell() : Cell(get(*r.site)); };
  };
  Table table =
      table_of<SiteRow>("wait site", rows, rows.size(),
                        {{"wait site", 'l', site_name},
                         {"waits", 'r', both([](const auto& s) { return cell::count(s.count); })},
                         {"waiters", 'r', site([](const SiteStats& s) { return cell::count(s.groups); }), On::pages},
                         {"words", 'l', site(words_text), On::pages},
                         {"total", 'r', both([](const auto& s) { return cell::duration(s.total_ns); })},
                         {"share", 'r', site([](const SiteStats& s) { return cell::percent(s.share); })},
                         {"any", 'r', site([](const SiteStats& s) { return cell::percent(s.any_share); }), On::pages},
                         {"p50", 'r', both([](const auto& s) { return cell::duration(s.p50_ns); })},
                         {"p99", 'r', both([](const auto& s) { return cell::duration(s.p99_ns); })},
                         {"polls", 'r', both([](const auto& s) { return cell::number(s.polls_per_wait); })},
                         {"wake latency", 'r', wake_of, On::pages},
                         {"gain", 'r', gain_of, On::pages},
                         {"strategy", 'l', strategy_of}});
  table.all = analysis.sites.size() + rows.size() - std::min(most, analysis.sites.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    table.rows[i].part = rows[i].part != nullptr;
    if (!table.rows[i].part) table.rows[i].id = fmt::format("site-{}", rows[i].site->site);
  }
  return table;
}

Table wakes_table(const Analysis& analysis, std::size_t most) {
  std::vector<SiteRow> rows = site_rows(analysis, most);
  std::erase_if(rows, [](const SiteRow& row) { return row.wake == nullptr || row.wake->matched == 0; });
  return table_of<SiteRow>(
      "wait site", rows, most,
      {{"wake latency", 'l', [](const SiteRow& r) { return cell::name(r.site->name); }},
       {"matched", 'r', [](const SiteRow& r) { return cell::count(r.wake->matched); }},
       {"p50", 'r', [](const SiteRow& r) { return cell::duration(r.wake->p50_ns); }},
       {"p99", 'r', [](const SiteRow& r) { return cell::duration(r.wake->p99_ns); }},
       {"clock error", 'r',
        [](const SiteRow& r) { return r.wake->error_ns ? "+-" + format_duration(*r.wake->error_ns) : "unknown"; }},
       {"without a signal", 'r',
        [](const SiteRow& r) { return r.wake->unmatched > 0 ? cell::count(r.wake->unmatched) : "-"; }}});
}

Table words_table(const Analysis& analysis, std::size_t most) {
  std::vector<SiteRow> rows = site_rows(analysis, most);
  std::erase_if(rows, [](const SiteRow& row) { return !row.site->words_seen; });
  return table_of<SiteRow>(
      "wait site", rows, most,
      {{"words waited on", 'l', [](const SiteRow& r) { return cell::name(r.site->name); }},
       {"words", 'l', [](const SiteRow& r) { return words_text(*r.site); }},
       {"memory", 'l', [](const SiteRow& r) { return r.site->declared ? memory_name(r.site->word_memory) : "-"; }}});
}

namespace {

Cell counted_cell(const CountedWaits& counted) {
  if (!counted.counted || !counted.standard_error) {
    return Cell(fmt::format("at least {}: too few sampled", counted.at_least));
  }
  const auto error = static_cast<std::uint64_t>(std::llround(*counted.standard_error));
  return {fmt::format("about {} +- {}", format_count(*counted.counted), format_count(error)),
          static_cast<double>(*counted.counted)};
}

}  // namespace

Table counted_waits_table(const Analysis& analysis, std::size_t most) {
  return table_of<CountedWaits>(
      "site", analysis.counted_waits, most,
      {{"counted at", 'l', [](const CountedWaits& c) { return cell::name(c.name); }},
       {"counted", 'r', counted_cell},
       {"of 20 us or more", 'r', [](const CountedWaits& c) { return cell::count(c.longer); }},
       {"recorded", 'r', [](const CountedWaits& c) { return cell::count(c.recorded); }},
       {"sample", 'r', [](const CountedWaits& c) { return cell::count(c.sampled); }},
       {"estimated rounds", 'r', [](const CountedWaits& c) { return cell::number(c.rounds); }, On::pages},
       {"estimated mean", 'r', [](const CountedWaits& c) { return cell::duration(c.mean_ns); }},
       {"estimated time", 'r', [](const CountedWaits& c) { return cell::duration(c.time_ns); }}});
}

Table wait_model_table(const TraceModel& model, const Analysis& analysis, std::size_t most) {
  const auto before_data = [](const SiteWaits& w) {
    const std::uint64_t decided = w.sums.data_first + w.sums.consumer_first;
    return decided == 0 ? Cell("-")
                        : cell::percent(static_cast<double>(w.sums.consumer_first) / static_cast<double>(decided));
  };
  return table_of<SiteWaits>(
      "site", analysis.site_waits, most,
      {{"parts of a wait", 'l', [&](const SiteWaits& w) { return cell::name(std::string(model.site_name(w.site))); }},
       {"mode", 'l', [](const SiteWaits& w) { return mode_name(w.mode); }},
       {"waits", 'r', [](const SiteWaits& w) { return cell::count(w.sums.waits); }},
       {"share of its time", 'r', [](const SiteWaits& w) { return cell::percent(w.consumer_share); }},
       {"came before its data", 'r', before_data},
       {"until the signal", 'r',
        [](const SiteWaits& w) { return cell::mean(w.sums.producer_late_ns, w.sums.matched); }},
       {"wake latency", 'r', [](const SiteWaits& w) { return cell::mean(w.sums.wake_ns, w.sums.matched); }},
       {"transfer", 'r', [](const SiteWaits& w) { return cell::mean(w.sums.transfer_ns, w.sums.transfers); }}});
}

Table pairs_table(const Classification& classification, std::size_t most) {
  return table_of<PairAnswer>(
      "pair", classification.pairs, most,
      with_answer<PairAnswer>({{"between", 'l', [](const PairAnswer& p) { return p.first; }},
                               {"and", 'l', [](const PairAnswer& p) { return p.second; }},
                               {"forth", 'r', [](const PairAnswer& p) { return cell::count(p.forth); }},
                               {"back", 'r', [](const PairAnswer& p) { return cell::count(p.back); }}}));
}

Table site_communication_table(const Classification& classification, std::size_t most) {
  return table_of<SiteAnswer>(
      "site", classification.sites, most,
      with_answer<SiteAnswer>({{"wait site", 'l', [](const SiteAnswer& s) { return cell::name(s.name); }},
                               {"messages", 'r', [](const SiteAnswer& s) { return cell::count(s.messages); }}}));
}

Table interventions_table(const TraceModel& model, std::size_t most) {
  using Row = store::InterventionRow;
  return table_of<Row>("intervention", model.interventions, most,
                       {{"switched at", 'r', [&](const Row& r) { return cell::duration(r.requested - model.begin); }},
                        {"how", 'l', [&](const Row& r) { return intervention_text(model, r); }},
                        {"took effect after", 'r', [](const Row& r) { return cell::duration(took_effect_after(r)); }}});
}

Table decisions_table(const TraceModel& model, std::size_t most) {
  using Row = store::DecisionRow;
  const auto change = [](const std::optional<TimeNs>& polled, const std::optional<TimeNs>& parked) -> Cell {
    return polled && parked ? format_duration(*polled) + " -> " + format_duration(*parked) : std::string();
  };
  return table_of<Row>(
      "decision of the autopilot", model.decisions, most,
      {{"decision of the autopilot", 'l', [](const Row& r) { return std::string(decision_name(r.decision)); }},
       {"decided at", 'r', [&](const Row& r) { return cell::duration(r.at - model.begin); }},
       {"whose waits", 'l', [](const Row& r) { return std::string(side_name(r.side)); }},
       {"polled / parked", 'l', [](const Row& r) { return analyzer::decision_ratio(r); }},
       {"per unit", 'r', [&](const Row& r) { return change(r.poll, r.park); }},
       {"p99 of the units", 'r', [&](const Row& r) { return change(r.poll_p99, r.park_p99); }},
       {"reason", 'l', [](const Row& r) { return one_line(r.reason); }}});
}

}  // namespace wicprof::reports
