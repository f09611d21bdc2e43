#include "bench/tiles/totals.h"

#include <algorithm>
#include <cmath>

#include "bench/ways.h"

namespace wicprof::bench {

namespace {

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return values.empty() ? 0 : std::exp(sum / static_cast<double>(values.size()));
}
double least(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}

}  // namespace

void TilesTotals::add_to(Claim& claim) const {
  const auto count = [](const std::vector<double>& values) -> std::map<std::string, Parameter> {
    return {{"shapes", static_cast<std::int64_t>(values.size())}};
  };
  if (!fractional.empty()) {
    const double mean = geometric_mean(fractional);
    claim.add(
        {"mlp_fractional_mean", count(fractional), mean, "geometric mean of gains",
         "the same kernels in stream order; shapes whose first kernel's last wave, after a full one, is less than "
         "three quarters full",
         mean, 1.10});
  }
  if (!tuned.empty()) {
    const double worst = least(tuned), mean = geometric_mean(tuned);
    claim.add({"tuned_worst", count(tuned), worst, "least gain of the tuner's choices",
               "the fastest plan in stream order", worst, 0.99});
    claim.add({"tuned_mean", count(tuned), mean, "geometric mean of the tuner's gains",
               "the fastest plan in stream order; cuSync's means are 1.04 to 1.12", mean, 1.04});
    for (const auto& [kind, gains] : tuned_of) {
      const double kind_mean = geometric_mean(gains);
      claim.add({"tuned_mean_" + kind, count(gains), kind_mean, "geometric mean of the tuner's gains",
                 "the fastest plan in stream order", kind_mean});
    }
  }
  if (!parked.empty()) {
    const double mean = geometric_mean(parked);
    claim.add({"parked_mean",
               {{"shapes", static_cast<std::int64_t>(parked.size())}, {"least", least(parked)}},
               mean,
               "geometric mean",
               "polling tiles; above 1: parked tiles are faster",
               mean,
               1.0});
  }
  if (!asleep.empty()) {
    const double mean = geometric_mean(asleep);
    claim.add({"asleep_mean",
               {{"shapes", static_cast<std::int64_t>(asleep.size())}, {"least", least(asleep)}},
               mean,
               "geometric mean",
               "polling tiles; above 1: tiles parked with predicted_sleep are faster",
               mean,
               1.0});
  }
  if (!napping.empty()) {
    const double mean = geometric_mean(napping);
    claim.add({"napping_mean",
               {{"shapes", static_cast<std::int64_t>(napping.size())}, {"least", least(napping)}},
               mean,
               "geometric mean",
               "polling tiles; above 1: tiles parked with leader_bar_sync are faster",
               mean});
  }
  if (!again.empty()) {
    std::vector<double> distances;
    for (const double ratio : again) distances.push_back(std::abs(ratio - 1));
    std::sort(distances.begin(), distances.end());
    claim.add({"polling_over_itself",
               {{"shapes", static_cast<std::int64_t>(again.size())},
                {"distance_from_1_median", median(distances)},
                {"distance_from_1_largest", distances.back()}},
               geometric_mean(again),
               "geometric mean",
               "the same polling tiles, measured in turn",
               geometric_mean(again)});
  }
  if (!prediction_errors.empty()) {
    const double middle = median(prediction_errors);
    claim.add({"prediction_error_median", count(prediction_errors), middle, "of the measured gain",
               "the measured gain; the ratio is the error", middle, 0.10, true});
  }
  if (!prediction_errors_of_gains.empty()) {
    const double middle = median(prediction_errors_of_gains);
    claim.add({"prediction_error_median_of_gains", count(prediction_errors_of_gains), middle,
               "of the measured gain, where it is 1.05 or more", "the measured gain; the ratio is the error", middle,
               0.10, true});
  }
  if (!cublas.empty()) {
    const double worst = least(cublas), mean = geometric_mean(cublas);
    claim.add({"gemm_over_cublas_worst", count(cublas), worst, "least speed over cuBLAS's",
               "cuBLAS's pair of products, without gelu, in stream order", worst, 0.6});
    claim.add({"gemm_over_cublas_mean", count(cublas), mean, "geometric mean of the speeds over cuBLAS's",
               "cuBLAS's pair of products, without gelu, in stream order", mean, 0.6});
  }
}

}  // namespace wicprof::bench
