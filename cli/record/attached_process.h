// A program that ran before wic-prof, with a dormant library of ours (protocol/dormant.h) that records while it is
// awake.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "cli/record/recorded_process.h"
#include "protocol/control.h"
#include "protocol/dormant.h"
#include "protocol/result.h"

namespace wicprof::cli {

/// The page of a program's dormant library, locked, so that nobody else attaches meanwhile.
class DormantProgram {
 public:
  /// Errors: no such process, another user's, one in another container, one without such a library (with the cure), or
  /// one that is attached or recorded already.
  static Result<DormantProgram> find(pid_t pid);
  /// The same of a process that need not have the library: loads it there (cli/join/join_process.h). Says on stderr
  /// what that took, unless `quiet`.
  static Result<DormantProgram> find_or_join(pid_t pid, bool quiet);
  DormantProgram(DormantProgram&& other) noexcept;
  DormantProgram& operator=(DormantProgram&&) = delete;
  ~DormantProgram();

  pid_t pid() const { return pid_; }
  Result<> wake(const WakeRequest& request) const { return wake_dormant(file_, request); }
  /// Whether the process still has the page: it loses it when it starts another program (exec).
  bool still_there() const;

 private:
  DormantProgram(pid_t pid, int file) : pid_(pid), file_(file) {}
  pid_t pid_;
  int file_;
};

/// The process that a user names: by its pid, or by its program's name among the user's processes that have a dormant
/// library, else, with `join`, among those that use CUDA. Error: none, or several.
Result<pid_t> process_to_attach(const std::string& named, bool join);

class AttachedProcess final : public RecordedProcess {
 public:
  /// `control`: of the session that the request names, which must outlive this object.
  AttachedProcess(DormantProgram program, WakeRequest request, ControlBlock& control);

  pid_t pid() const override { return program_.pid(); }
  Result<> start() override;
  std::optional<AppEnd> ended() override;
  bool has_left() const override;
  std::string leave() override;

 private:
  AttachState state() const { return control_.attach.state.load(std::memory_order_acquire); }
  std::string text() const;
  /// Waits until the library says something else than `than`, or the program ends. False: it does not, for so long.
  bool wait_for_change(AttachState than, TimeNs patience);

  DormantProgram program_;
  WakeRequest request_;
  ControlBlock& control_;
  const std::string started_;  // of the process, in the system's words: a pid comes back
};

}  // namespace wicprof::cli
