// A trace of any number of events, of a program that waits in kernels: of 16 events 8 are waits, 4 signals, 2 calls, 1
// a kernel, 1 a copy or a host thread's wait.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "protocol/events/header.h"
#include "protocol/time.h"

namespace wicprof::bench {

inline constexpr std::int64_t kEventsPerIteration = 16;
inline constexpr std::uint32_t kWaitsPerIteration = 8;  ///< at two sites by turns

/// Where events go: a recorder, or a ring.
using PutEvent = std::function<void(const EventHeader& event)>;

/// What comes before all iterations: texts, the device, the sites, a reading of the clock.
void put_declarations(const PutEvent& put, std::uint64_t begin);
void put_clock(const PutEvent& put, std::uint64_t at);
/// One iteration, from `begin` on, which takes `period` ns: 100 us, or more.
inline constexpr std::uint64_t kPeriod = 100'000;
void put_iteration(const PutEvent& put, std::uint32_t number, std::uint64_t begin);

/// Whether a complete trace of so many events was written to `path`; if not, standard error has the reason.
bool make_trace(const std::string& path, std::int64_t events);

}  // namespace wicprof::bench
