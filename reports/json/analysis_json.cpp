#include <fmt/format.h>

#include <cstdlib>

#include "analyzer/analysis.h"
#include "analyzer/words/format.h"
#include "reports/json/activity_json.h"
#include "reports/json/answers.h"
#include "reports/json/model_json.h"
#include "reports/json/parties_json.h"
#include "reports/json/stuck_json.h"
#include "reports/json/values.h"
#include "reports/parts/verdict.h"

namespace wicprof::reports {
namespace {

Json communication_value(const CommunicationAnswer& c) {
  Json value = {{"model", model_name(c.model)},
                {"pattern", pattern_name(c.pattern)},
                {"model_confidence", c.model_confidence},
                {"pattern_confidence", c.pattern_confidence},
                {"evidence", c.evidence},
                {"period", nullptr}};
  if (!c.period.what.empty()) {
    value["period"] = {{"what", c.period.what}, {"ns", nullptr}, {"count", c.period.count}};
    if (c.period.ns > 0) value["period"]["ns"] = c.period.ns;
  }
  return value;
}

Json classification_value(const Classification& c) {
  Json value = communication_value(c);
  value["pairs"] = Json::array();
  for (const PairAnswer& pair : c.pairs) {
    Json item = communication_value(pair);
    item.update({{"first", pair.first}, {"second", pair.second}, {"forth", pair.forth}, {"back", pair.back}});
    value["pairs"].push_back(std::move(item));
  }
  value["sites"] = Json::array();
  for (const SiteAnswer& site : c.sites) {
    Json item = communication_value(site);
    item.update({{"site", site.name}, {"site_id", site.site}, {"messages", site.messages}});
    value["sites"].push_back(std::move(item));
  }
  return value;
}

Json strategy_value(const StrategyStats& stats) {
  return {{"strategy", strategy_name(stats.strategy)},
          {"count", stats.count},
          {"total_ns", stats.total_ns},
          {"p50_ns", stats.p50_ns},
          {"p99_ns", stats.p99_ns},
          {"polls", stats.polls}};
}

Json wake_value(const WakeStats& wake) {
  Json value = {{"matched", wake.matched},
                {"unmatched", wake.unmatched},
                {"p50_ns", nullptr},
                {"p99_ns", nullptr},
                {"error_ns", nullptr}};
  if (wake.matched > 0) {
    value["p50_ns"] = wake.p50_ns;
    value["p99_ns"] = wake.p99_ns;
  }
  if (wake.error_ns) value["error_ns"] = *wake.error_ns;
  return value;
}

Json choice_value(const TraceModel& model, const store::ChoiceRow& choice) {
  return {{"at_ns", choice.at},
          {"site", model.site_name(choice.site)},
          {"strategy", strategy_name(choice.strategy)},
          {"reason", choice.reason},
          {"waits", choice.waits},
          {"waiters_a_word", or_null(choice.waiters_per_word)},
          {"words", or_null(choice.words)},
          {"median_wait_ns", or_null(choice.median_wait)},
          {"look_ns", or_null(choice.look)}};
}

Json decision_value(const store::DecisionRow& row) {
  const auto ratio = [](const std::optional<std::int64_t>& ppm) {
    return ppm ? Json(static_cast<double>(*ppm) / 1e6) : Json(nullptr);
  };
  return {{"at_ns", row.at},
          {"from_ns", row.from},
          {"decision", decision_name(row.decision)},
          {"side", side_name(row.side)},
          {"strategy", strategy_name(row.strategy)},
          {"reason", row.reason},
          {"unit", row.unit},
          {"blocks", row.blocks},
          {"poll_units", row.poll_units},
          {"park_units", row.park_units},
          {"ratio", ratio(row.ratio_ppm)},
          {"low", ratio(row.low_ppm)},
          {"high", ratio(row.high_ppm)},
          {"poll_ns", or_null(row.poll)},
          {"park_ns", or_null(row.park)},
          {"poll_p99_ns", or_null(row.poll_p99)},
          {"park_p99_ns", or_null(row.park_p99)}};
}

/// Of a patched loop's site.
Json edges_value(const SiteEdges& edges) {
  Json reasons = Json::array(), candidates = Json::array();
  for (const OpenReason& each : edges.reasons) reasons.push_back({{"reason", each.text}, {"waits", each.waits}});
  for (const EdgeCandidate& each : edges.candidates) {
    candidates.push_back({{"kernel", each.kernel}, {"exact", each.exact}, {"waits", each.waits}});
  }
  return {{"copies", edges.copies}, {"memsets", edges.memsets}, {"stream_writes", edges.stream_writes},
          {"open", edges.open},     {"reasons", reasons},       {"candidates", candidates}};
}

Json site_value(const SiteStats& site, const WakeStats& wake) {
  Json value = {{"site", site.name},
                {"site_id", site.site},
                {"count", site.count},
                {"total_ns", site.total_ns},
                {"p50_ns", site.p50_ns},
                {"p99_ns", site.p99_ns},
                {"max_ns", site.max_ns},
                {"polls", site.polls},
                {"polls_per_wait", nullptr},
                {"strategy", nullptr},
                {"predicted_gain", nullptr},  // add_models() sets this and the next three
                {"predicted_gain_reason", nullptr},
                {"break_even_ns", nullptr},
                {"break_even_reason", nullptr},
                {"share", site.share},
                {"any_share", site.any_share},
                {"waiters", site.groups},
                {"host_waits", site.host_count},
                {"max_waiting", site.max_waiting},
                {"max_polling", site.max_polling},
                {"deadline_missed", site.deadline_missed},
                {"words", or_null(site.words_seen)},
                {"waiters_a_word", or_null(site.waiters_per_word)},
                {"strategy_chosen", nullptr},
                {"strategy_reason", nullptr}};
  if (site.choice) {
    value["strategy_chosen"] = strategy_name(site.choice->strategy);
    value["strategy_reason"] = site.choice->reason;
  }
  if (site.polls_per_wait) value["polls_per_wait"] = *site.polls_per_wait;
  if (const auto strategy = site.main_strategy()) value["strategy"] = strategy_name(*strategy);
  value["word_memory"] = site.declared ? Json(memory_key(site.word_memory)) : Json(nullptr);
  value["strategies"] = Json::array();
  for (const StrategyStats& stats : site.strategies) value["strategies"].push_back(strategy_value(stats));
  value["wake"] = wake_value(wake);
  value["edges"] = nullptr;
  return value;
}

Json cost_value(const std::optional<Cost>& cost) {
  if (!cost) return nullptr;
  return {{"unit", cost->unit == Cost::Unit::time ? "time" : "cpus"}, {"amount", cost->amount}};
}

Json verdict_value(const TraceVerdict& verdict) {
  static constexpr std::string_view kTones[] = {"good", "bad", "warn", "open"};
  return {{"headline", verdict.headline},
          {"tone", kTones[static_cast<std::size_t>(verdict.tone)]},
          {"cost", cost_value(verdict.cost)},
          {"detail", verdict.detail},
          {"command", verdict.command.empty() ? Json(nullptr) : Json(verdict.command)}};
}

}  // namespace

Json finding_value(const Finding& finding) {
  Json value = {{"rule", finding.rule},
                {"site", nullptr},
                {"severity", severity_name(finding.severity)},
                {"text", finding.text},
                {"evidence", finding.evidence},
                {"remedy", finding.remedy},
                {"command", finding.command.empty() ? Json(nullptr) : Json(finding.command)},
                {"cost", cost_value(finding.cost)}};
  if (!finding.site_name.empty()) value["site"] = finding.site_name;
  return value;
}

namespace {

Json reasons_value(const std::vector<StallShare>& reasons) {
  Json list = Json::array();
  for (const StallShare& share : reasons) {
    list.push_back({{"reason", share.reason}, {"samples", share.samples}, {"share", share_of(reasons, share.reason)}});
  }
  return list;
}

Json place_value(const std::string& file, std::uint32_t line) {
  return {{"file", line == 0 ? Json(nullptr) : Json(file)}, {"line", line == 0 ? Json(nullptr) : Json(line)}};
}

Json stalls_value(const FunctionStalls& function) {
  Json value = {{"device", function.device},
                {"function", function.function},
                {"symbol", function.symbol},
                {"module", fmt::format("{:016x}", function.module)},
                {"samples", function.samples},
                {"share", function.share},
                {"reasons", reasons_value(function.reasons)}};
  value["lines"] = Json::array();
  for (const SampledLine& line : function.lines) {
    Json item = place_value(line.file, line.line);
    item["samples"] = line.samples;
    value["lines"].push_back(std::move(item));
  }
  return value;
}

Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }

Json polling_loop_value(const PollingLoop& loop) {
  Json value = place_value(loop.file, loop.line);
  value.update({{"device", loop.device},
                {"function", loop.function},
                {"symbol", loop.symbol},
                {"module", fmt::format("{:016x}", loop.module)},
                {"kind", loop.from_instructions ? Json(loop_kind_name(loop.kind)) : Json(nullptr)},
                {"waits_for", text_or_null(name_of(loop.waited_for))},
                {"role", text_or_null(name_of(loop.role))},
                {"from_instructions", loop.from_instructions},
                {"confidence", loop.confidence},
                {"begin_offset", loop.begin},
                {"end_offset", loop.end},
                {"samples", loop.samples},
                {"share", loop.share},
                {"function_share", loop.function_share},
                {"behind_samples", loop.behind},
                {"behind_share", loop.behind_share},
                {"sleeps", loop.sleeps},
                {"deadline", loop.deadline},
                {"copies", loop.copies},
                {"reasons", reasons_value(loop.reasons)},
                {"evidence", loop.evidence},
                {"beside", loop.beside},
                {"sites", loop.sites},
                {"sass", loop.code}});
  return value;
}

Json sampling_value(const TraceModel& model, const Stalls& stalls) {
  Json value = {{"devices", Json::array()}, {"sass_missing", nullptr}};
  for (const DeviceSamples& device : stalls.devices) {
    value["devices"].push_back({{"device", device.device},
                                {"samples", device.samples},
                                {"dropped", device.dropped},
                                {"foreign", device.foreign}});
  }
  if (const std::string missing = model.meta_value(store::MetaKey::sass_missing); !missing.empty())
    value["sass_missing"] = missing;
  return value;
}

}  // namespace

