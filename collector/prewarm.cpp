#include "collector/prewarm.h"

#include <dlfcn.h>

#include <set>
#include <vector>

#include "collector/rewrite/own_code.h"
#include "collector/rewrite/patched_code.h"
#include "rewriter/images/device_code.h"

namespace wicprof::collector {

namespace {

/// The images as a program hands them to the driver, one by one.
std::vector<std::string> images_of(std::string_view file) {
  const Result<std::vector<std::string_view>> containers = rewriter::containers_of(file);
  std::vector<std::string> images;
  if (containers) {
    for (const std::string_view container : *containers) images.emplace_back(container);
  }
  if (images.empty()) images.emplace_back(file);
  return images;
}

}  // namespace

Prewarmed prewarm(std::string_view file) {
  Prewarmed answer;
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto init = library == nullptr ? nullptr : reinterpret_cast<CUresult (*)(unsigned)>(dlsym(library, "cuInit"));
  if (init == nullptr || init(0) != CUDA_SUCCESS) {
    answer.problem = "there is no CUDA driver that starts";
    return answer;
  }
  const RewriteDriver& driver = RewriteDriver::loaded();
  int devices = 0;
  if (!driver.complete()) {
    answer.problem = "the CUDA driver is older than CUDA 12, or incomplete";
  } else if (driver.device_count(&devices) != CUDA_SUCCESS || devices == 0) {
    answer.problem = "there is no GPU";
  } else if (CodeCache::user_folder().empty()) {
    answer.problem = "neither XDG_CACHE_HOME nor HOME names a folder that only its user can write to";
  }
  if (!answer.problem.empty()) return answer;
  const CodeCache cache(CodeCache::user_folder());
  std::set<int> done;
  for (CUdevice device = 0; device < devices; ++device) {
    int major = 0, minor = 0;
    driver.device_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    driver.device_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    const CodeTarget target{device, major * 10 + minor};
    if (!done.insert(target.architecture).second) continue;
    for (const std::string& image : images_of(file)) {
      const OwnCode own(driver);
      LoadSteps steps;
      const std::string key = cache_key(driver, image, target);
      const rewriter::Replacement made = patched_code_of(driver, cache, key, image.c_str(), image, target, steps);
      ++(made.text.empty() ? answer.left_alone : answer.patched);
      if (!made.left_alone.empty()) answer.notes += made.left_alone + "\n";
      for (const auto& [kernel, why] : made.kernels_left_alone) answer.notes += why + "\n";
    }
  }
  return answer;
}

}  // namespace wicprof::collector
