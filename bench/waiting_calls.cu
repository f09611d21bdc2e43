// Which calls of CUDA's runtime keep a host thread waiting for kernels that run: each call is made while a kernel of
// 5 ms runs (for launches: of 30 ms), and while none does. What it takes longer is the time that it waits.
//   bench_waiting_calls -o FILE [--rounds 5]
// A row per call: by how many ms a running kernel makes it longer (the median of the rounds), the CPU time that the
// thread uses up in that time, and what the call takes with nothing running. Nothing is claimed.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/claim.h"
#include "tests/collector/gpu/busy.h"

namespace {

using namespace wicprof::bench;

constexpr double kKernelMs = 5;
constexpr double kLongKernelMs = 30;                  // longer than thousands of launches
constexpr std::size_t kMost = std::size_t{16} << 20;  // bytes that are copied

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
  std::exit(3);
}

double ms_of(clockid_t clock) {
  timespec at{};
  clock_gettime(clock, &at);
  return static_cast<double>(at.tv_sec) * 1e3 + static_cast<double>(at.tv_nsec) / 1e6;
}

__device__ unsigned symbol;

struct Memory {
  std::vector<char> pageable = std::vector<char>(kMost, 1), pageable_too = std::vector<char>(kMost, 1);
  char* pinned = nullptr;
  char* device = nullptr;
  char* device_too = nullptr;
  char* managed = nullptr;

