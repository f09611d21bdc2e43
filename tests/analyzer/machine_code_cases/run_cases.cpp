// Runs all cases of one build on a GPU, so that wic-prof can sample them.
//
// Usage: run_cases FOLDER BUILD [--once] [CASE...]   (without CASE: all)
// FOLDER holds FAMILY.BUILD.sm_90.cubin, or .ptx, as generate.py writes them. --once: two launches per case, then one
// line of JSON with a checksum of what each case wrote, or null where its two launches differ.
// Each case runs on one stream. On another stream a kernel computes for some milliseconds; then a kernel gives all
// words the value for which the case waits. A case that takes longer than kTimeout ends the process with status 1,
// because its kernel cannot be stopped.
#include <cuda.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

constexpr unsigned kWords = 64 * 16 * 32, kElements = 1 << 20, kBlocks = 64, kThreads = 128, kRounds = 256,
                   kRoundsOfUpdates = 2;
constexpr auto kTimeout = std::chrono::seconds(3);
constexpr auto kTimePerCase = std::chrono::milliseconds(15);
constexpr int kMaxLaunches = 40;

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what, text != nullptr ? text : "?");
  std::_Exit(1);
}

// Cases whose blocks wait for each other: nobody else may write their words.
bool waits_for_own_grid(const std::string& family, const std::string& name) {
  static const std::set<std::string> kNames = {"wait_chained_scan", "wait_pipeline", "wait_grid_sync",
                                               "wait_grid_sync_once"};
  return family == "grid_barrier" || family == "locks" || kNames.contains(name);
}

unsigned threads_of(const std::string& name) { return name.ends_with("_1024") ? 1024 : kThreads; }

struct Runner {
  CUstream stream = nullptr, other = nullptr;
  CUevent done = nullptr;
  CUdeviceptr word = 0, bound = 0, data = 0, index = 0, out = 0, scratch = 0;
  CUfunction computes = nullptr, sets_words = nullptr;

