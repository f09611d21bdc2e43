// CUPTI, which the collector uses.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdint>

#include "cli/checks/check.h"
#include "cli/record/app_environment.h"
#include "protocol/environment.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct Cupti>(const Machine&) {
  const std::string path = find_cupti();
  const std::string cure =
      fmt::format("install the CUDA toolkit's CUPTI, or name its library in {}", kCuptiPathVariable);
  if (path.empty()) return {{"CUPTI", CheckState::missing, "no libcupti found", cure, false}};
  // Stays loaded, since it may have started threads.
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return {{"CUPTI", CheckState::missing, fmt::format("{} does not load: {}", path, reason == nullptr ? "" : reason),
             cure, false}};
  }
  const auto get = reinterpret_cast<int (*)(std::uint32_t*)>(dlsym(library, "cuptiGetVersion"));
  std::uint32_t version = 0;
  if (get == nullptr || get(&version) != 0)
    return {{"CUPTI", CheckState::missing, path + " does not report its version", cure, false}};
  return {{"CUPTI",
           CheckState::ok,
           fmt::format("{}, API version {}; serves one profiler at a time (beside torch.profiler: run --trace host)",
                       path, version),
           {},
           false}};
}

}  // namespace wicprof::cli
