// Which process holds a piece of a session (a ring, or the place of a part in the control block), so that the piece can
// be reused after its holder.
//
//   free --claim(): compare-and-swap on pid--> held --give_back(): the holder--> free
//                                              held --take_back(): the tool--> free
//
// Only the tool takes a piece back, and only when its holder can no longer use it: the holder's process has ended, has
// let go, or no longer maps the session at the address of its claim (it ran exec). While pid is not 0, only the holder
// uses the piece. `mapping` is set when claim() returns.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace wicprof {

struct Owner {
  std::atomic<std::uint32_t> pid;            ///< 0 = free
  std::atomic<std::uint32_t> claims;         ///< since the session began
  std::atomic<std::uint64_t> mapping;        ///< address of the session in the holder's memory; 0 = not set yet; kLetGo
  std::atomic<std::uint64_t> pid_namespace;  ///< inode of the namespace of `pid`; 0 = not known

  static constexpr std::uint64_t kLetGo = 1;

  std::uint32_t load(std::memory_order order = std::memory_order_seq_cst) const { return pid.load(order); }

  /// Claims for the calling process, which maps the session at `session`. False: already held. Any thread.
  bool claim(const void* session);

  /// Frees the part. For the holder, after it has reset the part.
  void give_back();

  /// For the holder's process: it no longer uses what it holds through its mapping at `session`. The tool reads the
  /// part's content and then takes the part back.
  void let_go(const void* session);

  /// give_back() for the tool, on behalf of the holder `gone` that gone_owner() returned. False: that process no longer
  /// holds the part.
  bool take_back(std::uint32_t gone);
};

/// The inode of the calling process's pid namespace; 0: not known.
std::uint64_t pid_namespace_of_this_process();

/// How much effort a check of an owner takes.
enum class OwnerLook {
  quick,     ///< whether the process exists
  thorough,  ///< also whether the process still maps the session: reads /proc/PID/maps, which is long for some programs
};

/// The holder's pid if it can no longer use the part, else 0. Also 0 in doubt: the holder is in another pid namespace,
/// or its maps cannot be read. `session_path`: the session's file.
std::uint32_t gone_owner(const Owner& owner, const std::string& session_path, OwnerLook look);

}  // namespace wicprof
