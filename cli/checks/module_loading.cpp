// Whether CUDA loads all code at start, which the program's environment decides.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "cli/checks/check.h"
#include "protocol/environment.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct ModuleLoading>(const Machine&) {
  const char* loading = std::getenv(kModuleLoadingVariable);
  const bool eager = loading != nullptr && std::string(loading) == "EAGER";
  const std::string detail =
      eager ? fmt::format("{}=EAGER: programs load the code of all their libraries at start", kModuleLoadingVariable)
            : "as the program has it";
  return {{"module loading", CheckState::ok, detail, {}, false}};
}

}  // namespace wicprof::cli
