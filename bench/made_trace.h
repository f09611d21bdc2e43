// Generates a trace with any number of events of a program that waits in kernels. Of 16 events, 8 are waits, 4 signals,
// 2 calls, 1 a kernel, and 1 a copy or a host thread's wait.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "protocol/events/header.h"
#include "protocol/time.h"

namespace wicprof::bench {

inline constexpr std::int64_t kEventsPerIteration = 16;
inline constexpr std::uint32_t kWaitsPerIteration = 8;  ///< alternating between two sites

/// The destination of events: a recorder or a ring.
using PutEvent = std::function<void(const EventHeader& event)>;

/// The events before all iterations: texts, the device, the sites, a clock reading.
void put_declarations(const PutEvent& put, std::uint64_t begin);
void put_clock(const PutEvent& put, std::uint64_t at);
/// The nominal length of an iteration in ns.
inline constexpr std::uint64_t kPeriod = 100'000;
void put_iteration(const PutEvent& put, std::uint32_t number, std::uint64_t begin);

/// Writes a trace of about `events` events to `path`. False if the trace is incomplete; prints the reason to stderr.
bool make_trace(const std::string& path, std::int64_t events);

}  // namespace wicprof::bench
