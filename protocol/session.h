// A session: the shared memory between one traced program and one tool.
//
//   memory (protocol/session_memory.h):   SessionHeader | ControlBlock | OpenWork | ring 0 | ring 1 | ...
//   file <directory>/<name>.session, owner-only: says where the memory is
//
// The tool creates both, holds a lock on the file while it runs (a file without the lock is stale) and removes it. The
// traced program finds the path in the environment variable kSessionVariable; each of its producers claims its own
// ring. The directory is $XDG_RUNTIME_DIR/wic-prof, unless XDG_RUNTIME_DIR is another user's (as for root under
// sudo -E); else a mode-0700 folder owned by the user in /dev/shm or /tmp.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "protocol/control.h"
#include "protocol/open_work.h"
#include "protocol/result.h"
#include "protocol/ring.h"

namespace wicprof {

inline constexpr char kSessionVariable[] = "WICPROF_SESSION";
inline constexpr std::uint32_t kSessionVersion = 15;

/// So many rings of one size, in the order in which they are claimed.
struct RingClass {
  std::uint64_t count = 0;
  std::uint64_t capacity = 0;  ///< bytes per ring; a power of two
  bool operator==(const RingClass&) const = default;
};
using RingClasses = std::array<RingClass, 4>;

/// Divides that much memory among 512 rings, so that 256 processes of two producers can record: 8 of a sixteenth each
/// for the first producers, then 16 of a 64th, 32 of a 256th, and 456 of a 4096th. Below 32 MiB, as many as there is
/// room for: none is smaller than 8 KiB.
RingClasses divide_among_rings(std::size_t bytes);

struct SessionHeader {
  static constexpr std::uint64_t kMagic = 0x3153534553434957;  // "WICSESS1"
  std::atomic<std::uint64_t> magic;                            ///< stored last
  std::uint32_t version;
  std::uint32_t reserved;
  RingClasses rings;
  std::uint64_t control_offset;
  std::uint64_t open_work_offset;
  std::uint64_t rings_offset;
  std::uint64_t total_bytes;
  std::int64_t created_ns;
  std::atomic<std::int32_t> tool_pid;
  std::atomic<std::int32_t> app_pid;
  std::atomic<std::uint32_t> reclaims_rings;  ///< 1: the tool reclaims the rings of ended producers for new ones
  std::atomic<std::uint32_t>
      rings_wanted;  ///< incremented by a producer that waits for a ring, so that the tool checks all owners
  std::atomic<std::uint32_t> rings_refused;  ///< producers that got no ring
  std::atomic<std::uint32_t> rings_used;     ///< no further ring was ever claimed
  char name[64];
  char app[256];
};

struct SessionOptions {
  std::string name;              ///< letters, digits, '.', '_' and '-'; at most 63
  bool number_if_taken = false;  ///< if NAME is in use, try NAME-2, NAME-3 and so on; else report an error
  std::string app;               ///< the program's file name, for display
  RingClasses rings{RingClass{16, std::uint64_t{16} << 20}};  ///< one ring per producer
};

/// One mapping of a session's shared memory. Move-only; unmaps on destruction.
class SessionMap {
 public:
  SessionMap() = default;
  SessionMap(SessionMap&& other) noexcept;
  SessionMap& operator=(SessionMap&& other) noexcept;
  ~SessionMap();

  /// Maps an existing session. Errors: no such file, not a session, another version.
  static Result<SessionMap> attach(const std::string& path);

  explicit operator bool() const { return memory_ != nullptr; }
  /// Written by the program, too, perhaps by mistake: read numbers of the layout from ring_count() and ring_capacity().
  SessionHeader& header() const { return *static_cast<SessionHeader*>(memory_); }
  ControlBlock& control() const;
  OpenWork& open_work() const;
  std::size_t ring_count() const { return layout_.ring_count(); }
  std::size_t ring_capacity(std::size_t index) const { return layout_.place_of(index).capacity; }
  RingHeader* ring(std::size_t index) const;
  /// Rings from this number on were never claimed.
  std::size_t rings_used() const;

  /// Claims the first free ring for this process: the larger ones come first. If all are taken and the tool reclaims
  /// rings, waits up to half a second. nullptr: no ring became free, which `rings_refused` counts. Any thread.
  RingHeader* claim_ring() const;

 private:
  friend class SessionOwner;
  // The layout, kept outside the shared memory.
  struct Layout {
    struct Place {
      std::size_t offset = 0, capacity = 0;
    };
    RingClasses rings{};
    std::size_t control_offset = 0, open_work_offset = 0, rings_offset = 0;
    static Layout of(const RingClasses& rings);
    static Layout in(const SessionHeader& header);
    std::size_t ring_count() const;
    Place place_of(std::size_t ring) const;  // of a ring behind the last: the session's end
    std::size_t total() const { return place_of(ring_count()).offset; }
    bool operator==(const Layout&) const = default;
  };

  SessionMap(void* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  Layout layout_;  // empty until attach() has verified that the memory is a session
};

/// The tool's side: creates the session and removes it again.
class SessionOwner {
 public:
  SessionOwner(SessionOwner&&) noexcept;
  SessionOwner& operator=(SessionOwner&&) = delete;
  ~SessionOwner();

  /// Errors: the name is in use or has invalid characters; not enough shared memory; no usable directory.
  static Result<SessionOwner> create(const SessionOptions& options);

  const SessionMap& map() const { return map_; }
  const std::string& path() const { return path_; }
  std::string socket_path() const;
  /// A descriptor of the memory, for processes that cannot open it by the file; below 0: the file itself is the memory.
  int memory() const { return memory_fd_; }
  /// Whether somebody has cut the session's file. Processes that start later have to ask for the memory.
  bool is_file_cut() const;

 private:
  SessionOwner() = default;
  int make_memory(const std::string& name, std::size_t bytes);
  SessionMap map_;
  std::string path_;
  int lock_fd_ = -1;    // of the session's file
  int memory_fd_ = -1;  // sealed memory; below 0: none
  off_t file_bytes_ = 0;
};

/// The folder of sessions, created (mode 0700) if missing. Error: another user owns it, or it cannot be created.
Result<std::string> session_directory();

/// Removes the files of this process's session, for a process that is about to end without its SessionOwner.
void discard_session(const std::string& path);

/// The folder into which a program saves its sampled modules. The tool creates it on demand and removes it with the
/// session.
std::string modules_folder_of(const std::string& session_path);

struct SessionInfo {
  std::string name;
  std::string path;
  std::string socket_path;
};

/// The running sessions, sorted by name. Removes the files of tools that died, and of dormant programs (dormant.h) that
/// have ended.
Result<std::vector<SessionInfo>> list_sessions();

}  // namespace wicprof
