#include "g_stn/app.h"

#include "g_stn/heat.h"

namespace sample {
namespace {

wicprof::Result<std::unique_ptr<App>> make(wic::Runtime& runtime, const AppOptions& options) {
  auto program = stn::Heat::make(runtime, options);
  if (!program) return program.error();
  return wicprof::Result<std::unique_ptr<App>>(*std::move(program));
}

}  // namespace

const AppInfo& g_stn_info() {
  static const AppInfo info{"g_stn",
                            "3-D stencil on two fields of a cube in slabs over the devices, step by step",
                            "cells along each side of the cube (default: 24, on GPUs 512)",
                            "simt:2",
                            2,
                            {{"time-steps", "how many a step makes", "4", 1, 1000},
                             {"tiles", "messages a field and plane; 0: 2, on GPUs 8", "0", 0, 64}},
                            &make};
  return info;
}

}  // namespace sample
