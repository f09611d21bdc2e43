#include "g_stn/app.h"

#include "g_stn/heat.h"

namespace sample {

const AppInfo& g_stn_info() {
  static const AppInfo info{"g_stn",
                            "3-D stencil on two fields of a cube that is split into slabs over the devices",
                            "cells along each side of the cube (default: 24, on GPUs 512)",
                            "simt:2",
                            2,
                            {{"time-steps", "time steps per step", "4", 1, 1000},
                             {"tiles", "messages per field and plane; 0: 2, on GPUs 8", "0", 0, 64}},
                            &make_app<stn::Heat>};
  return info;
}

}  // namespace sample
