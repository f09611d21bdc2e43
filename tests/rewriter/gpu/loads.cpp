// A program that loads its kernel's PTX in the way that it is told, as programs with compilers of their own do. It
// contains no wic code. The kernel is a chain of blocks that wait for each other; prints one line of JSON.
//
//   loads data|data_ex|library_file|module_file|nvrtc|nvrtc_cubin FILE.ptx [ROUNDS]
//   loads time FILE.ptx: how long the loads of any module and of its copy take
//   loads ptx FILE.ptx: writes the kernel's PTX
#include <cuda.h>
#include <nvrtc.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = "unknown";
  cuGetErrorString(result, &text);
  std::printf("{\"error\": \"%s: %s\"}\n", what, text);
  std::exit(1);
}

constexpr const char* kSource = R"(
extern "C" __global__ void chain(volatile unsigned* flags, unsigned* values, int rounds) {
  const unsigned before = blockIdx.x == 0 ? gridDim.x - 1 : blockIdx.x - 1;
  for (unsigned round = 1; round <= (unsigned)rounds; ++round) {
    if (threadIdx.x == 0) {
      const unsigned wanted = blockIdx.x == 0 ? round - 1 : round;
      while (flags[before * 32] < wanted) {
      }
      __threadfence();
    }
    __syncthreads();
    const unsigned i = threadIdx.x;
    values[blockIdx.x * blockDim.x + i] =
        (*(volatile unsigned*)&values[before * blockDim.x + i] ^ (blockIdx.x * 131 + round)) * 2654435761u;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) flags[blockIdx.x * 32] = round;
  }
})";

void check_nvrtc(nvrtcResult result, const char* what) {
  if (result == NVRTC_SUCCESS) return;
  std::printf("{\"error\": \"%s: %s\"}\n", what, nvrtcGetErrorString(result));
  std::exit(1);
}

/// The kernel compiled here: PTX for a virtual architecture, or machine code for a real one.
std::string compiled(const std::string& target, bool machine_code) {
  nvrtcProgram program;
  check_nvrtc(nvrtcCreateProgram(&program, kSource, "chain.cu", 0, nullptr, nullptr), "nvrtcCreateProgram");
  const std::string option = "--gpu-architecture=" + target;
  const char* const options[] = {option.c_str()};
  check_nvrtc(nvrtcCompileProgram(program, 1, options), "nvrtcCompileProgram");
  size_t bytes = 0;
  std::string code;
  if (machine_code) {
    check_nvrtc(nvrtcGetCUBINSize(program, &bytes), "nvrtcGetCUBINSize");
    code.resize(bytes);
    check_nvrtc(nvrtcGetCUBIN(program, code.data()), "nvrtcGetCUBIN");
  } else {
    check_nvrtc(nvrtcGetPTXSize(program, &bytes), "nvrtcGetPTXSize");
    code.resize(bytes);
    check_nvrtc(nvrtcGetPTX(program, code.data()), "nvrtcGetPTX");
  }
  check_nvrtc(nvrtcDestroyProgram(&program), "nvrtcDestroyProgram");
  return code;
}

using Clock = std::chrono::steady_clock;
double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

constexpr const char* kUsage =
    "loads data|data_ex|library_file|module_file|nvrtc|nvrtc_cubin FILE.ptx [ROUNDS]\nloads time|ptx FILE.ptx\n";

/// A process's first load, and the load of another module, whose text differs in a comment.
int time_loads(const std::string& code) {
  double ms[2];
  for (const int copy : {0, 1}) {
    const std::string text = copy == 0 ? code : code + "// copy\n";
    CUmodule module;
    const auto begin = Clock::now();
    check(cuModuleLoadData(&module, text.c_str()), "cuModuleLoadData");
    ms[copy] = ms_since(begin);
  }
  std::printf("{\"scenario\": \"time\", \"load_ms\": %.3f, \"next_load_ms\": %.3f, \"failed\": 0}\n", ms[0], ms[1]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  const std::string door = argv[1], file = argv[2];
  int rounds = argc > 3 ? std::atoi(argv[3]) : 200;
  check(cuInit(0), "cuInit");
  CUdevice device;
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  CUcontext context;
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  int sms = 0, major = 0, minor = 0;
  check(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device), "attribute");
  check(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device), "attribute");
  check(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device), "attribute");
  const std::string architecture = std::to_string(major * 10 + minor);
  if (door == "ptx") {
    std::ofstream(file) << compiled("compute_" + architecture, false).c_str();
    return 0;
  }

  std::stringstream ptx;
  ptx << std::ifstream(file).rdbuf();
  std::string code = ptx.str();
  if (door == "time") return time_loads(code);
  if (door == "nvrtc") code = compiled("compute_" + architecture, false);
  if (door == "nvrtc_cubin") code = compiled("sm_" + architecture, true);
  CUfunction chain = nullptr;
  const auto begin = Clock::now();
  if (door == "library_file") {
    CUlibrary library;
    check(cuLibraryLoadFromFile(&library, file.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
          "cuLibraryLoadFromFile");
    CUkernel kernel;
    check(cuLibraryGetKernel(&kernel, library, "chain"), "cuLibraryGetKernel");
    check(cuKernelGetFunction(&chain, kernel), "cuKernelGetFunction");
  } else {
    CUmodule module;
    if (door == "module_file") {
      check(cuModuleLoad(&module, file.c_str()), "cuModuleLoad");
    } else if (door == "data_ex") {
      char log[256] = "";
      CUjit_option names[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
      void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
      check(cuModuleLoadDataEx(&module, code.c_str(), 2, names, values), "cuModuleLoadDataEx");
    } else {
      check(cuModuleLoadData(&module, code.c_str()), "cuModuleLoadData");
    }
    check(cuModuleGetFunction(&chain, module, "chain"), "cuModuleGetFunction");
  }
  const double load_ms = ms_since(begin);

  CUdeviceptr flags, values;
  const size_t count = static_cast<size_t>(sms) * 64;
  check(cuMemAlloc(&flags, sms * 128), "cuMemAlloc");
  check(cuMemAlloc(&values, count * 4), "cuMemAlloc");
  double best = 1e30;
  std::vector<unsigned> result(count);
  for (int repeat = 0; repeat < 5; ++repeat) {
    check(cuMemsetD8(flags, 0, sms * 128), "cuMemsetD8");
    check(cuMemsetD8(values, 0, count * 4), "cuMemsetD8");
    check(cuCtxSynchronize(), "prepare");
    void* arguments[] = {&flags, &values, &rounds};
    const auto start = Clock::now();
    check(cuLaunchKernel(chain, sms, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr), "cuLaunchKernel");
    check(cuCtxSynchronize(), "chain");
    const double ms = ms_since(start);
    if (repeat > 0 && ms < best) best = ms;
  }
  check(cuMemcpyDtoH(result.data(), values, count * 4), "cuMemcpyDtoH");
  unsigned long long checksum = 1469598103934665603ull;
  for (const unsigned value : result) checksum = (checksum ^ value) * 1099511628211ull;
  std::printf("{\"scenario\": \"%s\", \"ms\": %.3f, \"load_ms\": %.3f, \"checksum\": \"%016llx\", \"failed\": 0}\n",
              door.c_str(), best, load_ms, checksum);
  return 0;
}
