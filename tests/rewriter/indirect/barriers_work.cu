// Waits at mbarriers, for words in shared memory and for words of other blocks of a cluster, and loops that look like
// them: half for improving, written with their verdicts before anybody looked at the answers. For compute_90.
// patched_*: wait. found_*: at least wait_not_patchable. stay_*: that and no more. work_*: no wait. A name says what
// is waited for: _mbarrier_, _shared_ (a word of the block), _cluster_ (a word of the cluster); at its end, on which
// side of a pipeline: _producer, _consumer, or _pipeline for both.
#include "barriers.h"

// As cutlass's ClusterBarrier::wait().
KERNEL stay_mbarrier_labels(float* out, unsigned phase) {
  __shared__ u64 barrier;
  begin(&barrier);
  asm volatile(
      "{\n"
      ".reg .pred P1;\n"
      "LAB_WAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
      "@P1 bra DONE;\n"
      "bra LAB_WAIT;\n"
      "DONE:\n"
      "}" ::"r"(shared_address(&barrier)),
      "r"(phase)
      : "memory");
  out[threadIdx.x] = 1;
}
KERNEL stay_mbarrier_hint(float* out, unsigned phase) {
  __shared__ u64 barrier;
  begin(&barrier);
  while (!try_wait_hint(&barrier, phase, 1000)) {
  }
  out[threadIdx.x] = 1;
}
KERNEL stay_mbarrier_state(float* out) {
  __shared__ u64 barrier;
  begin(&barrier);
  const u64 state = arrive(&barrier);
  out[threadIdx.x] = 2;
  while (!try_wait_state(&barrier, state)) {
  }
  out[threadIdx.x ^ 1] += 1;
}
KERNEL stay_mbarrier_test_wait(float* out, unsigned phase) {
  __shared__ u64 barrier;
  begin(&barrier);
  while (!test_wait(&barrier, phase)) __nanosleep(40);
  out[threadIdx.x] = 1;
}
// A ring of stages, consumer's side: asks first, waits later.
KERNEL stay_mbarrier_ring(const float* in, float* out, int tiles) {
  __shared__ u64 full[4], empty[4];
  __shared__ float stage[4][128];
  for (int i = 0; i < 4; ++i) {
    begin(&full[i]);
    begin(&empty[i]);
  }
  float sum = 0;
  unsigned index = 0, phase = 0;
  bool ready = try_wait(&full[0], 0);
  for (int tile = 0; tile < tiles; ++tile) {
    if (!ready) {
      while (!try_wait(&full[index], phase)) {
      }
    }
    sum += stage[index][threadIdx.x] * in[threadIdx.x];
    arrive(&empty[index]);
    if (++index == 4) {
      index = 0;
      phase ^= 1;
    }
    ready = tile + 1 < tiles && try_wait(&full[index], phase);
  }
  out[threadIdx.x] = sum;
}
KERNEL stay_mbarrier_deadline(float* out, unsigned phase, u64 deadline) {
  __shared__ u64 barrier;
  begin(&barrier);
  bool late = false;
  while (!try_wait(&barrier, phase)) {
    if (global_time() > deadline) {
      late = true;
      break;
    }
  }
  out[threadIdx.x] = late;
}
// Gives up when the host says so.
KERNEL stay_mbarrier_gives_up(float* out, unsigned phase, const unsigned* stop) {
  __shared__ u64 barrier;
  begin(&barrier);
  while (!try_wait(&barrier, phase)) {
    if (volatile_load(stop) != 0) return;
  }
  out[threadIdx.x] = 1;
}
KERNEL stay_mbarrier_traps(float* out, unsigned phase) {
  __shared__ u64 barrier;
  begin(&barrier);
  const long long since = clock64();
  while (!try_wait(&barrier, phase)) {
    if (clock64() - since > 1000000000) __trap();
  }
  out[threadIdx.x] = 1;
}
// Consumes tiles: waits for a full stage, loads matrices from it.
KERNEL stay_mbarrier_matrices_consumer(unsigned* out, int tiles) {
  __shared__ u64 full[4];
  __shared__ alignas(128) unsigned short stage[4][512];
  for (int i = 0; i < 4; ++i) begin(&full[i]);
  unsigned sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    const int index = tile & 3;
    while (!try_wait(&full[index], tile / 4 & 1)) {
    }
    sum += load_matrices(stage[index] + 8 * (threadIdx.x & 31));
  }
  out[threadIdx.x] = sum;
}
// Fills stages by asynchronous copies of each thread.
KERNEL stay_mbarrier_copies_producer(const int4* in, int tiles) {
  __shared__ u64 full[2], empty[2];
  __shared__ int4 stage[2][128];
  for (int i = 0; i < 2; ++i) {
    begin(&full[i]);
    begin(&empty[i]);
  }
  for (int tile = 0; tile < tiles; ++tile) {
    const int index = tile & 1;
    while (!try_wait(&empty[index], (tile / 2 & 1) ^ 1)) {
    }
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&stage[index][threadIdx.x])),
                 "l"(in + 128 * tile + threadIdx.x)
                 : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(&full[index])) : "memory");
  }
}
// Loads its next tile behind the same wait: on neither side.
KERNEL stay_mbarrier_both_sides(const int4* in, unsigned* out, int tiles) {
  __shared__ u64 full[2];
  __shared__ alignas(128) int4 stage[2][128];
  for (int i = 0; i < 2; ++i) begin(&full[i]);
  unsigned sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    const int index = tile & 1;
    while (!try_wait(&full[index], tile / 2 & 1)) {
    }
    sum += load_matrices(&stage[index][threadIdx.x & 31]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&stage[index][threadIdx.x])),
                 "l"(in + 128 * tile + threadIdx.x)
                 : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(&full[index])) : "memory");
  }
  out[threadIdx.x] = sum;
}
KERNEL patched_shared_flag(const float* in, float* out) {
  __shared__ volatile int ready;
  __shared__ float tile[32];
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    tile[threadIdx.x] = in[threadIdx.x];
    __threadfence_block();
    if (threadIdx.x == 0) ready = 1;
    return;
  }
  while (ready == 0) {
  }
  out[threadIdx.x] = tile[threadIdx.x & 31];
}
KERNEL patched_shared_acquire(float* out, unsigned epoch) {
  __shared__ unsigned word;
  if (threadIdx.x == 0) word = 0;
  __syncthreads();
  if (threadIdx.x == 64) atomicExch(&word, epoch);
  while (load_acquire_block(&word) != epoch) {
  }
  out[threadIdx.x] = 1;
}
KERNEL patched_cluster_mapped(float* out) {
  __shared__ unsigned word;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) word = 0;
  cluster.sync();
  volatile unsigned* other = cluster.map_shared_rank(&word, cluster.block_rank() ^ 1);
  if (threadIdx.x == 0) *(volatile unsigned*)&word = 1;
  while (*other == 0) {
  }
  out[threadIdx.x] = 1;
  cluster.sync();
}
KERNEL patched_cluster_address(float* out, unsigned rank) {
  __shared__ unsigned word;
  const unsigned other = address_in_cluster(&word, rank);
  while (load_acquire_cluster(other) == 0) {
  }
  out[threadIdx.x] = 1;
}
KERNEL work_tries_and_computes(float* out, unsigned phase) {
  __shared__ u64 barrier;
  begin(&barrier);
  float x = out[threadIdx.x];
  while (!try_wait(&barrier, phase)) x = x * 1.0001f + 0.5f;
  out[threadIdx.x] = x;
}
KERNEL work_bounded_tries(float* out, unsigned phase) {
  __shared__ u64 barrier;
  begin(&barrier);
  bool done = false;
  for (int i = 0; i < 8 && !done; ++i) done = try_wait(&barrier, phase);
  out[threadIdx.x] = done;
}
// Looks at each of its barriers once.
KERNEL work_counts_ready(int* out, unsigned phase, int n) {
  extern __shared__ u64 barriers[];
  int ready = 0;
  for (int i = 0; i < n; ++i) ready += test_wait(barriers + i, phase);
  out[threadIdx.x] = ready;
}
// Feeds its own copies, and asks the barrier once per tile whether it may go on with the next.
KERNEL work_streams_until_full(const float* in, float* out, unsigned phase) {
  __shared__ u64 barrier;
  begin(&barrier);
  int tile = 0;
  while (!test_wait(&barrier, phase)) {
    out[128 * tile + threadIdx.x] = in[128 * tile + threadIdx.x] * 2;
    ++tile;
  }
}
KERNEL work_shared_settles(const int* links, int* labels) {
  __shared__ int changed;
  do {
    __syncthreads();
    changed = 0;
    __syncthreads();
    const int other = labels[links[threadIdx.x]];
    if (other < labels[threadIdx.x]) {
      labels[threadIdx.x] = other;
      changed = 1;
    }
    __syncthreads();
  } while (*(volatile int*)&changed != 0);
}
KERNEL work_cluster_sum(const float* in, float* out) {
  __shared__ float value;
  const cg::cluster_group cluster = cg::this_cluster();
  value = in[blockIdx.x];
  cluster.sync();
  float sum = 0;
  for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank) {
    sum += *(volatile float*)cluster.map_shared_rank(&value, rank);
  }
  cluster.sync();
  out[blockIdx.x] = sum;
}
KERNEL work_cluster_barriers(float* out, int rounds) {
  const cg::cluster_group cluster = cg::this_cluster();
  for (int i = 0; i < rounds; ++i) {
    out[threadIdx.x] += 1;
    cluster.sync();
  }
}
