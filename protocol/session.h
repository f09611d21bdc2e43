// A session: the shared memory through which one traced program and one tool talk.
//
//   file <directory>/<name>.session, owner-only:   SessionHeader | ControlBlock | ring 0 | ring 1 | ...
//
// The tool creates the file, holds a lock on it for as long as it lives (a file without the lock is stale) and removes
// it. The traced program finds the path in the environment variable kSessionVariable; each producer in it claims a ring
// of its own. The directory is $XDG_RUNTIME_DIR/wic-prof, else a mode-0700 folder of the user's in /dev/shm or /tmp.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "protocol/control.h"
#include "protocol/result.h"
#include "protocol/ring.h"

namespace wicprof {

inline constexpr char kSessionVariable[] = "WICPROF_SESSION";
inline constexpr std::uint32_t kSessionVersion = 5;

struct SessionHeader {
  static constexpr std::uint64_t kMagic = 0x3153534553434957;  // "WICSESS1"
  std::atomic<std::uint64_t> magic;                            ///< stored last
  std::uint32_t version;
  std::uint32_t ring_count;
  std::uint64_t ring_capacity;
  std::uint64_t control_offset;
  std::uint64_t rings_offset;
  std::uint64_t total_bytes;
  std::int64_t created_ns;
  std::atomic<std::int32_t> tool_pid;
  std::atomic<std::int32_t> app_pid;
  std::atomic<std::uint32_t> takes_back;     ///< 1: the tool gives the rings of ended producers to new ones
  std::atomic<std::uint32_t> rings_wanted;   ///< bumped by a producer that waits for a ring: look at all owners now
  std::atomic<std::uint32_t> rings_refused;  ///< producers that got none
  char name[64];
  char app[256];
};

struct SessionOptions {
  std::string name;              ///< letters, digits, '.', '_' and '-'; at most 63
  bool number_if_taken = false;  ///< NAME-2, NAME-3 and so on while sessions of these names run; else that is an error
  std::string app;               ///< for people: the program's file name
  std::size_t ring_count = 16;   ///< one a producer
  std::size_t ring_capacity = std::size_t{16} << 20;  ///< bytes a ring; a power of two
};

/// One mapping of a session's shared memory. Move-only; unmaps when it goes.
class SessionMap {
 public:
  SessionMap() = default;
  SessionMap(SessionMap&& other) noexcept;
  SessionMap& operator=(SessionMap&& other) noexcept;
  ~SessionMap();

  /// Maps an existing session. Errors: no such file, not a session, another version.
  static Result<SessionMap> attach(const std::string& path);

  explicit operator bool() const { return memory_ != nullptr; }
  SessionHeader& header() const { return *static_cast<SessionHeader*>(memory_); }
  ControlBlock& control() const;
  RingHeader* ring(std::size_t index) const;

  /// Claims a free ring for this process. When all are taken, waits up to half a second for one to be given back, where
  /// a tool does that. nullptr: none to be had, which is counted. Any thread.
  RingHeader* claim_ring() const;

 private:
  friend class SessionOwner;
  SessionMap(void* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  bool checked_ = false;  // it is a session: attach() has found it so
};

/// The tool's side: creates the session and removes it again.
class SessionOwner {
 public:
  SessionOwner(SessionOwner&&) noexcept;
  SessionOwner& operator=(SessionOwner&&) = delete;
  ~SessionOwner();

  /// Errors: the name is in use or has other characters; no shared memory left; the directory cannot be made.
  static Result<SessionOwner> create(const SessionOptions& options);

  const SessionMap& map() const { return map_; }
  const std::string& path() const { return path_; }
  std::string socket_path() const;

 private:
  SessionOwner() = default;
  SessionMap map_;
  std::string path_;
  int lock_fd_ = -1;
};

/// Where sessions live; made (mode 0700) when it is missing. Error: it belongs to somebody else or cannot be made.
Result<std::string> session_directory();

/// Where a program leaves the modules that were sampled. It is made by the tool where it is wanted, and removed with
/// the session.
std::string modules_folder_of(const std::string& session_path);

struct SessionInfo {
  std::string name;
  std::string path;
  std::string socket_path;
};

/// The running sessions by name. Files left behind by a tool that died are removed on the way.
Result<std::vector<SessionInfo>> list_sessions();

}  // namespace wicprof
