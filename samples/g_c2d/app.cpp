#include "g_c2d/app.h"

#include "g_c2d/convolution.h"

namespace sample {
namespace {

wicprof::Result<std::unique_ptr<App>> make(wic::Runtime& runtime, const AppOptions& options) {
  auto program = c2d::Convolution::make(runtime, options);
  if (!program) return program.error();
  return wicprof::Result<std::unique_ptr<App>>(*std::move(program));
}

}  // namespace

const AppInfo& g_c2d_info() {
  static const AppInfo info{"g_c2d",
                            "2-D convolution of an image in bands over the devices, again and again",
                            "rows and columns of the image (default: 128, on GPUs 16384)",
                            "simt:2",
                            2,
                            {{"filters", "how often a step filters the image", "4", 1, 1000}},
                            &make};
  return info;
}

}  // namespace sample
