#include "g_gem/app.h"

#include "g_gem/product.h"

namespace sample {

const AppInfo& g_gem_info() {
  static const AppInfo info{
      "g_gem",
      "blocked matrix product C += A * B; the devices send each other B panel by panel",
      "rows and columns of the matrices (default: 128, on GPUs 4096)",
      "simt:2",
      2,
      {{"panels", "panels per device's band of B, one per communication iteration; 0: 4, on GPUs 8", "0", 0, 1024},
       {"tiles", "messages per panel; 0: 4, on GPUs 32", "0", 0, 1024}},
      &make_app<gem::BlockedProduct>};
  return info;
}

}  // namespace sample
