// The folder where sessions put their sockets and shared memory.
#include "cli/checks/check.h"
#include "cli/files/container.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct SessionFolder>(const Machine& machine) {
  const Result<std::string>& folder = machine.session_folder;
  if (folder) return {{"session folder", CheckState::ok, *folder, {}, true}};
  const std::string cure = container_cure(
      "--tmpfs /run/wic-prof:mode=1777 --env XDG_RUNTIME_DIR=/run/wic-prof",
      "emptyDir: {medium: Memory} of volumes, a mountPath for it, and XDG_RUNTIME_DIR in env that names this path");
  return {{"session folder", CheckState::missing, folder.error().message,
           cure.empty() ? "set XDG_RUNTIME_DIR to a folder that belongs to you" : cure, true}};
}

}  // namespace wicprof::cli
