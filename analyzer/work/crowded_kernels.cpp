#include "analyzer/work/crowded_kernels.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "analyzer/measure/flat_index.h"

namespace wicprof::analyzer {
namespace {

/// The sums of one kernel beside one holder.
struct CrowdSums {
  std::uint32_t kernel = 0, holder = 0;          ///< numbers of Launched
  std::uint32_t last_holder = FlatIndex::kNone;  ///< a row
  std::uint64_t launches = 0;
  TimeNs beside_ns = 0, holder_held = 0;
};

struct AloneSums {
  std::uint64_t launches = 0;
  TimeNs ns = 0;
};

bool same_stream(const store::KernelRow& a, const store::KernelRow& b) {
  return a.process == b.process && a.context == b.context && a.stream == b.stream;
}

/// Empty if the kernel has room on the SMs of the holder, or if this is not known.
std::optional<CrowdedKernel> described(const TraceModel& model, const Launched& kernel, const Launched& holder) {
  const store::DeviceRow* device = model.device(kernel.shape.device);
  CrowdedKernel crowded;
  crowded.kernel = describe(model, kernel);
  crowded.holder = describe(model, holder);
  if (device == nullptr || crowded.kernel.blocks_per_sm == 0 || crowded.holder.blocks_per_sm == 0) return std::nullopt;
  crowded.device = device->id;
  crowded.sm_count = device->sm_count;
  crowded.held_sms = static_cast<std::uint32_t>(std::min<std::uint64_t>(device->sm_count, holder.shape.blocks));
  const std::uint64_t each =
      std::clamp<std::uint64_t>(holder.shape.blocks / device->sm_count, 1, crowded.holder.blocks_per_sm);
  if (blocks_beside(*device, kernel.shape.block(), holder.shape.block(), static_cast<std::uint32_t>(each)) > 0)
    return std::nullopt;
  return crowded;
}

}  // namespace

std::vector<CrowdedKernel> crowded_kernels(const TraceModel& model, const Followers& followers,
                                           const std::vector<TimeNs>& held) {
  LaunchedNumbers kernels;
  FlatIndex pairs;
  std::vector<CrowdSums> sums;
  std::vector<AloneSums> alone;  // by number of the kernel
  const auto crowded = [&](std::uint32_t k) { return followers.beside[k] < model.kernels.size(); };
  if (std::none_of(followers.beside.begin(), followers.beside.end(),
                   [&](std::uint32_t other) { return other < model.kernels.size(); }))
    return {};
  for (std::uint32_t k = 0; k < model.kernels.size(); ++k) {
    const store::KernelRow& kernel = model.kernels[k];
    if (kernel.is_graph() || held[k] > 0 || kernel.start <= 0 || kernel.end < kernel.start) continue;
    if (followers.beside[k] == Followers::kAlone) {
      const std::uint32_t number = kernels.number(kernel);
      if (number >= alone.size()) alone.resize(number + 1);
      ++alone[number].launches;
      alone[number].ns += kernel.end - kernel.start;
    } else if (crowded(k) && !same_stream(kernel, model.kernels[followers.beside[k]])) {
      const std::uint32_t row = followers.beside[k];
      const std::uint32_t number = kernels.number(kernel), holder = kernels.number(model.kernels[row]);
      const std::uint32_t at = pairs.number((std::uint64_t{number} << 32) | holder);
      if (at == sums.size()) sums.push_back({number, holder});
      CrowdSums& sum = sums[at];
      ++sum.launches;
      sum.beside_ns += kernel.end - kernel.start;
      if (sum.last_holder != row) sum.holder_held += held[row];
      sum.last_holder = row;
    }
  }
  if (sums.size() > kMostCrowded) {
    std::nth_element(sums.begin(), sums.begin() + kMostCrowded, sums.end(),
                     [](const CrowdSums& a, const CrowdSums& b) { return a.beside_ns > b.beside_ns; });
    sums.resize(kMostCrowded);
  }
  std::vector<CrowdedKernel> found;
  for (const CrowdSums& sum : sums) {
    std::optional<CrowdedKernel> one = described(model, kernels[sum.kernel], kernels[sum.holder]);
    if (!one) continue;
    one->launches = sum.launches;
    one->beside_ns = sum.beside_ns;
    one->holder_held_sm_ns = sum.holder_held;
    if (sum.kernel < alone.size() && alone[sum.kernel].launches > 0) {
      one->alone = alone[sum.kernel].launches;
      one->alone_ns = alone[sum.kernel].ns;
      const double count = static_cast<double>(sum.launches);
      one->carve_out = crowded_gain(static_cast<double>(sum.beside_ns),
                                    count * static_cast<double>(one->alone_ns) / static_cast<double>(one->alone),
                                    one->sm_count, one->held_sms);
    }
    found.push_back(std::move(*one));
  }
  std::sort(found.begin(), found.end(), [](const CrowdedKernel& a, const CrowdedKernel& b) {
    const auto key = [](const CrowdedKernel& one) {
      return std::tuple(one.carve_out ? -one.carve_out->high : 0, -one.beside_ns, std::string_view(one.kernel.name),
                        std::string_view(one.holder.name), one.kernel.blocks, one.holder.blocks, one.device);
    };
    return key(a) < key(b);
  });
  return found;
}

}  // namespace wicprof::analyzer
