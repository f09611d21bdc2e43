// The control block of a session: what the tool requests of the running program, and what the program has applied.
//
// It holds state, not messages: the tool writes the wanted state, increments `sequence` and wakes it as a futex; each
// part of each process applies the whole state and stores the sequence that it applied in its own place. A reader that
// misses an intermediate state has missed nothing that still holds. SessionMember (session_member.h) is the program's
// side.
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

/// The part of a change of the whole program that is about warps and declared sites: a strategy of others leaves the
/// choice to the backend.
constexpr WantedWait device_part(WantedWait wanted) {
  const bool of_others = is_host_strategy(wanted.strategy) || is_patched_strategy(wanted.strategy);
  return of_others ? WantedWait{wanted.mode, default_strategy(wanted.mode)} : wanted;
}
/// The part that is about host threads in calls of CUDA, which wait by `hybrid` unless one of their strategies is
/// named.
constexpr WantedWait host_part(WantedWait wanted) {
  if (wanted.mode == Mode::poll) return {Mode::poll, StrategyId::poll};
  return {Mode::park, is_host_strategy(wanted.strategy) ? wanted.strategy : StrategyId::hybrid};
}
/// How a host thread waits by a word of the control block; `poll`: the program's own way.
constexpr StrategyId host_strategy(std::uint32_t word) {
  return word == WantedWait::kNothing ? StrategyId::poll : host_part(WantedWait::unpack(word)).strategy;
}

struct SiteControl {
  std::atomic<std::uint32_t> wanted;  ///< WantedWait::pack(), or kNothing to follow the whole program's
  std::atomic<std::uint32_t> naming;  ///< 0 = free, kNamed = the name is complete, else twice the pid of its writer
  char name[kMaxSiteName];            ///< NUL-terminated
  std::atomic<std::uint32_t> side;    ///< WaitSide::host: a place in the program that calls CUDA; else a declared site

  static constexpr std::uint32_t kNamed = 1;
};

/// The place of one part of a process: of a wic runtime, of its host threads or of its patched loops. They are in
/// different libraries, which share no code: each maps the session for itself and applies changes in its own time.
struct PartControl {
  Owner owner;
  std::atomic<std::uint32_t> applied_sequence;
  std::atomic<std::int64_t> effective_ns;  ///< when its new words were confirmed in every device's memory
};
inline constexpr std::uint32_t kMaxParts = 4;  ///< of one place

/// The place of one process; one that has more parts takes another.
///
///   free: state is 0 --first join: compare-and-swap--> pid, program and 1 part --joins and leaves--> 0 parts: free
///
/// A part joins by adding 1 to the state of its process, so that there is a free part for it, and leaves by giving the
/// part back before it takes 1 away. The tool does the same for a part whose process has gone.
struct MemberControl {
  alignas(64) std::atomic<std::uint64_t> state;  ///< pid, 24 bits that tell programs of one pid apart, number of parts
  PartControl parts[kMaxParts];
};
inline constexpr std::uint32_t kMaxMembers = 512;  ///< processes of a session

/// How far a library is that `wic-prof attach` has woken.
enum class AttachState : std::uint32_t {
  asleep,     ///< it has not answered yet
  recording,  ///< until AttachControl::leave
  failed,     ///< it records nothing, for the reason in `text`, and sleeps again
  left        ///< it has recorded, and sleeps again
};

/// Unused in a session of `wic-prof run`.
struct AttachControl {
  alignas(64) std::atomic<std::uint32_t> leave;  ///< a futex, written by the tool. 1: end
  std::atomic<AttachState> state;                ///< written by the program
  char text[512];                                ///< of AttachState::failed; ends with NUL
};

