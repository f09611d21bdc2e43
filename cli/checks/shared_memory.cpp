// Memory for the rings of a session. It lies in no file system, so that the size of /dev/shm does not matter.
#include <fmt/format.h>
#include <unistd.h>

#include "cli/checks/check.h"
#include "cli/files/container.h"
#include "cli/record/buffer_size.h"
#include "cli/record/cgroup.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct SharedMemory>(const Machine&) {
  const std::optional<std::uint64_t> left = cgroup_memory_left(getpid());
  const BufferSize buffer = fitting_buffer(left);
  Check check{"shared memory", CheckState::ok, {}, {}, true};
  if (!left) {
    check.detail = fmt::format("no memory limit; run takes {} MiB", buffer.bytes >> 20);
  } else if (*left > buffer.bytes) {
    check.detail =
        fmt::format("the memory limit leaves {} MiB, of which run takes {}", *left >> 20, buffer.bytes >> 20);
  } else {
    check.state = CheckState::missing;
    check.detail = fmt::format("the memory limit leaves {} MiB, and run needs {}", *left >> 20, buffer.bytes >> 20);
    const std::string cure = container_cure("--memory", "resources.limits.memory");
    check.cure = cure.empty() ? "raise the memory limit of this control group" : "raise the memory limit: " + cure;
  }
  return {check};
}

}  // namespace wicprof::cli
