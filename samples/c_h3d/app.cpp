#include "c_h3d/app.h"

#include "c_h3d/halo_exchange.h"

namespace sample {

const AppInfo& c_h3d_info() {
  static const AppInfo info{
      "c_h3d",
      "the halo exchange of a periodic 3-D cube between the CPU and devices",
      "cells along each side of a device's cube (default: 16, on GPUs 192)",
      "simt:1",
      1,
      {{"threads", "threads of the CPU's rank; 0: half of the cores, at most 2, with GPUs at most 8", "0", 0, 256},
       {"cpu-planes", "cells along x of the CPU's rank; 0: as many as --size, with GPUs 4", "0", 0, 512},
       {"check", "when to compare with the reference: `end`, or `every` step", "end"}},
      &make_app<h3d::HaloExchange>,
      {{Rival::nblocking,
        "the program reads messages and flags in host memory from inside its kernels, which is what NBlocking does: "
        "use "
        "--wait alone"}}};
  return info;
}

}  // namespace sample
