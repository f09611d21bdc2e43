// The names that a program uses beside the backend's own classes. Programs write them as wic::NAME; they are the types
// that the trace is written with.
#pragma once

#include <cstdint>
#include <limits>

#include "protocol/control.h"
#include "protocol/events/device.h"
#include "protocol/events/header.h"
#include "protocol/events/site.h"
#include "protocol/events/wait.h"
#include "protocol/result.h"
#include "protocol/strategy.h"
#include "protocol/time.h"
#include "wic/platform.h"

namespace wic {

// Errors are values: Result<T> holds a T or an Error.
using wicprof::bad_input;
using wicprof::Error;
using wicprof::ErrorKind;
using wicprof::failed;
using wicprof::ok;
using wicprof::Result;
using wicprof::unavailable;

// Nanoseconds on the host's CLOCK_MONOTONIC.
using wicprof::kMicrosecond;
using wicprof::kMillisecond;
using wicprof::kSecond;
using wicprof::now_ns;
using wicprof::thread_cpu_ns;
using wicprof::TimeNs;

// Wait sites.
using wicprof::kFirstDeviceEnd;
using wicprof::kHostEnd;
using wicprof::Pollers;
using wicprof::SiteEnd;
using wicprof::SiteId;
using wicprof::SitePurpose;
using wicprof::WordMemory;

// Devices.
using wicprof::DeviceId;
using wicprof::DeviceKind;

// How programs wait.
using wicprof::default_strategy;
using wicprof::kStrategies;
using wicprof::Mode;
using wicprof::mode_from_name;
using wicprof::mode_name;
using wicprof::strategy_from_name;
using wicprof::strategy_name;
using wicprof::StrategyId;
using wicprof::WaitStatus;
using wicprof::WantedWait;

/// The timeout of a wait that never gives up. Valid for every timeout, in kernels and on the host.
inline constexpr TimeNs kForever = std::numeric_limits<TimeNs>::max();

/// `timeout` after `now`. A sum past the clock's last value becomes that value instead of wrapping around, so a longer
/// timeout never ends sooner.
WIC_DEVICE constexpr std::uint64_t deadline_after(std::uint64_t now, std::uint64_t timeout) {
  const std::uint64_t sum = now + timeout;
  return sum < now ? ~std::uint64_t{0} : sum;
}
/// The same for host times, which have a sign; `now` is at least 0.
constexpr TimeNs deadline_after(TimeNs now, TimeNs timeout) {
  return timeout > kForever - now ? kForever : now + timeout;
}

}  // namespace wic
