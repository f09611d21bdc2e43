// What a patch costs kernels that wait all the time: the kernels of patch_cost.cu in several files, as PTX or as
// machine code, launched in turn; the first file is the original. Prints the best time of each kernel, and its ratio to
// the first file's. The patch's table is 0: its loops look and find nothing to do.
//
//   nvcc -O3 -std=c++20 -arch=compute_90 -ptx patch_cost.cu -o original.ptx
//   wic-prof rewrite original.ptx -o patched.ptx
//   ptxas -arch=sm_90 original.ptx -o original.cubin; ptxas -arch=sm_90 -maxrregcount=32 patched.ptx -o
//   patched.32.cubin patch_cost 7 original.cubin patched.32.cubin
#include <cuda.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "device.h"

namespace {

struct Scenario {
  const char* kernel;
  int rounds, threads;
};
constexpr Scenario kScenarios[] = {{"pair", 20'000, 32},
                                   {"chain", 200, 64},
                                   {"chain_t", 200, 64},
                                   {"barrier", 4'000, 64},
                                   {"grid_rounds", 1'000, 256}};
constexpr int kMostBlocksPerSm = 8;  // of grid_rounds: 2,048 threads

struct Result {
  double ms = 1e30;
  unsigned long long checksum = 0;
};

struct Variant {
  std::string name;
  CUmodule module = nullptr;
  std::map<std::string, Result> results;
};

struct Memory {
  int sms = 0;
  std::size_t values_count = 0;
  CUdeviceptr flags = 0, values = 0, failed = 0;
};

void launch_once(Variant& variant, const Scenario& scenario, Memory& memory) {
  CUfunction kernel;
  if (cuModuleGetFunction(&kernel, variant.module, scenario.kernel) != CUDA_SUCCESS) return;
  const std::size_t flag_bytes = static_cast<std::size_t>(memory.sms) * 128;
  check(cuMemsetD8(memory.flags, 0, flag_bytes), "cuMemsetD8");
  check(cuMemsetD8(memory.values, 0, memory.values_count * 4), "cuMemsetD8");
  check(cuCtxSynchronize(), "prepare");
  int rounds = scenario.rounds;
  const auto threads = static_cast<unsigned>(scenario.threads);
  const auto begin = std::chrono::steady_clock::now();
  if (std::string(scenario.kernel) == "grid_rounds") {
    int per_sm = 0;
    check(cuOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, scenario.threads, 0), "occupancy");
    if (per_sm < kMostBlocksPerSm && variant.results.find(scenario.kernel) == variant.results.end()) {
      std::printf("%s: %d blocks of grid_rounds per SM\n", variant.name.c_str(), per_sm);
    }
    void* arguments[] = {&memory.values, &rounds};
    const auto blocks = static_cast<unsigned>(std::min(per_sm, kMostBlocksPerSm) * memory.sms);
    check(cuLaunchCooperativeKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments), "cooperative launch");
  } else {
    void* arguments[] = {&memory.flags, &memory.values, &rounds, &memory.failed};
    const unsigned blocks = std::string(scenario.kernel) == "pair" ? 2 : static_cast<unsigned>(memory.sms);
    check(cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr), "launch");
  }
  check(cuCtxSynchronize(), scenario.kernel);
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  std::vector<unsigned> values(memory.values_count);
  check(cuMemcpyDtoH(values.data(), memory.values, memory.values_count * 4), "cuMemcpyDtoH");
  Result& result = variant.results[scenario.kernel];
  result.ms = std::min(result.ms, ms);
  result.checksum = 1469598103934665603ull;
  for (const unsigned value : values) result.checksum = (result.checksum ^ value) * 1099511628211ull;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("patch_cost REPEATS ORIGINAL FILE...\n", stderr);
    return 2;
  }
  const CUdevice device = open_device();
  Memory memory;
  check(cuDeviceGetAttribute(&memory.sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device), "attribute");
  memory.values_count = static_cast<std::size_t>(memory.sms) * 2048 * 3;
  check(cuMemAlloc(&memory.flags, static_cast<std::size_t>(memory.sms) * 128), "cuMemAlloc");
  check(cuMemAlloc(&memory.values, memory.values_count * 4), "cuMemAlloc");
  check(cuMemAlloc(&memory.failed, 4), "cuMemAlloc");
  std::vector<Variant> variants;
  for (int i = 2; i < argc; ++i) {
    Variant& variant = variants.emplace_back();
    variant.name = argv[i];
    check(cuModuleLoadData(&variant.module, bytes_of(argv[i]).c_str()), argv[i]);
  }
  for (int repeat = 0; repeat < std::atoi(argv[1]); ++repeat) {
    for (Variant& variant : variants) {
      for (const Scenario& scenario : kScenarios) launch_once(variant, scenario, memory);
    }
  }
  bool same = true;
  for (const Variant& variant : variants) {
    for (const auto& [kernel, result] : variant.results) {
      const Result& original = variants.front().results[kernel];
      same &= result.checksum == original.checksum;
      std::printf("%-28s %-12s %9.3f ms %.4f%s\n", variant.name.c_str(), kernel.c_str(), result.ms,
                  result.ms / original.ms, result.checksum == original.checksum ? "" : " DIFFERENT RESULT");
    }
  }
  return same ? 0 : 1;
}