/// Why a rule of `run --trigger` wrote the trace; null if none did.
Json dump_value(const TraceModel& model) {
  using store::MetaKey;
  const std::string rule = model.meta_value(MetaKey::dump_rule);
  if (rule.empty()) return nullptr;
  const auto number = [&](MetaKey key) {
    const std::string text = model.meta_value(key);
    return text.empty() ? Json(nullptr) : Json(std::strtoll(text.c_str(), nullptr, 10));
  };
  return {{"rule", rule},
          {"why", model.meta_value(MetaKey::dump_why)},
          {"at_ns", number(MetaKey::dump_at_ns)},
          {"value_ns", number(MetaKey::dump_value_ns)},
          {"limit_ns", number(MetaKey::dump_limit_ns)},
          {"covers_from_ns", number(MetaKey::capture_from_ns)},
          {"covers_until_ns", number(MetaKey::ended_ns)},
          {"suppressed", number(MetaKey::dump_suppressed)}};
}

Json analysis_value(const TraceModel& model, const Analysis& analysis, const Comparison* comparison) {
  Json value = {{"verdict", verdict_value(trace_verdict(model, analysis, comparison))},
                {"trace", model.name},
                {"begin_ns", model.begin},
                {"end_ns", model.end},
                {"complete", model.complete},
                {"dump", dump_value(model)},
                {"hang", hang_json(model)},
                {"classification", classification_value(analysis.classification)}};
  value["sites"] = Json::array();
  for (std::size_t i = 0; i < analysis.sites.size(); ++i) {
    value["sites"].push_back(site_value(analysis.sites[i], analysis.wakes[i]));
    for (const SiteEdges& edges : analysis.edges) {
      if (edges.site == analysis.sites[i].site) value["sites"].back()["edges"] = edges_value(edges);
    }
  }
  value["choices"] = Json::array();
  for (const store::ChoiceRow& choice : model.choices) value["choices"].push_back(choice_value(model, choice));
  value["decisions"] = Json::array();
  for (const store::DecisionRow& row : model.decisions) value["decisions"].push_back(decision_value(row));
  value["pc_sampling"] = sampling_value(model, analysis.stalls);
  value["stalls"] = Json::array();
  for (const FunctionStalls& function : analysis.stalls.functions) value["stalls"].push_back(stalls_value(function));
  value["polling_loops"] = Json::array();
  for (const PollingLoop& loop : analysis.polling_loops) value["polling_loops"].push_back(polling_loop_value(loop));
  value["mbarrier_waits"] = Json::array();
  for (const PollingLoop& loop : analysis.mbarrier_waits) value["mbarrier_waits"].push_back(polling_loop_value(loop));
  value["findings"] = Json::array();
  for (const Finding& finding : analysis.findings) value["findings"].push_back(finding_value(finding));
  value["refused"] = Json::array();
  for (const Refusal& refusal : analysis.refusals)
    value["refused"].push_back({{"rule", refusal.rule}, {"reason", refusal.reason}});
  value["loss"] = Json::array();
  for (const Loss& loss : analysis.loss) {
    value["loss"].push_back({{"name", loss.name}, {"detail", loss.detail}, {"count", loss.count}, {"text", loss.text}});
  }
  add_models(model, analysis, value);
  add_activity(model, analysis, value);
  add_parties(analysis, value);
  add_digest(model, analysis, value);
  return value;
}

std::string analysis_json(const TraceModel& model, const Analysis& analysis, const Comparison* comparison) {
  return json_document(analysis_value(model, analysis, comparison));
}

}  // namespace wicprof::reports
