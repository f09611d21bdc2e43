// Kernels that wait all the time, for patch_cost.cpp: only their PTX is used. No wic code.
#include "votes.cuh"
#include "waits.cuh"

extern "C" __global__ void chain(volatile unsigned* flags, unsigned* values, int rounds, unsigned* failed) {
  chain_of_blocks<false>(flags, values, rounds, failed);
}

extern "C" __global__ void chain_t(volatile unsigned* flags, unsigned* values, int rounds, unsigned* failed) {
  chain_of_blocks<true>(flags, values, rounds, failed);
}

/// Two threads answer each other.
extern "C" __global__ void pair(volatile unsigned* flags, unsigned* values, int rounds, unsigned*) {
  if (threadIdx.x != 0) return;
  for (unsigned round = 1; round <= static_cast<unsigned>(rounds); ++round) {
    if (blockIdx.x == 0) {
      flags[0] = round;
      while (flags[32] != round) {
      }
    } else {
      while (flags[0] != round) {
      }
      flags[32] = round;
    }
  }
  values[blockIdx.x] = flags[0] + flags[32];
}

extern "C" __global__ void barrier(unsigned* arrived, unsigned* values, int rounds, unsigned* failed) {
  counter_rounds(arrived, values, rounds, failed);
}

extern "C" __global__ void grid_rounds(unsigned* values, int rounds) { grid_sync_rounds(values, rounds); }

/// Barriers of the grid in which each block votes on what its first thread polls; launched with 128 and 256 threads.
extern "C" __global__ void vote_128(unsigned* arrived, unsigned* values, int rounds, unsigned* failed) {
  vote_rounds(arrived, values, rounds, failed);
}
extern "C" __global__ void vote_256(unsigned* arrived, unsigned* values, int rounds, unsigned* failed) {
  vote_rounds(arrived, values, rounds, failed);
}

extern "C" __global__ void semaphore(unsigned* lock, unsigned* values, int rounds, unsigned* failed) {
  semaphore_rounds(lock, values, rounds, failed);
}

extern "C" __global__ void passed_on(unsigned* arrived, unsigned* values, int rounds, unsigned* failed) {
  passed_on_rounds(arrived, values, rounds, failed);
}
