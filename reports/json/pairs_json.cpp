#include "reports/json/pairs_json.h"

#include <algorithm>
#include <cmath>

namespace wicprof::reports {
namespace {

std::int64_t whole_ns(double ns) { return std::llround(std::clamp(ns, 0.0, 9e18)); }

Json bound_value(const Bound& bound) {
  return {{"value", whole_ns(bound.value)}, {"low", whole_ns(bound.low)}, {"high", whole_ns(bound.high)}};
}

Json bound_or_null(const std::optional<Bound>& bound) { return bound ? bound_value(*bound) : Json(nullptr); }

template <class Number>
Json known_or_null(Number value) {
  return value > 0 ? Json(value) : Json(nullptr);
}

Json kernel_value_of(const PairKernel& kernel) {
  return {{"name", kernel.name},
          {"blocks", kernel.blocks},
          {"threads_per_block", kernel.threads_per_block},
          {"blocks_per_sm", known_or_null(kernel.blocks_per_sm)},
          {"blocks_per_cluster", known_or_null(kernel.blocks_per_cluster)},
          {"persistent", kernel.persistent},
          {"waves", known_or_null(kernel.waves)},
          {"last_wave_fill", known_or_null(kernel.last_wave_fill)}};
}

Json pair_value(const TraceModel& model, const DependentPair& pair) {
  const std::string_view unknown = no_waves_reason(pair.why);
  return {{"producer", kernel_value_of(pair.producer)},
          {"consumer", kernel_value_of(pair.consumer)},
          {"device", model.device_key(pair.device)},
          {"launches", pair.launches},
          {"in_graphs", pair.in_graphs},
          {"producer_ns", pair.producer_ns},
          {"consumer_ns", pair.consumer_ns},
          {"gap_ns", pair.gap_ns},
          {"early", pair.early},
          {"overlap_ns", pair.overlap_ns},
          {"beside", pair.beside},
          {"waiting", pair.waiting},
          {"producer_held_sm_ns", pair.producer_held_sm_ns},
          {"consumer_held_sm_ns", pair.consumer_held_sm_ns},
          {"unknown", unknown.empty() ? Json(nullptr) : Json(unknown)},
          {"idle_sm_ns", bound_or_null(pair.idle_sm_ns)},
          {"prologue_at_most_ns", pair.prologue_at_most_ns ? Json(whole_ns(*pair.prologue_at_most_ns)) : Json(nullptr)},
          {"tiles_ns", bound_or_null(pair.tiles)},
          {"dependent_ns", pair.launches > 0 ? bound_value(pair.dependent) : Json(nullptr)},
          {"carve_out_ns", bound_or_null(pair.carve_out)},
          {"carve_out_sms", known_or_null(pair.carve_out_sms)}};
}

}  // namespace

Json dependent_kernels_value(const TraceModel& model, const DependentKernels& kernels) {
  Json value = {{"launches", kernels.launches},
                {"early", kernels.early},
                {"beside", kernels.beside},
                {"waiting", kernels.waiting},
                {"late", kernels.late},
                {"after_copy", kernels.after_copy},
                {"tiles_ns", bound_value(kernels.tiles)},
                {"dependent_ns", bound_value(kernels.dependent)},
                {"carve_out_ns", bound_value(kernels.carve_out)},
                {"pairs", Json::array()},
                {"pairs_left_out", kernels.pairs_left_out}};
  for (const DependentPair& pair : kernels.pairs) value["pairs"].push_back(pair_value(model, pair));
  return value;
}

Json crowded_kernel_value(const TraceModel& model, const CrowdedKernel& crowded) {
  return {{"kernel", kernel_value_of(crowded.kernel)},
          {"holder", kernel_value_of(crowded.holder)},
          {"device", model.device_key(crowded.device)},
          {"held_sms", crowded.held_sms},
          {"launches", crowded.launches},
          {"beside_ns", crowded.beside_ns},
          {"alone", crowded.alone},
          {"alone_ns", crowded.alone_ns},
          {"holder_held_sm_ns", crowded.holder_held_sm_ns},
          {"carve_out_ns", bound_or_null(crowded.carve_out)}};
}

}  // namespace wicprof::reports
