#include "collector/waits/predictor.h"

#include <algorithm>

namespace wicprof::collector {

namespace {

constexpr TimeNs kMeanGain = 8, kDeviationGain = 4;  // one over TCP's gains
constexpr TimeNs kCalmingGain = 16;  // a smaller deviation counts more slowly: lengths that alternate have runs
constexpr TimeNs kLeastGain = 256;   // slow, since a sleep past the end costs more than a poll. Not calibrated
/// A value counts as at most so many deviations above the mean. Like the deviations of the plan (wait_plan.cpp).
constexpr TimeNs kFarDeviations = 4;
/// Kernels vary by 2 to 5 % of their mean (the figures of HybridSync's paper): the deviation counts as at least this
/// part of the mean there, so that a series without any variation can follow.
constexpr TimeNs kUsualParts = 32;
/// The first deviation is a guess, which these values replace.
constexpr std::uint32_t kFirstValues = 16;
/// Fewer waits say nothing about their deviation. Not calibrated.
constexpr std::uint32_t kFewest = 3;

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 33)) * 0xff51afd7ed558ccdu;
  return (value ^ (value >> 33)) * 0xc4ceb9fe1a85ec53u;
}

std::uint64_t place_key(std::uint32_t site, const AwaitedWork& work) { return mixed(work.key) + mixed(site + 1u); }

}  // namespace

void Series::add(TimeNs value) {
  if (count_ == 0) {
    mean_ = value;
    deviation_ = value / 2;  // as TCP begins
    least_ = value;
  } else {
    const TimeNs far = std::max(kFarDeviations * std::max(deviation_, mean_ / kUsualParts), kMicrosecond);
    value = std::min(value, mean_ + far);
    const TimeNs error = value - mean_;
    mean_ += error / kMeanGain;
    least_ = value < least_ ? value : least_ + (value - least_) / kLeastGain;
    const TimeNs change = (error < 0 ? -error : error) - deviation_;
    deviation_ += change / (change > 0 || count_ < kFirstValues ? kDeviationGain : kCalmingGain);
  }
  ++count_;
}

void AwaitedWork::add(const void* kernel, const std::uint32_t (&shape)[6], TimeNs now) {
  std::uint64_t launch = mixed(reinterpret_cast<std::uintptr_t>(kernel));
  for (const std::uint32_t size : shape) launch = mixed(launch + size);
  key += launch | 1;  // a sum: several streams may take turns in any order
  if (launched == 0) launched = now;
  ++launches;
}

std::optional<Forecast> Predictor::forecast(std::uint32_t site, const AwaitedWork& work, TimeNs now) const {
  const auto found = places_.find(place_key(site, work));
  if (found == places_.end() || found->second.from_wait.count() < kFewest) return std::nullopt;
  const Place& place = found->second;
  const bool by_launch = work.launched != 0 && place.from_launch.count() >= kFewest &&
                         place.from_launch.deviation() < place.from_wait.deviation();
  const Series& series = by_launch ? place.from_launch : place.from_wait;
  const TimeNs passed = by_launch ? now - work.launched : 0;
  return Forecast{std::max<TimeNs>(0, series.mean() - passed), series.deviation(),
                  std::max<TimeNs>(0, series.least() - passed), series.count()};
}

void Predictor::observe(std::uint32_t site, const AwaitedWork& work, TimeNs begin, TimeNs end) {
  if (places_.size() >= kMost) places_.clear();
  Place& place = places_[place_key(site, work)];
  place.from_wait.add(end - begin);
  if (work.launched != 0) place.from_launch.add(end - work.launched);
}

}  // namespace wicprof::collector
