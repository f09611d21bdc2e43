// What each GPU can do with the memory of the others. Pairs with the same answer share a line, since eight GPUs have 56
// pairs.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "cli/checks/check.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct PeerAccess>(const Machine& machine) {
  if (!machine.driver) return {};
  std::map<std::pair<bool, std::optional<bool>>, std::string> pairs;
  for (const CudaPeers& p : machine.driver->peers) {
    std::string& list = pairs[{p.access, p.native_atomics}];
    list += fmt::format("{}{}->{}", list.empty() ? "" : ", ", p.from, p.to);
  }
  std::vector<Check> checks;
  for (const auto& [ability, list] : pairs) {
    Check check{"peer access", ability.first ? CheckState::ok : CheckState::missing, {}, {}, false};
    if (!ability.first) {
      check.detail = fmt::format("none: {}", list);
      check.cure = "words and channels between these GPUs must be in host memory; see nvidia-smi topo -p2p r";
    } else {
      check.detail = fmt::format("{}; atomics between them: {}", list,
                                 !ability.second   ? "unknown"
                                 : *ability.second ? "native"
                                                   : "none, so do not use atomics on words between them");
    }
    checks.push_back(check);
  }
  if (checks.empty()) checks.push_back({"peer access", CheckState::not_applicable, "needs two GPUs", {}, false});
  return checks;
}

}  // namespace wicprof::cli
