// Whether a session can be created: its file, its lock and its memory.
#include <fmt/format.h>
#include <unistd.h>

#include "cli/checks/check.h"
#include "protocol/session.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct NewSession>(const Machine& machine) {
  if (!machine.session_folder) return {};
  SessionOptions options;
  options.name = fmt::format("doctor-{}", getpid());
  options.app = "doctor";
  options.rings[0] = {1, 2 * kMaxEventSize};
  const Result<SessionOwner> session = SessionOwner::create(options);
  if (session) return {{"session", CheckState::ok, "created one and removed it", {}, true}};
  return {{"session", CheckState::missing, session.error().message, "see the line above", true}};
}

}  // namespace wicprof::cli
