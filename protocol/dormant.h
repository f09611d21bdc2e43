// Where a library of ours that does nothing waits until `wic-prof attach` wakes it: a page of the program's memory that
// is a small file in the folder of sessions, for its owner only. A thread of the program sleeps in the kernel on a word
// of that page (a futex), so the program has no descriptor for it, and nothing of ours runs.
//
//   the program: DormantPage::create(), then sleep() on a thread, and request() after each call
//   the tool:    finds the page in /proc/PID/maps, opens the file, and calls wake_dormant()
//
// Whoever may write the file can cut it, and touching a mapping beyond its file's end ends a program. So the program
// never touches the page: the kernel reads the word, and request() reads the file.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/result.h"

namespace wicprof {

/// PID.XXXXXX.dormant, in the folder of sessions.
inline constexpr std::string_view kDormantSuffix = ".dormant";
inline constexpr std::size_t kDormantBytes = 4096;

struct DormantFile {
  static constexpr std::uint64_t kMagic = 0x31524f4453434957;  // "WICSDOR1"
  std::uint64_t magic = kMagic;
  std::uint32_t version = 0;        ///< kSessionVersion of the library
  std::uint32_t pid = 0;            ///< as the program sees itself
  std::uint64_t pid_namespace = 0;  ///< in which that is its pid; 0: not known
  std::atomic<std::uint32_t> calls{0};
  std::uint32_t reserved = 0;
  // Of the last call.
  char session[1024] = {};
  char trace[512] = {};
};
static_assert(sizeof(DormantFile) <= kDormantBytes);

/// What the tool wants of a library that it wakes.
struct WakeRequest {
  std::string session;  ///< path of the session's file
  std::string trace;    ///< as the value of WICPROF_TRACE
};

/// The program's side. Not for the child of a fork, which has no such page.
class DormantPage {
 public:
  /// Error: no folder, no file, or no memory: nobody can wake this program.
  static Result<DormantPage> create();
  DormantPage(DormantPage&& other) noexcept;
  DormantPage& operator=(DormantPage&&) = delete;
  /// Removes the file.
  ~DormantPage();
  /// Nobody finds the page any more. In the process that made it alone: a child does nothing here.
  void remove_file() const;

  const std::string& path() const { return path_; }
  /// Sleeps until somebody has called since the last request(). False: the file has been cut, and nobody can call.
  bool sleep() const;
  /// What the last call wants. Error: the file is gone, or not what this process has made.
  Result<WakeRequest> request();

 private:
  DormantPage(std::string path, void* page, std::uint64_t inode) : path_(std::move(path)), page_(page), inode_(inode) {}
  std::string path_;
  void* page_;
  std::uint64_t inode_;
  std::uint32_t seen_ = 0;
  pid_t owner_ = 0;
};

/// The tool's side: `file` is open for reading and writing. One caller at a time, which holds a lock on the file.
Result<> wake_dormant(int file, const WakeRequest& request);

/// Whether the program of that file has ended: then nobody needs it. False in doubt.
bool is_dormant_file_stale(const std::string& path);

}  // namespace wicprof
