// A CUDA program for join.py: four threads, each with a stream, compute the same numbers again and again, and compare
// them with what they were at first. Its command line: FILE. Until the file exists; then "wrong N of M". Says "ready"
// once the first numbers are there.
#include <cuda_runtime.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr unsigned kNumbers = 1 << 20, kBlock = 256, kRounds = 64;
constexpr int kThreads = 4;

std::atomic<long> wrong{0}, done{0}, ready{0};

__global__ void mix(std::uint32_t* numbers, std::uint32_t seed) {
  const unsigned i = blockIdx.x * kBlock + threadIdx.x;
  std::uint32_t value = i ^ seed;
  for (unsigned round = 0; round < kRounds; ++round) value = value * 1664525 + (value >> 15) + 1013904223;
  numbers[i] = value;
}

void must(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// A hash of all numbers, which a second call must give again.
std::uint64_t compute(std::uint32_t* on_device, std::vector<std::uint32_t>& here, cudaStream_t stream,
                      std::uint32_t seed) {
  mix<<<kNumbers / kBlock, kBlock, 0, stream>>>(on_device, seed);
  must(cudaGetLastError());
  must(cudaMemcpyAsync(here.data(), on_device, kNumbers * sizeof(std::uint32_t), cudaMemcpyDeviceToHost, stream));
  must(cudaStreamSynchronize(stream));
  std::uint64_t hash = 1469598103934665603u;
  for (const std::uint32_t number : here) hash = (hash ^ number) * 1099511628211u;
  return hash;
}

void work(const char* end, std::uint32_t seed) {
  cudaStream_t stream{};
  std::uint32_t* on_device = nullptr;
  must(cudaStreamCreate(&stream));
  must(cudaMalloc(&on_device, kNumbers * sizeof(std::uint32_t)));
  std::vector<std::uint32_t> here(kNumbers);
  const std::uint64_t expected = compute(on_device, here, stream, seed);
  if (++ready == kThreads) {
    std::puts("ready");
    std::fflush(stdout);
  }
  while (access(end, F_OK) != 0) {
    wrong += compute(on_device, here, stream, seed) != expected;
    ++done;
  }
  must(cudaFree(on_device));
  must(cudaStreamDestroy(stream));
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, words[1], 17u * static_cast<unsigned>(i) + 1);
  for (std::thread& each : threads) each.join();
  std::printf("wrong %ld of %ld\n", wrong.load(), done.load());
  return wrong != 0 ? 1 : 0;
}
