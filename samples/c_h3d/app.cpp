#include "c_h3d/app.h"

#include <algorithm>
#include <string>
#include <thread>

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
  static const std::string threads = std::to_string(std::clamp(std::thread::hardware_concurrency() / 2, 1u, 2u));
  static const AppInfo info{"c_h3d",
                            "the halo exchange of a periodic 3-D cube between the CPU and devices",
                            "cells along each side of a rank's cube (default: 16, on GPUs 192)",
                            "simt:1",
                            1,
                            {{"threads", "threads of the CPU's rank", threads.c_str(), 1, 256},
                             {"check", "when to compare with the reference: at the end, or after every step", "end"}},
                            &make};
  return info;
}

}  // namespace sample
