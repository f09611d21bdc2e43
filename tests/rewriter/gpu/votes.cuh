// Waits in which a whole block takes part, and waits for one of several words, as programs write them. No wic code.
#pragma once

#include "waits.cuh"

__device__ inline unsigned load_acquired(const unsigned* word) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}
__device__ inline void store_released(unsigned* word, unsigned value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

/// The blocks take turns, as with cutlass's Semaphore: one thread fetches the word, and the block votes.
__device__ inline void semaphore_rounds(unsigned* lock, unsigned* values, int rounds, unsigned* failed) {
  const bool wait_thread = threadIdx.x == 0;
  const unsigned long long deadline = now_ns() + kDeadlineNs;
  for (int round = 0; round < rounds; ++round) {
    const unsigned status = round * gridDim.x + blockIdx.x;
    unsigned state = status - 1;
    if (wait_thread) state = load_acquired(lock);
    while (__syncthreads_and(state != status && (!wait_thread || now_ns() <= deadline))) {
      if (wait_thread) state = load_acquired(lock);
    }
    if (wait_thread && state != status) *failed = 1;
    __syncthreads();
    volatile unsigned* const mine = values + threadIdx.x;
    *mine = mixed(*mine, status);
    __threadfence();
    __syncthreads();
    if (wait_thread) store_released(lock, status + 1);
  }
}

/// A barrier of the grid by a counter, with a way for a block to wait until all have arrived.
template <class Wait>
__device__ inline void meeting_rounds(unsigned* arrived, unsigned* values, int rounds, Wait wait) {
  unsigned mine = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned all = gridDim.x * blockDim.x;
  for (unsigned round = 1; round <= static_cast<unsigned>(rounds); ++round) {
    volatile unsigned* const to = values + (round & 1) * all;
    to[blockIdx.x * blockDim.x + threadIdx.x] = mine;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(arrived, 1u);
    wait(round * gridDim.x);
    mine = mixed(mine, to[(blockIdx.x * blockDim.x + threadIdx.x + 37 * blockDim.x) % all]);
    __syncthreads();
  }
  values[2 * all + blockIdx.x * blockDim.x + threadIdx.x] = mine;
}

/// The block votes on what its first thread polls.
__device__ inline void vote_rounds(unsigned* arrived, unsigned* values, int rounds, unsigned* failed) {
  const unsigned long long deadline = now_ns() + kDeadlineNs;
  meeting_rounds(arrived, values, rounds, [=](unsigned wanted) {
    while (__syncthreads_or(threadIdx.x == 0 && load_acquired(arrived) < wanted && now_ns() <= deadline)) {
    }
    if (threadIdx.x == 0 && *(volatile unsigned*)arrived < wanted) *failed = 1;
  });
}

/// The first thread passes what it polls on to its block.
__device__ inline void passed_on_rounds(unsigned* arrived, unsigned* values, int rounds, unsigned* failed) {
  __shared__ unsigned seen;
  const unsigned long long deadline = now_ns() + kDeadlineNs;
  meeting_rounds(arrived, values, rounds, [=](unsigned wanted) {
    unsigned now;
    bool late;
    do {
      if (threadIdx.x == 0) seen = load_acquired(arrived);
      late = __syncthreads_or(threadIdx.x == 0 && now_ns() > deadline);
      now = seen;
      __syncthreads();
    } while (now < wanted && !late);
    if (threadIdx.x == 0 && now < wanted) *failed = 1;
  });
}

// Producers give their items so far apart that most waits last until they are recorded.
constexpr unsigned long long kBetweenItemsNs = 30'000;
constexpr unsigned kApart = 32;  // words, so that each has a line of its own

__device__ inline void wait_by_the_clock(unsigned long long ns) {
  const unsigned long long until = now_ns() + ns;
  while (now_ns() < until) {
  }
}

/// Block 0 takes items from the queues of two other blocks, asked in turn. `ends`: how many items each has given.
__device__ inline void two_queues(unsigned* ends, unsigned* values, int rounds, unsigned* failed) {
  if (threadIdx.x != 0 || blockIdx.x > 2) return;
  volatile unsigned* const items = values + 8;  // of both queues
  const unsigned count = static_cast<unsigned>(rounds);
  if (blockIdx.x > 0) {
    const unsigned queue = blockIdx.x - 1;
    for (unsigned i = 0; i < count; ++i) {
      wait_by_the_clock(kBetweenItemsNs * (1 + (i + queue) % 2));
      items[queue * count + i] = mixed(queue, i);
      store_released(ends + queue * kApart, i + 1);
    }
    return;
  }
  const unsigned long long deadline = now_ns() + kDeadlineNs;
  unsigned taken[2] = {0, 0}, sums[2] = {0, 0}, queue = 0;
  for (unsigned i = 0; i < 2 * count; ++i) {
    bool late = false;
    while (load_acquired(ends + queue * kApart) == (queue == 0 ? taken[0] : taken[1])) {
      if (now_ns() > deadline) {
        late = true;
        break;
      }
      queue ^= 1;
    }
    if (late) {
      *failed = 1;
      break;
    }
    // An item of one queue after the other: what comes out does not depend on whose comes first.
    unsigned& from = queue == 0 ? taken[0] : taken[1];
    unsigned& sum = queue == 0 ? sums[0] : sums[1];
    sum = mixed(sum, items[queue * count + from]);
    ++from;
  }
  values[0] = sums[0];
  values[1] = sums[1];
}

/// Block 0 takes what any of `others` blocks gives, whichever comes first. A flag is 0 again when its item is taken.
__device__ inline void any_of(unsigned* flags, unsigned* values, int rounds, int others, unsigned* failed) {
  if (threadIdx.x != 0 || static_cast<int>(blockIdx.x) > others) return;
  volatile unsigned* const items = values + 2 * others;
  const unsigned long long deadline = now_ns() + kDeadlineNs;
  if (blockIdx.x > 0) {
    const unsigned mine = blockIdx.x - 1;
    for (int round = 1; round <= rounds; ++round) {
      while (*(volatile unsigned*)(flags + mine * kApart) != 0) {
        if (now_ns() > deadline) {
          *failed = 1;
          return;
        }
      }
      wait_by_the_clock(kBetweenItemsNs * (1 + (round + mine) % 4));
      items[mine] = mixed(mine, round);
      store_released(flags + mine * kApart, round);
    }
    return;
  }
  int i = 0;
  for (int taken = 0; taken < others * rounds; ++taken) {
    bool late = false;
    while (load_acquired(flags + i * kApart) == 0) {
      if (now_ns() > deadline) {
        late = true;
        break;
      }
      i = (i + 1) % others;
    }
    if (late) {
      *failed = 1;
      break;
    }
    values[i] = mixed(values[i], items[i]);
    store_released(flags + i * kApart, 0);
  }
}
