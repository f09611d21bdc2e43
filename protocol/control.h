// The control block of a session: what the tool wants of the running program, and what the program has done about it.
//
// It holds state, not messages: the tool writes the wanted state, bumps `sequence` and wakes it as a futex; the control
// thread of each runtime applies the whole state and stores the sequence that it applied in the runtime's own place. A
// reader that misses an intermediate state has missed nothing that still holds.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "protocol/owner.h"
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
  std::atomic<std::uint32_t> naming;  ///< 0 = free, kNamed = the name stands, else twice the pid of who writes it now
  char name[kMaxSiteName];            ///< NUL-terminated

  static constexpr std::uint32_t kNamed = 1;
};

/// One wic runtime's place: a session may have several, in one process or in many.
struct RuntimeControl {
  alignas(64) Owner owner;
  std::atomic<std::uint32_t> applied_sequence;
  std::atomic<std::int64_t> effective_ns;  ///< when its new words were seen to lie in every device's memory
};
inline constexpr std::uint32_t kMaxRuntimes = 16;  ///< each needs a ring of its own, too

struct ControlBlock {
  // Written by the tool.
  alignas(64) std::atomic<std::uint32_t> sequence;  ///< a futex: bumped after every change of what is wanted
  std::atomic<std::uint32_t> wanted;                ///< for the whole program
  std::atomic<std::int64_t> requested_ns;           ///< when the last change was asked for
  std::atomic<std::uint32_t> capturing{1};          ///< a futex. 0: collectors are to record nothing now
  std::atomic<std::uint32_t> capture_changes;       ///< 1: the tool will change `capturing` while the program runs

  // Written by the runtimes.
  alignas(64) std::atomic<std::uint32_t> applications;  ///< a futex: bumped whenever a runtime has applied something
  std::atomic<std::uint32_t> own;                       ///< how a runtime waits by itself, of which nothing is wanted
  std::atomic<std::uint32_t> site_count;                ///< the names are among sites 1..site_count

  RuntimeControl runtimes[kMaxRuntimes];
  alignas(64) SiteControl sites[kMaxSites];
};

/// Waits while *word == expected, until it is woken or `timeout` has passed. Works across processes.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, TimeNs timeout);
void futex_wake_all(const std::atomic<std::uint32_t>& word);

/// The site of that name, or 0. Any thread of any process.
std::uint32_t find_site(const ControlBlock& control, const char* name);

/// The site of that name, which is made when there is none: two processes that name one site mean the same. 0: no room
/// for another one. Any thread of any process; one that dies meanwhile does not hold the others up for long.
std::uint32_t register_site(ControlBlock& control, const char* name);

/// A place for a runtime of the calling process, which has the session mapped at `session` and has applied `sequence`.
/// nullptr: all are taken. It leaves by leave_runtime(); when its process ends first, the tool takes the place back.
RuntimeControl* join_runtime(ControlBlock& control, const void* session, std::uint32_t sequence);
void leave_runtime(ControlBlock& control, RuntimeControl& runtime);
/// For the tool: what leave_runtime() was not called for. `gone`: from gone_owner().
void drop_runtime(ControlBlock& control, RuntimeControl& runtime, std::uint32_t gone);

/// How many runtimes live in the program now.
std::uint32_t attached_runtimes(const ControlBlock& control);

/// A runtime has brought itself to the state of `sequence`, just now.
void tell_applied(ControlBlock& control, RuntimeControl& runtime, std::uint32_t sequence);

/// How the program waits as a whole: what is wanted, else what a runtime said of itself.
WantedWait program_wait(const ControlBlock& control);

/// Writes what is wanted (for `site`, or the whole program when 0; that clears single sites' wishes) and wakes the
/// program. Returns the new sequence. One caller at a time.
std::uint32_t request_wait(ControlBlock& control, std::uint32_t site, WantedWait wanted);

/// Waits until every runtime of the session has applied `sequence`; false when `timeout` passes first, or while there
/// is no runtime. One whose process has ended is not waited for.
bool wait_applied(const ControlBlock& control, std::uint32_t sequence, TimeNs timeout);
/// The same for one runtime alone.
bool wait_applied_by(const ControlBlock& control, const RuntimeControl& runtime, std::uint32_t sequence,
                     TimeNs timeout);

/// When the last of the runtimes had its words in place.
TimeNs last_effective(const ControlBlock& control);

}  // namespace wicprof
