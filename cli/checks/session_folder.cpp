// The folder where sessions put their sockets and shared memory.
#include "cli/checks/check.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct SessionFolder>(const Machine& machine) {
  const Result<std::string>& folder = machine.session_folder;
  if (folder) return {{"session folder", CheckState::ok, *folder, {}, true}};
  return {{"session folder", CheckState::missing, folder.error().message,
           "set XDG_RUNTIME_DIR to a folder that belongs to you", true}};
}

}  // namespace wicprof::cli
