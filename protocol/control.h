// The control block of a session: what the tool wants of the running program, and what the program has done about it.
//
// It holds state, not messages: the tool writes the wanted state, bumps `sequence` and wakes it as a futex; the
// program's control thread applies the whole state and stores the sequence that it applied. A reader that misses an
// intermediate state has missed nothing that still holds.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "protocol/strategy.h"
#include "protocol/time.h"

namespace wicprof {

inline constexpr std::uint32_t kMaxSites = 256;  ///< site 0 is "no site"
inline constexpr std::size_t kMaxSiteName = 48;

/// A wanted way of waiting, in one word: low 8 bits StrategyId, bit 8 Mode, bit 9 set (so that 0 is "nothing wanted").
struct WantedWait {
  Mode mode = Mode::poll;
  StrategyId strategy = StrategyId::poll;

  static constexpr std::uint32_t kNothing = 0;
  constexpr std::uint32_t pack() const {
    return 0x200u | (static_cast<std::uint32_t>(mode) << 8) | static_cast<std::uint32_t>(strategy);
  }
  static constexpr WantedWait unpack(std::uint32_t word) {
    return {static_cast<Mode>((word >> 8) & 1u), static_cast<StrategyId>(word & 0xffu)};
  }
};

struct SiteControl {
  std::atomic<std::uint32_t> wanted;  ///< WantedWait::pack(), or kNothing to follow the program's
  char name[kMaxSiteName];            ///< NUL-terminated; written by the program before it raises site_count
};

struct ControlBlock {
  // Written by the tool.
  alignas(64) std::atomic<std::uint32_t> sequence;  ///< a futex: bumped after every change of what is wanted
  std::atomic<std::uint32_t> wanted;                ///< for the whole program
  std::atomic<std::int64_t> requested_ns;           ///< when the last change was asked for

  // Written by the program's runtime.
  alignas(64) std::atomic<std::uint32_t> applied_sequence;  ///< a futex
  std::atomic<std::int64_t> effective_ns;  ///< when the new words were seen to lie in every device's memory
  std::atomic<std::uint32_t> runtime_attached;  ///< 1 while a wic runtime lives in the program
  std::atomic<std::uint32_t> site_count;        ///< sites 1..site_count have names

  alignas(64) SiteControl sites[kMaxSites];
};

/// Waits while *word == expected, until it is woken or `timeout` has passed. Works across processes.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, TimeNs timeout);
void futex_wake_all(const std::atomic<std::uint32_t>& word);

/// The site of that name, or 0. Any thread of either process.
std::uint32_t find_site(const ControlBlock& control, const char* name);

/// Writes what is wanted (for `site`, or the whole program when 0; that clears single sites' wishes) and wakes the
/// program. Returns the new sequence. One caller at a time.
std::uint32_t request_wait(ControlBlock& control, std::uint32_t site, WantedWait wanted);

/// Waits until the program has applied `sequence`; false when `timeout` passes first.
bool wait_applied(const ControlBlock& control, std::uint32_t sequence, TimeNs timeout);

}  // namespace wicprof
