#include "g_c2d/app.h"

#include "g_c2d/convolution.h"

namespace sample {

const AppInfo& g_c2d_info() {
  static const AppInfo info{"g_c2d",
                            "repeated 2-D convolution of an image that is split into bands over the devices",
                            "rows and columns of the image (default: 128, on GPUs 16384)",
                            "simt:2",
                            2,
                            {{"filters", "filter passes per step", "4", 1, 1000}},
                            &make_app<c2d::Convolution>};
  return info;
}

}  // namespace sample
