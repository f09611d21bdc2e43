// As barriers_work.cu; this half only judges.
#include <cuda/barrier>
#include <cuda/pipeline>

#include "barriers.h"

// As cutlass's wait with a token: tries once, and waits only if that failed.
KERNEL stay_mbarrier_token(float* out, unsigned phase) {
  __shared__ u64 barrier;
  begin(&barrier);
  const bool token = try_wait(&barrier, phase);
  out[threadIdx.x] = 3;
  if (!token) {
    asm volatile(
        "{\n"
        ".reg .pred complete;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1, %2;\n"
        "@complete bra over;\n"
        "bra again;\n"
        "over:\n"
        "}" ::"r"(shared_address(&barrier)),
        "r"(phase), "r"(10000000)
        : "memory");
  }
  out[threadIdx.x] += 1;
}
KERNEL stay_mbarrier_cluster_scope(float* out, unsigned phase) {
  __shared__ u64 barrier;
  begin(&barrier);
  while (!try_wait_cluster(&barrier, phase)) {
  }
  out[threadIdx.x] = 1;
}
KERNEL stay_mbarrier_leader(float* out, unsigned phase) {
  __shared__ u64 barrier;
  begin(&barrier);
  if (threadIdx.x % 32 == 0) {
    while (!try_wait(&barrier, phase)) {
    }
  }
  __syncwarp();
  out[threadIdx.x] = 1;
}
// Producer's side: waits for an empty stage, fills it.
KERNEL stay_mbarrier_bulk_producer(const float* in, int tiles, unsigned bytes) {
  __shared__ u64 full[3], empty[3];
  __shared__ alignas(16) float stage[3][256];
  for (int i = 0; i < 3; ++i) {
    begin(&full[i]);
    begin(&empty[i]);
  }
  if (threadIdx.x != 0) return;
  for (int tile = 0; tile < tiles; ++tile) {
    const int index = tile % 3;
    while (!try_wait(&empty[index], (tile / 3 & 1) ^ 1)) {
    }
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&full[index])),
                 "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(stage[index])),
                 "l"(in + 256 * tile), "r"(bytes), "r"(shared_address(&full[index]))
                 : "memory");
  }
}
// Multiplies what a stage holds.
KERNEL stay_mbarrier_multiplies_consumer(float* out, int tiles) {
  __shared__ u64 full[2], empty[2];
  __shared__ unsigned stage[2][256];
  for (int i = 0; i < 2; ++i) {
    begin(&full[i]);
    begin(&empty[i]);
  }
  float c[4] = {0, 0, 0, 0};
  for (int tile = 0; tile < tiles; ++tile) {
    const int index = tile & 1;
    if (!try_wait(&full[index], tile / 2 & 1)) {
      while (!try_wait_hint(&full[index], tile / 2 & 1, 100000)) {
      }
    }
    const unsigned* const a = stage[index] + threadIdx.x % 32;
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[32]), "r"(a[64]), "r"(a[96]), "r"(a[128]), "r"(a[160]));
    arrive(&empty[index]);
  }
  out[threadIdx.x] = c[0] + c[1] + c[2] + c[3];
}
// Two kinds of warps in one kernel, as in a GeMM.
KERNEL stay_mbarrier_specialized_pipeline(const float* in, unsigned* out, int tiles, unsigned bytes) {
  __shared__ u64 full[3], empty[3];
  __shared__ alignas(128) float stage[3][256];
  for (int i = 0; i < 3; ++i) {
    begin(&full[i]);
    begin(&empty[i]);
  }
  unsigned sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    const int index = tile % 3;
    const unsigned phase = tile / 3 & 1;
    if (threadIdx.x < 32) {
      if (threadIdx.x != 0) continue;
      while (!try_wait(&empty[index], phase ^ 1)) {
      }
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                       shared_address(stage[index])),
                   "l"(in + 256 * tile), "r"(bytes), "r"(shared_address(&full[index]))
                   : "memory");
    } else {
      while (!try_wait(&full[index], phase)) {
      }
      sum += load_matrices(&stage[index][4 * (threadIdx.x & 31)]);
      arrive(&empty[index]);
    }
  }
  out[threadIdx.x] = sum;
}
KERNEL stay_mbarrier_copies(const int4* in, int4* out) {
  __shared__ u64 barrier;
  __shared__ int4 stage[128];
  begin(&barrier);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(stage + threadIdx.x)),
               "l"(in + threadIdx.x)
               : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(&barrier)) : "memory");
  const u64 state = arrive(&barrier);
  while (!try_wait_state(&barrier, state)) {
  }
  out[threadIdx.x] = stage[threadIdx.x ^ 1];
}
KERNEL found_mbarrier_libcu(float* out) {
  __shared__ alignas(
      cuda::barrier<cuda::thread_scope_block>) char memory[sizeof(cuda::barrier<cuda::thread_scope_block>)];
  auto& barrier = *reinterpret_cast<cuda::barrier<cuda::thread_scope_block>*>(memory);
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  out[threadIdx.x] *= 2;
  barrier.arrive_and_wait();
  out[threadIdx.x ^ 1] += 1;
}
KERNEL found_mbarrier_libcu_parity(float* out, bool phase) {
  __shared__ alignas(
      cuda::barrier<cuda::thread_scope_block>) char memory[sizeof(cuda::barrier<cuda::thread_scope_block>)];
  auto& barrier = *reinterpret_cast<cuda::barrier<cuda::thread_scope_block>*>(memory);
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  barrier.wait_parity(phase);
  out[threadIdx.x] += 1;
}
KERNEL found_mbarrier_libcu_pipeline(const int4* in, int4* out, int tiles) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int4 stage[2][128];
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state,
                                  threadIdx.x < 64 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  for (int tile = 0; tile < tiles; ++tile) {
    if (threadIdx.x < 64) {
      pipe.producer_acquire();
      cuda::memcpy_async(&stage[tile & 1][threadIdx.x], in + 64 * tile + threadIdx.x, sizeof(int4), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      out[64 * tile + threadIdx.x - 64] = stage[tile & 1][threadIdx.x - 64];
      pipe.consumer_release();
    }
  }
}
KERNEL patched_shared_tickets(float* out) {
  __shared__ unsigned next, serving;
  if (threadIdx.x == 0) next = serving = 0;
  __syncthreads();
  if (threadIdx.x % 32 != 0) return;
  const unsigned mine = atomicAdd(&next, 1);
  while (*(volatile unsigned*)&serving != mine) {
  }
  out[mine] += 1;
  __threadfence_block();
  *(volatile unsigned*)&serving = mine + 1;
}
KERNEL patched_shared_atomic(float* out, unsigned want) {
  __shared__ unsigned word;
  if (threadIdx.x == 0) word = 0;
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(&word, 1);
  while (atomicAdd(&word, 0) < want) __nanosleep(20);
  out[threadIdx.x] = 1;
}
KERNEL patched_cluster_everybody(float* out) {
  __shared__ unsigned arrived;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) arrived = 0;
  cluster.sync();
  unsigned* first = cluster.map_shared_rank(&arrived, 0);
  if (threadIdx.x == 0) {
    atomicAdd(first, 1);
    while (*(volatile unsigned*)first < cluster.num_blocks()) {
    }
  }
  __syncthreads();
  out[threadIdx.x] = 1;
  cluster.sync();
}
KERNEL patched_cluster_own_word(float* out, unsigned epoch) {
  __shared__ unsigned word;
  const unsigned own = address_in_cluster(&word, 0);
  while (load_acquire_cluster(own + 4) < epoch) {
  }
  out[threadIdx.x] = 1;
}
KERNEL work_polls_and_sums(const float* in, float* out, unsigned phase) {
  __shared__ u64 barrier;
  begin(&barrier);
  float sum = 0;
  int i = 0;
  while (!try_wait_hint(&barrier, phase, 20)) sum += in[128 * i++ + threadIdx.x];
  out[threadIdx.x] = sum;
}
KERNEL work_counted_hints(float* out, unsigned phase, unsigned tries) {
  __shared__ u64 barrier;
  begin(&barrier);
  unsigned left = tries;
  while (left != 0 && !try_wait_hint(&barrier, phase, 100)) --left;
  out[threadIdx.x] = left;
}
// Helps others with tasks while it may not go on.
KERNEL work_helps(int* tasks, float* out, unsigned phase) {
  __shared__ u64 barrier;
  begin(&barrier);
  while (!test_wait(&barrier, phase)) {
    const int task = atomicAdd(tasks, 1);
    out[task] = sqrtf(out[task]);
  }
}
KERNEL work_finds_ready(int* out, unsigned phase) {
  __shared__ u64 barriers[16];
  for (int i = 0; i < 16; ++i) begin(&barriers[i]);
  int found = 0;
  while (found < 16 && !test_wait(&barriers[found], phase)) ++found;
  out[threadIdx.x] = found;
}
// One step per phase, for as long as there are steps.
KERNEL work_steps(float* out, int steps) {
  __shared__ u64 barrier;
  begin(&barrier);
  for (int step = 0; step < steps; ++step) {
    out[threadIdx.x] += 1;
    arrive(&barrier);
    if (try_wait(&barrier, step & 1)) out[threadIdx.x] *= 2;
  }
}
KERNEL work_shared_queue(const int* graph, int* order, int n) {
  __shared__ int tail;
  if (threadIdx.x == 0) tail = 1;
  __syncthreads();
  for (int head = 0; head < *(volatile int*)&tail && head < n; ++head) {
    const int next = graph[order[head] * blockDim.x + threadIdx.x];
    if (next >= 0) order[atomicAdd(&tail, 1)] = next;
    __syncthreads();
  }
}
KERNEL work_cluster_walks(int* out, int n) {
  __shared__ int next[64];
  const unsigned base = address_in_cluster(next, 1);
  int at = 0;
  for (int i = 0; i < n; ++i) at = load_acquire_cluster(base + 4 * at);
  out[threadIdx.x] = at;
}
KERNEL work_bulk_groups(float* out, int tiles) {
  __shared__ alignas(128) float stage[1024];
  for (int tile = 0; tile < tiles; ++tile) {
    stage[threadIdx.x] = tile;
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 4096;" ::"l"(out + 1024 * tile),
                   "r"(shared_address(stage))
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
}
