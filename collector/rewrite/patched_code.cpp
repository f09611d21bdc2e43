#include "collector/rewrite/patched_code.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "collector/program/environment.h"
#include "collector/rewrite/ptx_beside.h"
#include "collector/rewrite/trial.h"

namespace wicprof::collector {

namespace {

// Smaller images without PTX, or without a wait in it, are analysed within a millisecond or two.
constexpr std::size_t kSmallImage = std::size_t{64} << 10;  // bytes

// Whether the driver compiles PTX at all, and which code it prefers.
constexpr const char* kCompilerVariables[] = {"CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT", "CUDA_FORCE_PTX_JIT",
                                              "CUDA_FORCE_JIT"};

}  // namespace

std::string build_of(const void* code) {
  Dl_info file{};
  struct stat info {};
  if (code == nullptr || dladdr(code, &file) == 0 || stat(file.dli_fname, &info) != 0) return {};
  return std::to_string(info.st_size) + " bytes of " + std::to_string(info.st_mtim.tv_sec) + "." +
         std::to_string(info.st_mtim.tv_nsec);
}

std::string cache_key(const RewriteDriver& driver, std::string_view bytes, const CodeTarget& target) {
  if (!rewriter::may_have_ptx(bytes)) return {};
  int version = 0;
  if (driver.driver_version != nullptr) driver.driver_version(&version);
  std::string machine = "sm_" + std::to_string(target.architecture) + " driver " + std::to_string(version) + ", " +
                        build_of(reinterpret_cast<const void*>(driver.driver_version));
  if (!counts_waits()) machine += " uncounted";
  // With these the driver refuses what it took before.
  for (const char* const name : kCompilerVariables) {
    const char* const value = std::getenv(name);
    machine += std::string(" ") + name + "=" + (value == nullptr ? "" : value);
  }
  return CodeCache::key(bytes, machine);
}

rewriter::Replacement analysed(std::string_view bytes, const CodeTarget& target) {
  rewriter::Replacement made = rewriter::replacement_of(bytes, target.architecture,
                                                        rewriter::within(rewriter::kLongestAnalysis), counts_waits());
  // Compilers that keep the PTX elsewhere load bare machine code.
  if (made.machine_code_only.empty() || !rewriter::may_have_ptx(bytes)) return made;
  const std::string ptx = ptx_beside(bytes);
  if (ptx.empty()) return made;
  made =
      rewriter::replacement_of(ptx, target.architecture, rewriter::within(rewriter::kLongestAnalysis), counts_waits());
  made.has_machine_code = true;
  return made;
}

rewriter::Replacement patched_code_of(const RewriteDriver& driver, const CodeCache& cache, const std::string& key,
                                      const void* image, std::string_view bytes, const CodeTarget& target,
                                      LoadSteps& steps) {
  const bool keeps = !key.empty();
  if (keeps) {
    std::optional<rewriter::Replacement> found = cache.find(key);
    steps.done("cache");
    if (found) return *std::move(found);
  }
  rewriter::Replacement made = analysed(bytes, target);
  steps.done("analysis");
  // The PTX of machine code may come later: Triton writes it, or NVRTC is asked for it.
  const bool is_final = made.machine_code_only.empty() && !made.ended_early;
  if (!made.text.empty()) {
    if (std::string refused = try_replacement(driver, image, made, target.device, steps); !refused.empty()) {
      made = {};
      made.left_alone = std::move(refused);
    }
  }
  if (keeps && is_final && (!made.text.empty() || bytes.size() >= kSmallImage)) {
    cache.store(key, made);
    steps.done("cache");
  }
  return made;
}

}  // namespace wicprof::collector