  Memory() {
    check(cudaMallocHost(&pinned, kMost), "cudaMallocHost");
    check(cudaMalloc(&device, kMost), "cudaMalloc");
    check(cudaMalloc(&device_too, kMost), "cudaMalloc");
    check(cudaMallocManaged(&managed, 4096), "cudaMallocManaged");
    check(cudaMemset(managed, 0, 4096), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
};

/// A call, with what must be there before it and what follows it, both outside the time.
struct Call {
  std::string name;
  bool on_default;  // the kernel is in the legacy default stream, not in one of its own
  std::function<void(cudaStream_t)> make;
  std::function<void()> before = [] {};
  std::function<void()> after = [] {};
  bool destroys_stream = false;
  double kernel_ms = kKernelMs;
};

struct Times {
  double wall, cpu;
};

Times time_of(const Call& call, bool kernel_runs) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  call.before();
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  if (kernel_runs) {
    busy<<<1, 1, 0, call.on_default ? nullptr : stream>>>(static_cast<unsigned long long>(call.kernel_ms * 1e6),
                                                          nullptr);
    check(cudaGetLastError(), "a launch");
  }
  const Times begin{ms_of(CLOCK_MONOTONIC), ms_of(CLOCK_THREAD_CPUTIME_ID)};
  call.make(stream);
  const Times took{ms_of(CLOCK_MONOTONIC) - begin.wall, ms_of(CLOCK_THREAD_CPUTIME_ID) - begin.cpu};
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  call.after();
  if (!call.destroys_stream) check(cudaStreamDestroy(stream), "cudaStreamDestroy");
  return took;
}

std::vector<Call> copies(Memory& memory) {
  std::vector<Call> calls;
  const auto add = [&](std::string name, bool on_default, std::function<void(cudaStream_t)> make) {
    calls.push_back({std::move(name), on_default, std::move(make)});
  };
  const auto async = [&](const std::string& name, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    add("cudaMemcpyAsync, " + name, false,
        [=](cudaStream_t stream) { check(cudaMemcpyAsync(to, from, bytes, kind, stream), "cudaMemcpyAsync"); });
  };
  char* const pageable = memory.pageable.data();
  async("device to pageable, 4 bytes", pageable, memory.device, 4, cudaMemcpyDeviceToHost);
  async("device to pageable, 16 MiB", pageable, memory.device, kMost, cudaMemcpyDeviceToHost);
  async("device to pageable, 4 bytes, direction left to the driver", pageable, memory.device, 4, cudaMemcpyDefault);
  async("device to pinned, 4 bytes", memory.pinned, memory.device, 4, cudaMemcpyDeviceToHost);
  async("managed to pageable, 4 bytes", pageable, memory.managed, 4, cudaMemcpyDeviceToHost);
  for (const auto& [bytes, name] : std::map<std::size_t, std::string>{{4, "4 bytes"},
                                                                      {65536, "64 KiB"},
                                                                      {65540, "64 KiB and 4 bytes"},
                                                                      {1 << 20, "1 MiB"},
                                                                      {2 << 20, "2 MiB"},
                                                                      {4 << 20, "4 MiB"},
                                                                      {8 << 20, "8 MiB"},
                                                                      {kMost, "16 MiB"}}) {
    async("pageable to device, " + name, memory.device, pageable, bytes, cudaMemcpyHostToDevice);
  }
  async("pinned to device, 16 MiB", memory.device, memory.pinned, kMost, cudaMemcpyHostToDevice);
  async("pageable to pageable, 4 bytes", memory.pageable_too.data(), pageable, 4, cudaMemcpyHostToHost);
  async("pinned to pageable, 4 bytes", pageable, memory.pinned, 4, cudaMemcpyHostToHost);
  async("pinned to pinned, 4 bytes", memory.pinned + 4096, memory.pinned, 4, cudaMemcpyHostToHost);
  async("pageable to pinned, 4 bytes, direction left to the driver", memory.pinned, pageable, 4, cudaMemcpyDefault);
  async("pageable to managed, 4 bytes", memory.managed, pageable, 4, cudaMemcpyHostToDevice);
  async("device to managed, 4 bytes", memory.managed, memory.device, 4, cudaMemcpyDeviceToDevice);
  async("device to device, 16 MiB", memory.device_too, memory.device, kMost, cudaMemcpyDeviceToDevice);
  const auto plane = [=](char* to, bool is_async) {
    return [=](cudaStream_t stream) {
      const auto kind = cudaMemcpyDeviceToHost;
      check(is_async ? cudaMemcpy2DAsync(to, 256, memory.device, 512, 128, 8, kind, stream)
                     : cudaMemcpy2D(to, 256, memory.device, 512, 128, 8, kind),
            "a copy of two dimensions");
    };
  };
  const auto volume = [=](char* to, bool is_async) {
    return [=](cudaStream_t stream) {
      cudaMemcpy3DParms copy{};
      copy.srcPtr = make_cudaPitchedPtr(memory.device, 512, 512, 8);
      copy.dstPtr = make_cudaPitchedPtr(to, 256, 256, 8);
      copy.extent = make_cudaExtent(128, 4, 4);
      copy.kind = cudaMemcpyDeviceToHost;
      check(is_async ? cudaMemcpy3DAsync(&copy, stream) : cudaMemcpy3D(&copy), "a copy of three dimensions");
    };
  };
  add("cudaMemcpy2DAsync, device to pageable", false, plane(pageable, true));
  add("cudaMemcpy2DAsync, device to pinned", false, plane(memory.pinned, true));
  add("cudaMemcpy3DAsync, device to pageable", false, volume(pageable, true));
  add("cudaMemcpy3DAsync, device to pinned", false, volume(memory.pinned, true));
  add("cudaMemcpyFromSymbolAsync, to pageable", false, [=](cudaStream_t stream) {
    check(cudaMemcpyFromSymbolAsync(pageable, symbol, 4, 0, cudaMemcpyDeviceToHost, stream), "cudaMemcpyFromSymbol");
  });
  const auto sync = [&](const std::string& name, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    add("cudaMemcpy, " + name, true, [=](cudaStream_t) { check(cudaMemcpy(to, from, bytes, kind), "cudaMemcpy"); });
  };
  sync("device to pageable, 4 bytes", pageable, memory.device, 4, cudaMemcpyDeviceToHost);
  sync("device to pinned, 4 bytes", memory.pinned, memory.device, 4, cudaMemcpyDeviceToHost);
  sync("device to pageable, 4 bytes, direction left to the driver", pageable, memory.device, 4, cudaMemcpyDefault);
  sync("pageable to device, 4 bytes", memory.device, pageable, 4, cudaMemcpyHostToDevice);
  sync("pageable to device, 16 MiB", memory.device, pageable, kMost, cudaMemcpyHostToDevice);
  sync("pinned to device, 4 bytes", memory.device, memory.pinned, 4, cudaMemcpyHostToDevice);
  sync("pageable to device, 4 bytes, direction left to the driver", memory.device, pageable, 4, cudaMemcpyDefault);
  sync("pinned to pinned, 4 bytes", memory.pinned + 4096, memory.pinned, 4, cudaMemcpyHostToHost);
  sync("device to device, 4 bytes, direction left to the driver", memory.device_too, memory.device, 4,
       cudaMemcpyDefault);
  sync("managed to device, 4 bytes, direction left to the driver", memory.device, memory.managed, 4, cudaMemcpyDefault);
  sync("device to device, 4 bytes", memory.device_too, memory.device, 4, cudaMemcpyDeviceToDevice);
  add("cudaMemcpy2D, device to pageable", true, plane(pageable, false));
  add("cudaMemcpy3D, device to pageable", true, volume(pageable, false));
  add("cudaMemcpyFromSymbol", true,
      [=](cudaStream_t) { check(cudaMemcpyFromSymbol(pageable, symbol, 4), "cudaMemcpyFromSymbol"); });
  add("cudaMemcpyToSymbol", true,
      [=](cudaStream_t) { check(cudaMemcpyToSymbol(symbol, pageable, 4), "cudaMemcpyToSymbol"); });
  add("cudaMemcpy2D, pageable to device", true, [=](cudaStream_t) {
    check(cudaMemcpy2D(memory.device, 512, pageable, 256, 128, 8, cudaMemcpyHostToDevice), "cudaMemcpy2D");
  });
  add("cudaMemset", true, [=](cudaStream_t) { check(cudaMemset(memory.device, 0, 4), "cudaMemset"); });
  return calls;
}

std::function<void(cudaStream_t)> launches(int times) {
  return [=](cudaStream_t stream) {
    for (int i = 0; i < times; ++i) busy<<<1, 1, 0, stream>>>(0, nullptr);
    check(cudaGetLastError(), "a launch");
  };
}

std::vector<Call> others(Memory& memory) {
  static void* block = nullptr;
  static cudaEvent_t event = nullptr;
  static cudaGraphExec_t graph = nullptr;
  static cudaArray_t array = nullptr;
  const auto of_host = [] { check(cudaMallocHost(&block, 1 << 20), "cudaMallocHost"); };
  const auto of_device = [] { check(cudaMalloc(&block, 1 << 20), "cudaMalloc"); };
  const auto make_graph = [] {
    cudaGraph_t empty = nullptr;
    cudaGraphNode_t node = nullptr;
    check(cudaGraphCreate(&empty, 0), "cudaGraphCreate");
    check(cudaGraphAddEmptyNode(&node, empty, nullptr, 0), "cudaGraphAddEmptyNode");
    check(cudaGraphInstantiate(&graph, empty, 0), "cudaGraphInstantiate");
    check(cudaGraphDestroy(empty), "cudaGraphDestroy");
  };
  const auto free_block = [] { check(cudaFree(block), "cudaFree"); };
  const auto free_of_host = [] { check(cudaFreeHost(block), "cudaFreeHost"); };
  char* const pageable = memory.pageable.data();
  return {
      {"cudaStreamSynchronize", false,
       [](cudaStream_t s) { check(cudaStreamSynchronize(s), "cudaStreamSynchronize"); }},
      {"cudaMalloc", false, [](cudaStream_t) { check(cudaMalloc(&block, 1 << 20), "cudaMalloc"); }, [] {}, free_block},
      {"cudaFree, 1 MiB", false, [=](cudaStream_t) { free_block(); }, of_device},
      {"cudaFree, 4 bytes", false, [=](cudaStream_t) { free_block(); },
       [] { check(cudaMalloc(&block, 4), "cudaMalloc"); }},
      {"cudaFree, 64 MiB", false, [=](cudaStream_t) { free_block(); },
       [] { check(cudaMalloc(&block, std::size_t{64} << 20), "cudaMalloc"); }},
      {"cudaFree, managed", false, [=](cudaStream_t) { free_block(); },
       [] { check(cudaMallocManaged(&block, 4096), "cudaMallocManaged"); }},
      {"cudaFree, of a pool", false, [=](cudaStream_t) { free_block(); },
       [] { check(cudaMallocAsync(&block, 1 << 20, nullptr), "cudaMallocAsync"); }},
      {"cudaFree, nothing", false, [](cudaStream_t) { check(cudaFree(nullptr), "cudaFree"); }},
      {"cudaFreeArray", false, [](cudaStream_t) { check(cudaFreeArray(array), "cudaFreeArray"); },
       [] {
         const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
         check(cudaMallocArray(&array, &format, 64, 64), "cudaMallocArray");
       }},
      {"cudaMallocAsync", false, [](cudaStream_t s) { check(cudaMallocAsync(&block, 1 << 20, s), "cudaMallocAsync"); },
       [] {}, free_block},
      {"cudaFreeAsync", false, [](cudaStream_t s) { check(cudaFreeAsync(block, s), "cudaFreeAsync"); },
       [] { check(cudaMallocAsync(&block, 1 << 20, nullptr), "cudaMallocAsync"); }},
      {"cudaMallocHost", false, [=](cudaStream_t) { of_host(); }, [] {}, free_of_host},
      {"cudaFreeHost", false, [=](cudaStream_t) { free_of_host(); }, of_host},
      {"cudaHostRegister", false,
       [=](cudaStream_t) { check(cudaHostRegister(pageable, 1 << 20, 0), "cudaHostRegister"); }, [] {},
       [=] { check(cudaHostUnregister(pageable), "cudaHostUnregister"); }},
      {"cudaHostUnregister", false, [=](cudaStream_t) { check(cudaHostUnregister(pageable), "cudaHostUnregister"); },
       [=] { check(cudaHostRegister(pageable, 1 << 20, 0), "cudaHostRegister"); }},
      {"cudaStreamDestroy", false, [](cudaStream_t s) { check(cudaStreamDestroy(s), "cudaStreamDestroy"); }, [] {},
       [] {}, true},
      {"cudaEventCreate", false, [](cudaStream_t) { check(cudaEventCreate(&event), "cudaEventCreate"); }, [] {},
       [] { check(cudaEventDestroy(event), "cudaEventDestroy"); }},
      {"cudaGraphInstantiate", false, [=](cudaStream_t) { make_graph(); }, [] {},
       [] { check(cudaGraphExecDestroy(graph), "cudaGraphExecDestroy"); }},
      {"cudaGraphLaunch", false, [](cudaStream_t s) { check(cudaGraphLaunch(graph, s), "cudaGraphLaunch"); },
       make_graph, [] { check(cudaGraphExecDestroy(graph), "cudaGraphExecDestroy"); }},
      {"a kernel's launch, 1,000 times", false, launches(1000), [] {}, [] {}, false, kLongKernelMs},
      {"a kernel's launch, 1,500 times", false, launches(1500), [] {}, [] {}, false, kLongKernelMs},
      {"cudaGraphExecDestroy", false, [](cudaStream_t) { check(cudaGraphExecDestroy(graph), "cudaGraphExecDestroy"); },
       make_graph},
  };
}

}  // namespace

int main(int argc, char** argv) {
  Claim claim("waiting_calls", "Which calls of CUDA keep a host thread waiting for running kernels", argc, argv);
  const auto rounds = claim.option("rounds", std::int64_t{5});
  Memory memory;
  std::vector<Call> calls = copies(memory);
  for (Call& call : others(memory)) calls.push_back(std::move(call));
  for (const Call& call : calls) {
    std::vector<double> waited, cpu, idle;
    time_of(call, false);  // what the first call of a kind does once
    for (std::int64_t round = 0; round < rounds; ++round) {
      const Times without = time_of(call, false), with = time_of(call, true);
      waited.push_back(with.wall - without.wall);
      cpu.push_back(with.cpu - without.cpu);
      idle.push_back(without.wall);
    }
    claim.add({call.name, {{"cpu_ms", median(cpu)}, {"idle_ms", median(idle)}}, median(waited), "ms"});
    std::fprintf(stderr, "%s: %.3f ms, %.3f of CPU; idle %.3f ms\n", call.name.c_str(), median(waited), median(cpu),
                 median(idle));
  }
  return claim.write();
}
