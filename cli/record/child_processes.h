// The processes whose parent is wic-prof: the program, and with a subreaper whatever the program's processes leave.
#pragma once

#include <sys/types.h>

#include <vector>

#include "protocol/result.h"

namespace wicprof::cli {

/// The children of this process, ended ones that nobody has waited for included. Error: the kernel has no such list.
Result<std::vector<pid_t>> child_processes();

/// While it lives, descendants whose parent ends become children of this process instead of init's.
class Subreaper {
 public:
  /// `wanted` false: does nothing.
  explicit Subreaper(bool wanted);
  Subreaper(const Subreaper&) = delete;
  Subreaper& operator=(const Subreaper&) = delete;
  ~Subreaper();

 private:
  bool on_;
};

}  // namespace wicprof::cli
