#include "analyzer/work/dependent_kernels.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "analyzer/measure/flat_index.h"
#include "analyzer/work/launch_shape.h"

namespace wicprof::analyzer {
namespace {

/// The sums of one pair.
struct PairSums {
  std::uint32_t producer = 0, consumer = 0;  ///< numbers of Launched
  std::uint64_t launches = 0, in_graphs = 0, early = 0, beside = 0, waiting = 0;
  TimeNs producer_ns = 0, consumer_ns = 0, gap_ns = 0, overlap_ns = 0, producer_held = 0, consumer_held = 0;
};

/// See KernelPair::packing.
double packing(const store::DeviceRow& device, const DependentPair& pair, const LaunchShape& producer,
               const LaunchShape& consumer) {
  double most = 1;
  const std::uint32_t fit = places_per_sm(pair.producer, device.sm_count),
                      own = places_per_sm(pair.consumer, device.sm_count);
  for (std::uint32_t blocks = 0; blocks <= fit; ++blocks) {
    const std::uint32_t beside = std::min(own, blocks_beside(device, consumer.block(), producer.block(), blocks));
    most = std::max(most, static_cast<double>(blocks) / fit + static_cast<double>(beside) / own);
  }
  return most;
}

Bound scaled(const Bound& bound, double count) { return {bound.value * count, bound.low * count, bound.high * count}; }

void add_to(Bound& sum, const Bound& bound) {
  sum.value += bound.value;
  sum.low += bound.low;
  sum.high += bound.high;
}

NoWaves why_no_waves(const DependentPair& pair) {
  if (pair.launches == 0) return NoWaves::no_launches;
  for (const PairKernel* kernel : {&pair.producer, &pair.consumer})
    if (kernel->blocks_per_sm == 0) return NoWaves::no_limits;
  for (const PairKernel* kernel : {&pair.producer, &pair.consumer})
    if (kernel->waves <= 0) return kernel->blocks_per_cluster > 1 ? NoWaves::clusters : NoWaves::no_limits;
  return NoWaves::known;
}

/// Computes the gain of the mean launch, so that the time does not depend on the number of launches. The high ends stay
/// bounds: each is a concave function of the three times.
void estimate(const TraceModel& model, const LaunchShape& producer, const LaunchShape& consumer, DependentPair& pair) {
  pair.why = why_no_waves(pair);
  if (pair.launches == 0) return;
  const double count = static_cast<double>(pair.launches);
  KernelPair mean;
  mean.producer = {pair.producer.blocks, 0, static_cast<double>(pair.producer_ns) / count};
  mean.consumer = {pair.consumer.blocks, 0, static_cast<double>(pair.consumer_ns) / count};
  mean.gap_ns = static_cast<double>(pair.gap_ns) / count;
  std::optional<PairGain> gain;
  if (pair.why == NoWaves::known) {
    const store::DeviceRow& device = *model.device(pair.device);
    mean.sm_count = pair.sm_count = device.sm_count;
    mean.producer.blocks_per_sm = places_per_sm(pair.producer, device.sm_count);
    mean.consumer.blocks_per_sm = places_per_sm(pair.consumer, device.sm_count);
    mean.packing = packing(device, pair, producer, consumer);
    gain = pair_gain(mean);
    if (!gain) pair.why = NoWaves::no_launches;  // they took no time
  }
  if (!gain) {
    pair.dependent = scaled(dependent_gain(mean), count);
    return;
  }
  pair.dependent = scaled(gain->dependent, count);
  pair.tiles = scaled(gain->tiles, count);
  pair.carve_out = scaled(gain->carve_out, count);
  pair.idle_sm_ns = scaled(gain->idle_sm_ns, count);
  pair.prologue_at_most_ns = gain->prologue_at_most_ns * count;
  pair.carve_out_sms = gain->carve_out_sms;
}

DependentPair described(const TraceModel& model, const LaunchedNumbers& kernels, const PairSums& sums) {
  const Launched &producer = kernels[sums.producer], &consumer = kernels[sums.consumer];
  DependentPair pair;
  pair.producer = describe(model, producer);
  pair.consumer = describe(model, consumer);
  pair.device = producer.shape.device;
  pair.launches = sums.launches;
  pair.in_graphs = sums.in_graphs;
  pair.early = sums.early;
  pair.beside = sums.beside;
  pair.waiting = sums.waiting;
  pair.producer_ns = sums.producer_ns;
  pair.consumer_ns = sums.consumer_ns;
  pair.gap_ns = sums.gap_ns;
  pair.overlap_ns = sums.overlap_ns;
  pair.producer_held_sm_ns = sums.producer_held;
  pair.consumer_held_sm_ns = sums.consumer_held;
  estimate(model, producer.shape, consumer.shape, pair);
  return pair;
}

}  // namespace

std::string_view no_waves_reason(NoWaves why) {
  switch (why) {
    case NoWaves::no_limits:
      return "the trace lacks the device's limits, which determine how many blocks fit";
    case NoWaves::clusters:
      return "a kernel has clusters, and how many of these fit at once is not in the trace";
    case NoWaves::no_launches:
      return "each launch of the pair started early, ran beside a third kernel, or has waits inside";
    case NoWaves::known:
      break;
  }
  return {};
}

double DependentPair::best_ns() const {
  return std::max({dependent.value, tiles ? tiles->value : 0, carve_out ? carve_out->value : 0});
}

bool DependentPair::worth_naming(double whole_ns) const {
  return whole_ns > 0 && best_ns() / whole_ns >= kWorthNamingPair;
}

DependentKernels dependent_kernels(const TraceModel& model, const Followers& followers,
                                   const std::vector<TimeNs>& held) {
  LaunchedNumbers kernels;
  DependentKernels found;
  found.late = followers.late;
  found.after_copy = followers.after_copy;
  FlatIndex pairs;
  std::vector<PairSums> sums;
  std::uint32_t last = FlatIndex::kNone, last_number = 0;  // a consumer is mostly the next pair's producer
  for (const Follower& follower : followers.list) {
    const store::KernelRow &before = model.kernels[follower.before], &after = model.kernels[follower.after];
    if (before.device != after.device) continue;  // damaged
    const std::uint32_t first = follower.before == last ? last_number : kernels.number(before),
                        second = kernels.number(after);
    last = follower.after;
    last_number = second;
    const std::uint32_t at = pairs.number((std::uint64_t{first} << 32) | second);
    if (at == sums.size()) sums.push_back({first, second});
    PairSums& sum = sums[at];
    sum.producer_held += held[follower.before];
    sum.consumer_held += held[follower.after];
    if (follower.how == Following::early) {
      ++sum.early;
      sum.overlap_ns += std::min(before.end, after.end) - after.start;
    } else if (follower.how == Following::beside) {
      ++sum.beside;
    } else if (held[follower.before] > 0 || held[follower.after] > 0) {
      ++sum.waiting;
    } else {
      ++sum.launches;
      if (before.graph != 0 && before.graph == after.graph && before.correlation == after.correlation) ++sum.in_graphs;
      sum.producer_ns += before.end - before.start;
      sum.consumer_ns += after.end - after.start;
      sum.gap_ns += after.start - before.end;
    }
  }
  for (const PairSums& sum : sums) {
    found.launches += sum.launches;
    found.early += sum.early;
    found.beside += sum.beside;
    found.waiting += sum.waiting;
  }

  // Of very many pairs, describes those that take the most time.
  if (sums.size() > kMostPairs) {
    const auto time = [](const PairSums& sum) { return sum.producer_ns + sum.consumer_ns + sum.overlap_ns; };
    std::nth_element(sums.begin(), sums.begin() + kMostPairs, sums.end(),
                     [&](const PairSums& a, const PairSums& b) { return time(a) > time(b); });
    found.pairs_left_out = sums.size() - kMostPairs;
    sums.resize(kMostPairs);
  }
  for (const PairSums& sum : sums) found.pairs.push_back(described(model, kernels, sum));
  std::sort(found.pairs.begin(), found.pairs.end(), [](const DependentPair& a, const DependentPair& b) {
    const auto key = [](const DependentPair& pair) {
      return std::tuple(-pair.best_ns(), -pair.producer_ns - pair.consumer_ns, -pair.overlap_ns,
                        std::string_view(pair.producer.name), std::string_view(pair.consumer.name),
                        pair.producer.blocks, pair.consumer.blocks, pair.device);
    };
    return key(a) < key(b);
  });
  for (const DependentPair& pair : found.pairs) {
    add_to(found.dependent, pair.dependent);
    if (pair.tiles) add_to(found.tiles, *pair.tiles);
    if (pair.carve_out) add_to(found.carve_out, *pair.carve_out);
  }
  return found;
}

std::vector<WaveBar> wave_bars(const DependentPair& pair) {
  if (pair.why != NoWaves::known) return {};
  const double all = static_cast<double>(pair.producer_ns + pair.gap_ns + pair.consumer_ns);
  if (!(all > 0)) return {};
  std::vector<WaveBar> bars;
  const auto add_kernel = [&](const PairKernel& kernel, bool consumer, TimeNs begin, TimeNs time) {
    const double count = std::ceil(kernel.waves), from = static_cast<double>(begin) / all,
                 length = static_cast<double>(time) / all;
    const double last = from + length * (count - 1) / count;
    if (count > 1) bars.push_back({consumer, from, last, 1, static_cast<std::uint64_t>(count) - 1});
    bars.push_back({consumer, last, from + length, kernel.last_wave_fill, 1});
  };
  add_kernel(pair.producer, false, 0, pair.producer_ns);
  add_kernel(pair.consumer, true, pair.producer_ns + pair.gap_ns, pair.consumer_ns);
  return bars;
}

}  // namespace wicprof::analyzer