struct ControlBlock {
  // Written by the tool.
  alignas(64) std::atomic<std::uint32_t> sequence;  ///< a futex: incremented after every change of what is wanted
  std::atomic<std::uint32_t> wanted;                ///< for the whole program, but host threads in calls of CUDA
  std::atomic<std::uint32_t> host_wanted;           ///< for host threads in calls of CUDA
  std::atomic<std::int64_t> requested_ns;           ///< when the last change was requested
  std::atomic<std::uint32_t> capturing{1};          ///< a futex. 0: collectors record nothing now
  std::atomic<std::uint32_t> capture_changes;       ///< 1: the tool will change `capturing` while the program runs
  std::atomic<std::uint32_t> heartbeat;             ///< incremented every kHeartbeat; 0: the tool has no heartbeat

  // Written by the program.
  alignas(64) std::atomic<std::uint32_t> applications;  ///< a futex: incremented when a part has applied a state
  std::atomic<std::uint32_t> own;                       ///< how a runtime waits while nothing is requested
  std::atomic<std::uint32_t> parts_refused;             ///< parts of processes that have no place now
  std::atomic<std::uint32_t> site_count;                ///< sites 1..site_count may have names
  std::atomic<std::int64_t> host_wake_ns;  ///< from the end of a sleep until the thread runs, as measured there

  AttachControl attach;
  MemberControl members[kMaxMembers];
  alignas(64) SiteControl sites[kMaxSites];
};
inline constexpr TimeNs kHeartbeat = 100 * kMillisecond;

/// Waits while *word == expected, until woken or until `timeout` has passed. Works across processes.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, TimeNs timeout);
void futex_wake_all(const std::atomic<std::uint32_t>& word);

/// The site with that name, or 0. Any thread of any process.
std::uint32_t find_site(const ControlBlock& control, const char* name);

/// The site with that name, added if missing: two processes that use one name share the site. 0: the table is full. Any
/// thread of any process; a process that dies during the call delays the others only briefly.
std::uint32_t register_site(ControlBlock& control, const char* name);

/// Claims a place for a part of the calling process, which has the session mapped at `session` and has applied
/// `sequence`. nullptr: the session has no place for a further process. leave_session() frees the place; if the process
/// ends first, the tool does. Any thread.
PartControl* join_session(ControlBlock& control, const void* session, std::uint32_t sequence);
void leave_session(ControlBlock& control, PartControl& part);
/// For the tool: frees the place of a part that ended without leave_session(). `gone`: from gone_owner().
void drop_part(ControlBlock& control, PartControl& part, std::uint32_t gone);

/// Number of processes that have joined and not left.
std::uint32_t attached_processes(const ControlBlock& control);

/// For a part that has just applied the state of `sequence`: publishes that and wakes the waiting tool.
void report_applied(ControlBlock& control, PartControl& part, std::uint32_t sequence);

/// How the whole program waits: the requested way, else the way that a runtime reported.
WantedWait program_wait(const ControlBlock& control);
/// How its host threads wait in calls of CUDA.
WantedWait host_wait(const ControlBlock& control);

/// Requests a way of waiting for `site`, or for the whole program if 0, which clears the requests for single sites;
/// wakes the program. `side`: of the whole program, only the waits of that side. Returns the new sequence. One caller
/// at a time.
std::uint32_t request_wait(ControlBlock& control, std::uint32_t site, WantedWait wanted,
                           WaitSide side = WaitSide::both);

/// Waits until every part of every process has applied `sequence`. False: `timeout` passed first, or no part has
/// joined. Does not wait for a process that has ended.
bool wait_applied(const ControlBlock& control, std::uint32_t sequence, TimeNs timeout);
/// Same for one part.
bool wait_applied_by(const ControlBlock& control, const PartControl& part, std::uint32_t sequence, TimeNs timeout);
/// The pid of a living process of which a part has not applied `sequence`; 0: none.
std::uint32_t first_without(const ControlBlock& control, std::uint32_t sequence);

/// When the last part had applied its words (host time).
TimeNs last_effective(const ControlBlock& control);

}  // namespace wicprof
