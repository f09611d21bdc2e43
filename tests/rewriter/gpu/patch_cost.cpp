// What a patch costs kernels that wait all the time: the kernels of patch_cost.cu in several files, as PTX or as
// machine code, launched in turn; the first file is the original. Prints, as lines of JSON, the best time of each
// kernel, and the median of its ratios to the first file's launch of the same turn, with the interval of 95 %. Polling
// is in force, and waits are recorded in files with `=recorded` behind their names. patch_cost.py makes a result file
// of it.
//
//   nvcc -O3 -std=c++20 -arch=compute_90 -ptx patch_cost.cu -o original.ptx
//   wic-prof rewrite original.ptx -o patched.ptx
//   ptxas -arch=sm_90 original.ptx -o original.cubin; ptxas -arch=sm_90 -maxrregcount=32 patched.ptx -o
//   patched.32.cubin patch_cost 7 original.cubin patched.32.cubin
#include <cuda.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "device.h"
#include "rewriter/patch/words.h"

namespace {

struct Scenario {
  const char* kernel;
  int rounds, threads;
};
constexpr Scenario kScenarios[] = {{"pair", 20'000, 32},    {"chain", 200, 64},        {"chain_t", 200, 64},
                                   {"barrier", 4'000, 64},  {"vote_128", 4'000, 128},  {"vote_256", 4'000, 256},
                                   {"semaphore", 100, 128}, {"passed_on", 4'000, 128}, {"grid_rounds", 1'000, 256}};
constexpr int kMostBlocksPerSm = 8;  // of grid_rounds: 2,048 threads

struct Result {
  std::vector<double> ms;  // of each turn
  unsigned long long checksum = 0;
};

struct Variant {
  std::string name;
  bool recorded = false;
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
  result.ms.push_back(ms);
  result.checksum = 1469598103934665603ull;
  for (const unsigned value : values) result.checksum = (result.checksum ^ value) * 1099511628211ull;
}

void* pinned(std::size_t bytes, CUdeviceptr& address) {
  void* memory = nullptr;
  check(cuMemHostAlloc(&memory, bytes, CU_MEMHOSTALLOC_DEVICEMAP), "cuMemHostAlloc");
  std::memset(memory, 0, bytes);
  check(cuMemHostGetDevicePointer(&address, memory, 0), "cuMemHostGetDevicePointer");
  return memory;
}

/// Gives a patched module what the collector would: words of sites that want polling, and a ring if they record.
void bind(const Variant& variant, const std::string& image) {
  using namespace wicprof::rewriter;
  constexpr std::size_t kNameBytes = 28;  // __wic_sites_ and 16 digits
  constexpr int kSites = 64;              // at least as many as the module has
  const std::size_t name = image.find("__wic_sites_");
  if (name == std::string::npos) return;
  CUdeviceptr table = 0, words[2] = {};
  std::size_t bytes = 0;
  check(cuModuleGetGlobal(&table, &bytes, variant.module, image.substr(name, kNameBytes).c_str()), "the table");
  auto* const sites = static_cast<SiteWords*>(pinned(kSites * sizeof(SiteWords), words[0]));
  if (variant.recorded) {
    pinned(kRecords * sizeof(Record), words[1]);
    for (int i = 0; i < kSites; ++i) sites[i].control = kRecord;
  }
  check(cuMemcpyHtoD(table, words, sizeof words), "cuMemcpyHtoD");
}

/// Of the turns' ratios: the median, and the order statistics that have it between them in 95 of 100 cases.
struct Ratio {
  double median = 0, low = 0, high = 0;
};

Ratio ratio_of(const std::vector<double>& of, const std::vector<double>& to) {
  std::vector<double> ratios;
  for (std::size_t turn = 0; turn < std::min(of.size(), to.size()); ++turn) ratios.push_back(of[turn] / to[turn]);
  std::sort(ratios.begin(), ratios.end());
  const std::size_t count = ratios.size();
  const double spread = 0.98 * std::sqrt(static_cast<double>(count));
  const auto at = [&](double place) {
    return ratios[static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(count - 1)))];
  };
  const double middle = static_cast<double>(count) / 2;
  return {at(middle), at(middle - spread), at(middle + spread)};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("patch_cost TURNS ORIGINAL FILE...\n", stderr);
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
    const std::string file = variant.name.substr(0, variant.name.find('='));
    variant.recorded = file != variant.name;
    const std::string image = bytes_of(file.c_str());
    check(cuModuleLoadData(&variant.module, image.c_str()), argv[i]);
    bind(variant, image);
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
      const Ratio ratio = ratio_of(result.ms, original.ms);
      std::printf(
          "{\"file\": \"%s\", \"kernel\": \"%s\", \"ms\": %.4f, \"ratio\": %.4f, \"low\": %.4f, \"high\": %.4f, "
          "\"turns\": %zu, \"same_result\": %s}\n",
          variant.name.c_str(), kernel.c_str(), *std::min_element(result.ms.begin(), result.ms.end()), ratio.median,
          ratio.low, ratio.high, result.ms.size(), result.checksum == original.checksum ? "true" : "false");
    }
  }
  return same ? 0 : 1;
}
