#include "g_gem/app.h"

#include "g_gem/product.h"

namespace sample {
namespace {

wicprof::Result<std::unique_ptr<App>> make(wic::Runtime& runtime, const AppOptions& options) {
  auto program = gem::BlockedProduct::make(runtime, options);
  if (!program) return program.error();
  return wicprof::Result<std::unique_ptr<App>>(*std::move(program));
}

}  // namespace

const AppInfo& g_gem_info() {
  static const AppInfo info{
      "g_gem",
      "blocked matrix product C += A * B; the devices send each other B, panel by panel",
      "rows and columns of the matrices (default: 128, on GPUs 4096)",
      "simt:2",
      2,
      {{"panels", "of a device's band of B, each a communication iteration; 0: 4, on GPUs 8", "0", 0, 1024},
       {"tiles", "messages a panel; 0: 4, on GPUs 32", "0", 0, 1024}},
      &make};
  return info;
}

}  // namespace sample
