// Whether CUDA would load code lazily.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "cli/checks/check.h"
#include "protocol/environment.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct ModuleLoading>(const Machine&) {
  const char* loading = std::getenv(kModuleLoadingVariable);
  Check check{"module loading", CheckState::ok, fmt::format("run sets {}=EAGER", kModuleLoadingVariable), {}, false};
  if (loading != nullptr && std::string(loading) != "EAGER") {
    check.state = CheckState::missing;
    check.detail = fmt::format("{} is set to {}: the first launch of a kernel can hang while another kernel waits",
                               kModuleLoadingVariable, loading);
    check.cure = fmt::format("unset {}", kModuleLoadingVariable);
  }
  return {check};
}

}  // namespace wicprof::cli
