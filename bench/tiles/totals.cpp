#include "bench/tiles/totals.h"

#include <algorithm>
#include <cmath>
#include <optional>

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

std::map<std::string, Parameter> count(const std::vector<double>& values) {
  return {{"shapes", static_cast<std::int64_t>(values.size())}};
}

/// Half of the 95 % interval of the mean of the logarithms, for many values (a normal distribution's 1.96).
double half_of_interval(const std::vector<double>& values) {
  const double middle = std::log(geometric_mean(values)), count = static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (std::log(value) - middle) * (std::log(value) - middle);
  return values.size() < 2 ? 0 : 1.96 * std::sqrt(squares / (count - 1) / count);
}

/// A row with the geometric mean of `ratios` to `compared_to` and its 95 % interval over the shapes, if there are any.
void add_mean(Claim& claim, const std::string& name, const std::vector<double>& ratios, const std::string& unit,
              const std::string& compared_to, std::optional<double> bar = {}) {
  if (ratios.empty()) return;
  std::map<std::string, Parameter> params = count(ratios);
  params["least"] = least(ratios);
  const double mean = geometric_mean(ratios), half = std::exp(half_of_interval(ratios));
  params["low"] = mean / half;
  params["high"] = mean * half;
  claim.add({name, params, mean, unit, compared_to, mean, bar});
}
/// A row with the least of them.
void add_least(Claim& claim, const std::string& name, const std::vector<double>& ratios, const std::string& unit,
               const std::string& compared_to, double bar) {
  if (!ratios.empty()) claim.add({name, count(ratios), least(ratios), unit, compared_to, least(ratios), bar});
}
/// A row with the median of the predictions' errors.
void add_error(Claim& claim, const std::string& name, const std::vector<double>& errors, const std::string& unit) {
  if (errors.empty()) return;
  const double middle = median(errors);
  claim.add({name, count(errors), middle, unit, "the measured gain; the ratio is the error", middle, 0.10, true});
}

}  // namespace

void TilesTotals::add_to(Claim& claim) const {
  add_mean(claim, "mlp_fractional_mean", fractional, "geometric mean of gains",
           "the same kernels in stream order; shapes whose first kernel's last wave, after a full one, is less than "
           "three quarters full",
           1.10);
  add_least(claim, "tuned_worst", tuned, "least gain of the tuner's choices", "the fastest plan in stream order", 0.99);
  add_mean(claim, "tuned_mean", tuned, "geometric mean of the tuner's gains",
           "the fastest plan in stream order; cuSync's means are 1.04 to 1.12", 1.04);
  for (const auto& [kind, gains] : tuned_of) {
    add_mean(claim, "tuned_mean_" + kind, gains, "geometric mean of the tuner's gains",
             "the fastest plan in stream order");
  }
  add_mean(claim, "parked_mean", parked, "geometric mean", "polling tiles; above 1: parked tiles are faster", 1.0);
  add_mean(claim, "asleep_mean", asleep, "geometric mean",
           "polling tiles; above 1: tiles parked with predicted_sleep are faster", 1.0);
  add_mean(claim, "napping_mean", napping, "geometric mean",
           "polling tiles; above 1: tiles parked with leader_bar_sync are faster");
  if (!again.empty()) {
    std::vector<double> distances;
    for (const double ratio : again) distances.push_back(std::abs(ratio - 1));
    std::sort(distances.begin(), distances.end());
    std::map<std::string, Parameter> params = count(again);
    params["distance_from_1_median"] = median(distances);
    params["distance_from_1_largest"] = distances.back();
    const double mean = geometric_mean(again), half = std::exp(half_of_interval(again));
    params["low"] = mean / half;
    params["high"] = mean * half;
    claim.add(
        {"polling_over_itself", params, mean, "geometric mean", "the same polling tiles, measured in turn", mean});
  }
  add_error(claim, "prediction_error_median", prediction_errors, "of the measured gain");
  add_error(claim, "prediction_error_median_of_gains", prediction_errors_of_gains,
            "of the measured gain, where it is 1.05 or more");
  const std::string pair = "cuBLAS's pair of products, without gelu, in stream order";
  add_least(claim, "gemm_over_cublas_worst", cublas, "least speed over cuBLAS's", pair, 0.6);
  add_mean(claim, "gemm_over_cublas_mean", cublas, "geometric mean of the speeds over cuBLAS's", pair, 0.6);
}

}  // namespace wicprof::bench
