// The kernels of docs/waiting.md ("before"), which wait without a deadline, with a CPU and other kernels that release
// them. Prints one line of JSON with a checksum of what all of them received.
//
//   documented [ROUNDS]
//
// The process must be ended from outside if a wait never ends.
#include <cuda_runtime.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "../../../docs/examples/waiting/before.cu"

namespace {

constexpr int kThreads = 64, kBlocks = 4, kCount = kThreads * kBlocks;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("{\"error\": \"%s: %s\"}\n", what, cudaGetErrorString(error));
  std::exit(1);
}

template <class T>
T* zeroed(size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
  check(cudaMemset(memory, 0, count * sizeof(T)), "cudaMemset");
  return memory;
}

cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return stream;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned rounds = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 20;
  unsigned* host_flag = nullptr;
  float* host_data = nullptr;
  check(cudaHostAlloc(&host_flag, sizeof(unsigned), cudaHostAllocMapped), "cudaHostAlloc");
  check(cudaHostAlloc(&host_data, kCount * sizeof(float), cudaHostAllocMapped), "cudaHostAlloc");
  *host_flag = 0;
  unsigned* const flags = zeroed<unsigned>(kBlocks * 32);
  float* const data = zeroed<float>(kCount);
  float* const outs[] = {zeroed<float>(kCount), zeroed<float>(kCount), zeroed<float>(kCount)};
  const cudaStream_t producing = new_stream();
  const cudaStream_t consuming[] = {new_stream(), new_stream(), new_stream()};
  // Loads all kernels before one of them waits.
  produce<<<kBlocks, kThreads, 0, producing>>>(0, data, flags);
  consume<<<kBlocks, kThreads, 0, consuming[0]>>>(host_flag, 0, host_data, outs[0]);
  consume_by_warps<<<kBlocks, 2 * kThreads, 0, consuming[1]>>>(flags, 0, data, outs[1]);
  consume_by_atomic<<<1, kThreads, 0, consuming[2]>>>(flags + 32, 0, data, outs[2]);
  check(cudaDeviceSynchronize(), "load");

  unsigned long long checksum = 1469598103934665603ull;
  std::vector<float> values(kCount);
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned round = 1; round <= rounds; ++round) {
    consume<<<kBlocks, kThreads, 0, consuming[0]>>>(host_flag, round, host_data, outs[0]);
    consume_by_warps<<<kBlocks, 2 * kThreads, 0, consuming[1]>>>(flags, round, data, outs[1]);
    consume_by_atomic<<<1, kThreads, 0, consuming[2]>>>(flags + 32, round, data + kThreads, outs[2]);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (int i = 0; i < kCount; ++i) host_data[i] = static_cast<float>(round * 3 + i);
    std::atomic_thread_fence(std::memory_order_release);
    *const_cast<volatile unsigned*>(host_flag) = round;
    produce<<<kBlocks, kThreads, 0, producing>>>(round, data, flags);
    check(cudaDeviceSynchronize(), "round");
    // The block that produces `data` writes its flag last; blocks of consume_by_warps wait for the first flag only, so
    // only the first block's share of its output is certain.
    const int certain[] = {kCount, kThreads, kThreads};
    for (int i = 0; i < 3; ++i) {
      check(cudaMemcpy(values.data(), outs[i], kCount * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
      for (int k = 0; k < certain[i]; ++k) {
        checksum = (checksum ^ static_cast<unsigned long long>(values[static_cast<size_t>(k)])) * 1099511628211ull;
      }
    }
  }
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  std::printf("{\"scenario\": \"documented\", \"ms\": %.3f, \"checksum\": \"%016llx\", \"failed\": 0}\n", ms, checksum);
  return 0;
}
