#include "reports/json/model_json.h"

namespace wicprof::reports {
namespace {

Json null_if_empty(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

/// A sum over some of the waits; null if there are none.
Json sum_or_null(std::uint64_t over, TimeNs sum) { return over > 0 ? Json(sum) : Json(nullptr); }

Json waits_value(const TraceModel& model, const SiteWaits& part) {
  const WaitSums& sums = part.sums;
  const auto mean = [](TimeNs sum, std::uint64_t count) {
    return count > 0 ? Json(static_cast<double>(sum) / static_cast<double>(count)) : Json(nullptr);
  };
  return {{"site", part.site == 0 ? Json(nullptr) : Json(model.site_name(part.site))},
          {"mode", mode_name(part.mode)},
          {"span_ns", part.span_ns},
          {"waiters", part.waiters},
          {"waits", sums.waits},
          {"host_waits", sums.host_waits},
          {"matched", sums.matched},
          {"scenario_1", sums.data_first},
          {"scenario_2", sums.consumer_first},
          {"undecided", sums.undecided},
          {"waiting_ns", sums.waiting_ns},
          {"producer_late_ns", sum_or_null(sums.matched, sums.producer_late_ns)},
          {"wake_ns", sum_or_null(sums.matched, sums.wake_ns)},
          {"wake_shared_ns", sum_or_null(sums.shared_signals_waits, sums.wake_shared_ns)},
          {"wake_own_ns", sum_or_null(sums.shared_signals_waits, sums.wake_own_ns)},
          {"mean_t_p_minus_t_c_ns", mean(sums.lead_ns, sums.matched)},
          {"transfers", sums.transfers},
          {"transfer_ns", sum_or_null(sums.transfers, sums.transfer_ns)},
          {"polls_per_wait", mean(static_cast<TimeNs>(sums.polls), sums.waits_with_polls)},
          {"consumer_share", or_null(part.consumer_share)},
          {"producer_share", or_null(part.producer_share)}};
}

Json wait_model_value(const TraceModel& model, const Analysis& analysis) {
  Json value = {{"sites", Json::array()}, {"program", Json::array()}};
  for (const SiteWaits& part : analysis.site_waits) value["sites"].push_back(waits_value(model, part));
  for (const auto* part : {&analysis.polled, &analysis.parked}) {
    if (*part) value["program"].push_back(waits_value(model, **part));
  }
  return value;
}

Json interference_value(const TraceModel& model, const Interference& interference) {
  Json value = {{"missing", null_if_empty(interference.missing)}, {"works", Json::array()}};
  for (const SlowedWork& work : interference.works) {
    value["works"].push_back(
        {{"device", model.device_key(work.device)},
         {"work", work.what},
         {"by_toggle", work.by_toggle},
         {"slowdown", {{"value", work.slowdown.value}, {"low", work.slowdown.low}, {"high", work.slowdown.high}}},
         {"many", {{"spans", work.many_spans}, {"pollers", work.many_pollers}, {"p50_ns", work.many_p50_ns}}},
         {"few", {{"spans", work.few_spans}, {"pollers", work.few_pollers}, {"p50_ns", work.few_p50_ns}}}});
  }
  return value;
}

Json overlap_value(const Overlaps& overlaps) {
  Json value = {{"missing", null_if_empty(overlaps.missing)}, {"modes", Json::array()}};
  for (const Overlap& part : overlaps.modes) {
    value["modes"].push_back({{"mode", mode_name(part.mode)},
                              {"waits", part.waits},
                              {"waiting_ns", part.waiting_ns},
                              {"share", part.seen},
                              {"share_at_most", or_null(part.at_most)}});
  }
  return value;
}

Json path_value(const CriticalPath& path) {
  Json value = {{"missing", null_if_empty(path.missing)},
                {"length_ns", path.length_ns},
                {"segments", path.segments.size()},
                {"shares", Json::array()},
                {"notes", path.notes}};
  for (const PathShare& share : path.shares) {
    value["shares"].push_back({{"kind", path_kind_name(share.kind)},
                               {"where", share.where},
                               {"count", share.count},
                               {"total_ns", share.total_ns},
                               {"share", share.share}});
  }
  return value;
}

}  // namespace

Json gain_value(const std::optional<Gain>& gain) {
  if (!gain) return nullptr;
  return {{"value", gain->value}, {"low", gain->low}, {"high", gain->high}};
}

Json bounds_value(const std::optional<Gain>& bounds) {
  if (!bounds) return nullptr;
  return {{"low", bounds->low}, {"high", bounds->high}};
}

void add_models(const TraceModel& model, const Analysis& analysis, Json& value) {
  for (std::size_t i = 0; i < analysis.prediction.sites.size(); ++i) {
    const SitePrediction& prediction = analysis.prediction.sites[i];
    Json& site = value["sites"][i];
    site["predicted_gain"] = gain_value(prediction.gain);
    site["predicted_gain_bounds"] = bounds_value(prediction.bounds);
    site["predicted_gain_reason"] = prediction.reason;
    site["break_even_ns"] = or_null(prediction.break_even_ns);
    site["break_even_reason"] = prediction.break_even_reason;
  }
  value["wait_model"] = wait_model_value(model, analysis);
  value["interference"] = interference_value(model, analysis.interference);
  value["overlap"] = overlap_value(analysis.overlaps);
  value["critical_path"] = path_value(analysis.path);
  value["prediction"] = {{"gain", gain_value(analysis.prediction.program)},
                         {"bounds", bounds_value(analysis.prediction.bounds)},
                         {"reason", analysis.prediction.reason},
                         {"path_ns", analysis.prediction.path_ns}};
}

}  // namespace wicprof::reports
