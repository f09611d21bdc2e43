// Processes of the program in another root (chroot, a container): what they need of us is looked up there.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>
#include <vector>

#include "protocol/event_sink.h"

namespace wicprof::cli {

/// Looks whether processes see the files through which they are recorded. The first that does not becomes a loss in the
/// trace and a sentence for the user.
class OtherRoot {
 public:
  /// `files`: absolute paths. `sink` must outlive this.
  OtherRoot(std::vector<std::string> files, EventSink& sink);

  /// Any thread; a few us. A process that has ended, or of which the system tells nothing, counts as one that sees all.
  void look(pid_t pid);

  /// The sentence, once; empty: there is none. Any thread.
  std::string news();

 private:
  std::vector<std::string> files_;
  EventSink& sink_;
  std::mutex mutex_;  // guards the rest
  bool found_ = false;
  std::string news_;
};

}  // namespace wicprof::cli
