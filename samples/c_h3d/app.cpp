#include "c_h3d/app.h"

#include "c_h3d/halo_exchange.h"

namespace sample {
namespace {

wicprof::Result<std::unique_ptr<App>> make(wic::Runtime& runtime, const AppOptions& options) {
  auto program = h3d::HaloExchange::make(runtime, options);
  if (!program) return program.error();
  return wicprof::Result<std::unique_ptr<App>>(*std::move(program));
}

}  // namespace

const AppInfo& c_h3d_info() {
  static const AppInfo info{
      "c_h3d",
      "the halo exchange of a periodic 3-D cube between the CPU and devices",
      "cells along each side of a device's cube (default: 16, on GPUs 192)",
      "simt:1",
      1,
      {{"threads", "threads of the CPU's rank; 0: half of the cores, 2 at most, for GPUs 8", "0", 0, 256},
       {"cpu-planes", "cells along x of the CPU's rank; 0: as many as --size, for GPUs 4", "0", 0, 512},
       {"check", "when to compare with the reference: at the end, or after every step", "end"}},
      &make};
  return info;
}

}  // namespace sample
