// Two GPUs that answer each other through flags in each other's memory. It contains no wic code: the patched loops must
// change nothing but the time. Prints one line of JSON with a checksum that depends on every wait.
//
//   peers own|remote|absent [ROUNDS]
//
// own: each GPU polls a flag in its own memory, which the other one writes. remote: each polls the flag in the memory
// of the GPU that writes it. absent: the second GPU's kernel never starts, and the first one gives up after its
// deadline.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "waits.cuh"

namespace {

constexpr int kBlocks = 16, kThreads = 64;
constexpr size_t kWords = size_t{kBlocks} * 32;  // a flag in a line of its own

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("{\"error\": \"%s: %s\"}\n", what, cudaGetErrorString(error));
  std::exit(1);
}

__device__ unsigned flag_of(const unsigned* flag) {
  unsigned value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}

// In each round the first GPU sends and waits for the answer; the second one waits and answers. Block b of one GPU
// talks to block b of the other.
__global__ void talk(const unsigned* heard, unsigned* said, const volatile unsigned* inbox, volatile unsigned* outbox,
                     unsigned* values, bool begins, int rounds, unsigned* failed) {
  const unsigned own = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned long long deadline = now_ns() + kDeadlineNs;
  unsigned value = own;
  for (unsigned round = 1; round <= static_cast<unsigned>(rounds); ++round) {
    for (int turn = 0; turn < 2; ++turn) {
      if ((turn == 0) == begins) {
        outbox[own] = value;
        __threadfence_system();
        __syncthreads();
        if (threadIdx.x == 0) *(volatile unsigned*)&said[blockIdx.x * 32] = round;
      } else {
        if (threadIdx.x == 0) {
          while (flag_of(&heard[blockIdx.x * 32]) < round) {
            if (now_ns() > deadline) {
              *failed = 1;
              break;
            }
          }
        }
        __syncthreads();
        value = mixed(value, inbox[own] + round);
      }
    }
  }
  values[own] = value;
}

struct Side {
  int gpu = 0;
  cudaStream_t stream = nullptr;
  unsigned *flags = nullptr, *inbox = nullptr, *values = nullptr, *failed = nullptr;

  void open(int on) {
    gpu = on;
    check(cudaSetDevice(gpu), "cudaSetDevice");
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaMalloc(&flags, kWords * sizeof(unsigned)), "cudaMalloc");
    for (unsigned** memory : {&inbox, &values})
      check(cudaMalloc(memory, kBlocks * kThreads * sizeof(unsigned)), "cudaMalloc");
    check(cudaMalloc(&failed, sizeof(unsigned)), "cudaMalloc");
    check(cudaMemset(failed, 0, sizeof(unsigned)), "cudaMemset");
    cudaFuncAttributes loaded;  // before the other GPU waits for this one
    check(cudaFuncGetAttributes(&loaded, talk), "cudaFuncGetAttributes");
  }
  void clear() const {
    check(cudaSetDevice(gpu), "cudaSetDevice");
    check(cudaMemset(flags, 0, kWords * sizeof(unsigned)), "cudaMemset");
    check(cudaDeviceSynchronize(), "clear");
  }
  void launch(const Side& other, bool begins, bool remote, int rounds) const {
    check(cudaSetDevice(gpu), "cudaSetDevice");
    talk<<<kBlocks, kThreads, 0, stream>>>(remote ? other.flags : flags, remote ? flags : other.flags, inbox,
                                           other.inbox, values, begins, rounds, failed);
    check(cudaGetLastError(), "talk");
  }
  void add_to(std::vector<unsigned>& results, unsigned& failures) const {
    std::vector<unsigned> mine(kBlocks * kThreads);
    unsigned mine_failed = 0;
    check(cudaSetDevice(gpu), "cudaSetDevice");
    check(cudaStreamSynchronize(stream), "talk");
    check(cudaMemcpy(mine.data(), values, mine.size() * sizeof(unsigned), cudaMemcpyDeviceToHost), "cudaMemcpy");
    check(cudaMemcpy(&mine_failed, failed, sizeof mine_failed, cudaMemcpyDeviceToHost), "cudaMemcpy");
    results.insert(results.end(), mine.begin(), mine.end());
    failures += mine_failed;
  }
};

}  // namespace

int main(int argc, char** argv) {
  const char* const scenario = argc > 1 ? argv[1] : "own";
  const bool remote = std::strcmp(scenario, "remote") == 0, absent = std::strcmp(scenario, "absent") == 0;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 1000;
  int gpus = 0;
  check(cudaGetDeviceCount(&gpus), "cudaGetDeviceCount");
  int reaches = 0, is_reached = 0;
  if (gpus > 1) {
    check(cudaDeviceCanAccessPeer(&reaches, 0, 1), "cudaDeviceCanAccessPeer");
    check(cudaDeviceCanAccessPeer(&is_reached, 1, 0), "cudaDeviceCanAccessPeer");
  }
  if (!reaches || !is_reached) {
    std::printf("peers: needs two GPUs that reach each other's memory, and %d are visible\n", gpus);
    return 3;
  }
  Side sides[2];
  for (int i = 0; i < 2; ++i) {
    sides[i].open(i);
    check(cudaDeviceEnablePeerAccess(1 - i, 0), "cudaDeviceEnablePeerAccess");
  }
  std::vector<unsigned> values;
  unsigned failed = 0;
  double best = 1e30;
  for (int repeat = 0; repeat < (absent ? 1 : 6); ++repeat) {
    const int count = repeat == 0 && !absent ? 1 : rounds;  // the first one loads the kernels
    for (const Side& side : sides) side.clear();
    const auto begin = std::chrono::steady_clock::now();
    sides[0].launch(sides[1], true, remote, count);
    if (!absent) sides[1].launch(sides[0], false, remote, count);
    values.clear();
    failed = 0;
    for (const Side& side : sides) side.add_to(values, failed);
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    if (repeat > 0 && ms < best) best = ms;
  }
  unsigned long long checksum = 1469598103934665603ull;
  for (const unsigned value : values) checksum = (checksum ^ value) * 1099511628211ull;
  std::printf("{\"scenario\": \"%s\", \"ms\": %.3f, \"checksum\": \"%016llx\", \"failed\": %u}\n", scenario, best,
              checksum, failed);
  return 0;
}
