// Who holds a part of a session (a ring, a runtime's place in the control block), so that it can be given to somebody
// else when nobody holds it any more.
//
//   free --claim(): compare-and-swap on pid--> held --give_back(): the holder--> free
//                                              held --take_back(): the tool--> free
//
// Only the tool takes back from somebody else, and only what can no longer be used: its holder's process has ended, or
// has let go, or has not got the session in its memory any more where it had it then (it ran exec). While pid is not 0,
// only the holder uses the part; from the end of claim() on `mapping` is set.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace wicprof {

struct Owner {
  std::atomic<std::uint32_t> pid;  ///< 0 = free
  std::uint32_t reserved;
  std::atomic<std::uint64_t>
      mapping;  ///< where its process has the session in memory; 0 = it has not said so yet, kLetGo
  std::atomic<std::uint64_t> pid_namespace;  ///< the one in which `pid` counts; 0 = not known

  static constexpr std::uint64_t kLetGo = 1;

  std::uint32_t load(std::memory_order order = std::memory_order_seq_cst) const { return pid.load(order); }

  /// For the calling process, which has the session mapped at `session`. False: it is held. Any thread.
  bool claim(const void* session);

  /// Called by the holder, which has reset the part.
  void give_back();

  /// By the holder's process: it will not use any more what it holds by its mapping at `session`. The tool takes it
  /// back once it has seen to what is in it.
  void let_go(const void* session);

  /// The same as give_back() by the tool, for a holder of which gone_owner() says that it is gone. False: that one does
  /// not hold it any more.
  bool take_back(std::uint32_t gone);
};

/// How much effort a check of an owner takes.
enum class OwnerLook {
  quick,     ///< whether the process exists
  thorough,  ///< also whether the process still maps the session: reads /proc/PID/maps, which is long for some programs
};

/// The holder's pid if it cannot use what it holds any more, else 0; so, too, in doubt: a holder within another pid
/// namespace, or one that may not be looked at. `session_path`: the session's file.
std::uint32_t gone_owner(const Owner& owner, const std::string& session_path, OwnerLook look);

}  // namespace wicprof