  void prepare(const std::string& beside) {
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    check(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    check(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    check(cuMemAlloc(&word, kWords * 4), "cuMemAlloc");
    check(cuMemAlloc(&bound, 256), "cuMemAlloc");
    check(cuMemAlloc(&data, kElements * 4), "cuMemAlloc");
    check(cuMemAlloc(&index, kElements * 4), "cuMemAlloc");
    check(cuMemAlloc(&out, kElements * 4 + 256), "cuMemAlloc");
    check(cuMemAlloc(&scratch, kElements * 4), "cuMemAlloc");
    float far = 1e29f;
    unsigned bounds[64] = {20000, 1, 1 << 20, 0, 0, 0, 0};
    std::memcpy(&bounds[3], &far, 4);
    check(cuMemcpyHtoD(bound, bounds, sizeof bounds), "cuMemcpyHtoD");
    std::vector<float> numbers(kElements);
    std::vector<int> places(kElements);
    for (unsigned i = 0; i < kElements; ++i) {
      numbers[i] = static_cast<float>(i * 2654435761u >> 8) / (1 << 24) + 0.01f;
      places[i] = static_cast<int>((i & ~4095u) | ((i * 1021 + 77) & 4095));
    }
    std::sort(numbers.begin(), numbers.begin() + kElements);
    check(cuMemcpyHtoD(data, numbers.data(), kElements * 4), "cuMemcpyHtoD");
    check(cuMemcpyHtoD(index, places.data(), kElements * 4), "cuMemcpyHtoD");
    check(cuMemsetD8(scratch, 0, kElements * 4), "cuMemset");
    CUmodule module = nullptr;
    check(cuModuleLoad(&module, beside.c_str()), "cuModuleLoad");
    check(cuModuleGetFunction(&computes, module, "beside_computes"), "cuModuleGetFunction");
    check(cuModuleGetFunction(&sets_words, module, "beside_sets_words"), "cuModuleGetFunction");
  }

  void launch(CUfunction function, const std::string& family, const std::string& name, unsigned rounds_beside) {
    check(cuMemsetD32(word, 0, kWords), "cuMemset");
    check(cuMemsetD8(out, 0, kElements * 4), "cuMemset");
    check(cuMemcpyHtoD(out + kElements * 4, &word, sizeof word), "cuMemcpyHtoD");
    check(cuCtxSynchronize(), "cuCtxSynchronize");
    // Thousands of threads update one word: a failed attempt repeats.
    unsigned n = name == "work_double_add" || name == "work_stack_push" ? kRoundsOfUpdates : kRounds;
    unsigned want = 1;
    void* arguments[] = {&word, &bound, &data, &index, &n, &want, &out};
    if (name.find("grid_sync") != std::string::npos) {
      check(cuLaunchCooperativeKernel(function, kBlocks, 1, 1, threads_of(name), 1, 1, 0, stream, arguments),
            "cuLaunchCooperativeKernel");
    } else {
      check(cuLaunchKernel(function, kBlocks, 1, 1, threads_of(name), 1, 1, 0, stream, arguments, nullptr),
            "cuLaunchKernel");
    }
    check(cuEventRecord(done, stream), "cuEventRecord");
    void* beside[] = {&scratch, &rounds_beside};
    check(cuLaunchKernel(computes, kBlocks, 1, 1, kThreads, 1, 1, 0, other, beside, nullptr), "cuLaunchKernel");
    if (!waits_for_own_grid(family, name)) {
      unsigned count = kWords;
      void* set[] = {&word, &count, &want};
      check(cuLaunchKernel(sets_words, 1, 1, 1, 256, 1, 1, 0, other, set, nullptr), "cuLaunchKernel");
    }
    const auto end = std::chrono::steady_clock::now() + kTimeout;
    CUresult state = CUDA_ERROR_NOT_READY;
    while ((state = cuEventQuery(done)) == CUDA_ERROR_NOT_READY) {
      if (std::chrono::steady_clock::now() > end) {
        std::printf("HANGS %s\n", name.c_str());
        std::fflush(stdout);
        std::_Exit(1);
      }
    }
    check(state, name.c_str());
    check(cuCtxSynchronize(), name.c_str());
  }

  static unsigned rounds_beside(const std::string& name) {
    // About 5 ms for a wait; work runs as long as it takes.
    return name.starts_with("wait_") ? 2'000'000 : 100'000;
  }

  unsigned long long launch_for_checksum(CUfunction function, const std::string& family, const std::string& name) {
    launch(function, family, name, rounds_beside(name));
    std::vector<unsigned> written(kElements);
    check(cuMemcpyDtoH(written.data(), out, kElements * 4), "cuMemcpyDtoH");
    unsigned long long checksum = 1469598103934665603ull;
    for (const unsigned value : written) checksum = (checksum ^ value) * 1099511628211ull;
    return checksum;
  }

  /// Appends the case to `results`, JSON.
  void run_once(CUfunction function, const std::string& family, const std::string& name, std::string& results) {
    const unsigned long long first = launch_for_checksum(function, family, name);
    const unsigned long long second = launch_for_checksum(function, family, name);
    char value[20] = "null";
    if (first == second) std::snprintf(value, sizeof value, "\"%016llx\"", first);
    results += (results.empty() ? "\"" : ", \"") + family + "/" + name + "\": " + value;
  }

  void run(CUfunction function, const std::string& family, const std::string& name) {
    const auto start = std::chrono::steady_clock::now();
    int launches = 0;
    for (; launches < kMaxLaunches && std::chrono::steady_clock::now() - start < kTimePerCase; ++launches) {
      launch(function, family, name, rounds_beside(name));
    }
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    std::printf("%s/%s: %d launches, %.1f ms\n", family.c_str(), name.c_str(), launches, ms);
    std::fflush(stdout);
  }
};

}  // namespace

int main(int count, char** words) {
  if (count < 3) return std::fprintf(stderr, "usage: run_cases FOLDER BUILD [--once] [CASE...]\n"), 2;
  alarm(120);
  const std::string build = words[2];
  std::set<std::string> chosen(words + 3, words + count);
  const bool once = chosen.erase("--once") > 0;
  std::map<std::string, std::string> images;  // by family
  for (const auto& file : std::filesystem::directory_iterator(words[1])) {
    const std::string name = file.path().filename().string();
    for (const char* const type : {".cubin", ".ptx"}) {
      const std::string ending = "." + build + ".sm_90" + type;
      if (name.ends_with(ending)) images[name.substr(0, name.size() - ending.size())] = file.path().string();
    }
  }
  if (!images.contains("run_kernels")) {
    return std::fprintf(stderr, "run_cases: no run_kernels.%s.sm_90.cubin or .ptx in %s\n", build.c_str(), words[1]), 2;
  }
  check(cuInit(0), "cuInit");
  CUdevice device = 0;
  CUcontext context = nullptr;
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  Runner runner;
  runner.prepare(images["run_kernels"]);
  images.erase("run_kernels");
  std::string results;
  for (const auto& [family, image] : images) {
    CUmodule module = nullptr;
    check(cuModuleLoad(&module, image.c_str()), "cuModuleLoad");
    unsigned functions = 0;
    check(cuModuleGetFunctionCount(&functions, module), "cuModuleGetFunctionCount");
    std::vector<CUfunction> all(functions);
    check(cuModuleEnumerateFunctions(all.data(), functions, module), "cuModuleEnumerateFunctions");
    for (const CUfunction function : all) {
      const char* name = nullptr;
      check(cuFuncGetName(&name, function), "cuFuncGetName");
      if (!chosen.empty() && !chosen.contains(name)) continue;
      if (once) {
        runner.run_once(function, family, name, results);
      } else {
        runner.run(function, family, name);
      }
    }
  }
  if (once)
    std::printf("{\"scenario\": \"cases %s\", \"cases\": {%s}, \"failed\": 0}\n", build.c_str(), results.c_str());
  return 0;
}
