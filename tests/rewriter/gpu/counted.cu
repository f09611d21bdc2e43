// Waits whose number is known by construction, for counted_gpu.py: a consumer says that it has come and then waits for
// its producer, which answers `delay_ns` after it has seen that. Each of the consumer's waits goes round: its first
// look is over long before the answer. With `ready`, the producer answers all rounds beforehand, and no wait goes
// round. Prints one line of JSON. No wic code.
//
//   counted PAIRS LANES ROUNDS DELAY_NS | counted PAIRS LANES ROUNDS ready
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "waits.cuh"

namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("{\"error\": \"%s: %s\"}\n", what, cudaGetErrorString(error));
  std::exit(1);
}

struct Pair {
  volatile unsigned arrived;
  unsigned before[31];
  volatile unsigned answer;
  unsigned behind[31];
};

/// All lanes poll together. `waited`: per block, the sum of the times from before the first look to behind the last.
__global__ void consume(Pair* pairs, unsigned rounds, unsigned long long* waited, unsigned* failed) {
  Pair& own = pairs[blockIdx.x];
  const unsigned long long deadline = now_ns() + kDeadlineNs;
  unsigned long long sum = 0;
  for (unsigned round = 1; round <= rounds; ++round) {
    if (threadIdx.x == 0) own.arrived = round;
    __syncwarp();
    const unsigned long long begin = now_ns();
    while (own.answer < round) {
      if (now_ns() > deadline) {
        *failed = 1;
        break;
      }
    }
    __syncwarp();
    sum += now_ns() - begin;
  }
  if (threadIdx.x == 0) waited[blockIdx.x] = sum;
}

__global__ void produce(Pair* pairs, unsigned rounds, unsigned long long delay_ns, unsigned* failed) {
  Pair& own = pairs[blockIdx.x];
  const unsigned long long deadline = now_ns() + kDeadlineNs;
  for (unsigned round = 1; round <= rounds; ++round) {
    while (own.arrived < round) {
      if (now_ns() > deadline) {
        *failed = 1;
        break;
      }
    }
    const unsigned long long until = now_ns() + delay_ns;
    while (now_ns() < until) {
    }
    own.answer = round;
  }
}

template <class T>
T* device_memory(size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
  check(cudaMemset(memory, 0, count * sizeof(T)), "cudaMemset");
  return memory;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "counted PAIRS LANES ROUNDS DELAY_NS|ready\n");
    return 2;
  }
  const int pairs = std::atoi(argv[1]), lanes = std::atoi(argv[2]);
  const auto rounds = static_cast<unsigned>(std::atoi(argv[3]));
  const bool ready = std::strcmp(argv[4], "ready") == 0;
  Pair* const all = device_memory<Pair>(pairs);
  auto* const waited = device_memory<unsigned long long>(pairs);
  unsigned* const failed = device_memory<unsigned>(1);
  cudaStream_t consumers, producers;
  check(cudaStreamCreateWithFlags(&consumers, cudaStreamNonBlocking), "cudaStreamCreate");
  check(cudaStreamCreateWithFlags(&producers, cudaStreamNonBlocking), "cudaStreamCreate");
  // Loads both kernels before one waits for the other.
  consume<<<pairs, lanes, 0, consumers>>>(all, 0, waited, failed);
  produce<<<pairs, 1, 0, producers>>>(all, 0, 0, failed);
  check(cudaDeviceSynchronize(), "load");
  if (ready) {
    std::vector<Pair> answered(pairs);
    for (Pair& each : answered) each.answer = rounds;
    check(cudaMemcpy(all, answered.data(), pairs * sizeof(Pair), cudaMemcpyHostToDevice), "cudaMemcpy");
  } else {
    produce<<<pairs, 1, 0, producers>>>(all, rounds, std::strtoull(argv[4], nullptr, 10), failed);
  }
  consume<<<pairs, lanes, 0, consumers>>>(all, rounds, waited, failed);
  check(cudaDeviceSynchronize(), "run");
  std::vector<unsigned long long> sums(pairs);
  check(cudaMemcpy(sums.data(), waited, pairs * sizeof(sums[0]), cudaMemcpyDeviceToHost), "cudaMemcpy");
  unsigned has_failed = 0;
  check(cudaMemcpy(&has_failed, failed, sizeof has_failed, cudaMemcpyDeviceToHost), "cudaMemcpy");
  unsigned long long sum = 0;
  for (const unsigned long long each : sums) sum += each;
  const auto arrivals = static_cast<unsigned long long>(rounds) * pairs;
  std::printf("{\"arrivals\": %llu, \"waits\": %llu, \"mean_ns\": %.1f, \"failed\": %u}\n", arrivals,
              ready ? 0ull : arrivals, static_cast<double>(sum) / static_cast<double>(arrivals), has_failed);
  return 0;
}
