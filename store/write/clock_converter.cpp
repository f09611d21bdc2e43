#include "store/write/clock_converter.h"

#include <algorithm>
#include <cmath>

#include "store/format/plausible_times.h"

namespace wicprof::store {

namespace {

// Signed distance on the device clock; saturates far beyond any trace, so that sums cannot overflow.
std::int64_t distance(std::uint64_t from, std::uint64_t to) {
  constexpr std::int64_t kFar = std::int64_t{1} << 61;
  return std::clamp(static_cast<std::int64_t>(to - from), -kFar, kFar);
}

// Rounded up: rounding must not shrink a bound.
TimeNs bound(double ns) { return static_cast<TimeNs>(std::ceil(ns)); }

}  // namespace

bool ClockConverter::add(const ClockReading& reading) {
  if (static_cast<TimeNs>(reading.device_ns) == reading.host_ns && reading.error_ns == 0) {
    if (readings_.empty()) readings_.push_back(reading);
    is_host_clock_ = true;
    return true;
  }
  if (!is_sane(reading.host_ns) || !is_sane(reading.error_ns)) return false;
  if (!readings_.empty()) {
    const ClockReading& last = readings_.back();
    if (distance(last.device_ns, reading.device_ns) <= 0 || reading.host_ns <= last.host_ns) return false;
    // A reading over a busy bus can be less exact than the earlier ones.
    const HostTime known = beyond(last, reading.device_ns);
    if (known.error_ns <= reading.error_ns && std::abs(known.ns - reading.host_ns) <= reading.error_ns) return true;
  }
  readings_.push_back(reading);

  // The rate from the first reading to the last: over the longest distance the error weighs least.
  const ClockReading& first = readings_.front();
  const auto span = static_cast<double>(distance(first.device_ns, reading.device_ns));
  if (span > 0) {
    const double offset = static_cast<double>(reading.host_ns - first.host_ns) - span;
    const double error = static_cast<double>(first.error_ns + reading.error_ns) / span;
    if (error < kMaxDrift) {
      rate_ = std::clamp(offset / span, -kMaxDrift, kMaxDrift);
      rate_error_ = std::min(error + kMaxWander, kMaxDrift);
    }
  }
  return true;
}

HostTime ClockConverter::convert(std::uint64_t device_ns) const {
  if (is_host_clock_) return {static_cast<TimeNs>(device_ns), 0};
  // Nearly every event is later than the last reading.
  if (distance(readings_.back().device_ns, device_ns) >= 0) return beyond(readings_.back(), device_ns);
  if (distance(readings_.front().device_ns, device_ns) < 0) return beyond(readings_.front(), device_ns);
  const auto after =
      std::upper_bound(readings_.begin(), readings_.end(), device_ns,
                       [](std::uint64_t t, const ClockReading& r) { return distance(r.device_ns, t) < 0; });
  return between(*(after - 1), *after, device_ns);
}

HostTime ClockConverter::between(const ClockReading& a, const ClockReading& b, std::uint64_t device_ns) const {
  const std::int64_t span = distance(a.device_ns, b.device_ns);
  const std::int64_t from_a = distance(a.device_ns, device_ns);
  const std::int64_t to_b = span - from_a;
  const auto offset = static_cast<double>((b.host_ns - a.host_ns) - span);
  const double share = static_cast<double>(from_a) / static_cast<double>(span);
  const TimeNs host = a.host_ns + from_a + std::llround(offset * share);
  const double readings = static_cast<double>(a.error_ns) * (1 - share) + static_cast<double>(b.error_ns) * share;
  const double wander = kMaxWander * static_cast<double>(std::min(from_a, to_b));
  // Readings that disagree by more than their errors and the drift: one of the clocks was set in between.
  const double explained = static_cast<double>(a.error_ns + b.error_ns) + kMaxDrift * static_cast<double>(span);
  const double jump = std::max(0.0, std::abs(offset) - explained);
  return {host, bound(readings + wander + jump)};
}

HostTime ClockConverter::beyond(const ClockReading& from, std::uint64_t device_ns) const {
  const std::int64_t away = distance(from.device_ns, device_ns);
  const TimeNs host = from.host_ns + away + std::llround(rate_ * static_cast<double>(away));
  const double drift = rate_error_ * static_cast<double>(std::abs(away));
  return {host, from.error_ns + bound(drift)};
}

}  // namespace wicprof::store
