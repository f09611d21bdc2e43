// A library whose constructor joins a thread that waits in CUDA. GUEST_LOADED says that it shall.
#include <cuda_runtime.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

static __global__ void passes() {}

namespace {
struct Loaded {
  Loaded() {
    if (std::getenv("GUEST_LOADED") == nullptr) return;
    cudaError_t code = cudaSuccess;
    std::thread([&] {
      usleep(20'000);
      passes<<<1, 1>>>();
      code = cudaDeviceSynchronize();
    }).join();
    if (code != cudaSuccess) std::printf("the library's wait: %d\n", static_cast<int>(code));
  }
} loaded;
}  // namespace
