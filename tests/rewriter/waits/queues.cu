// Queues between blocks, grids and hosts; and loops that take work without waiting.
#include "common.h"

struct Queue {
  volatile unsigned head;
  unsigned pad0[31];
  volatile unsigned tail;
  unsigned pad1[31];
  float slots[256];
};
KERNEL wait_item_of_one_producer(Queue* queue, unsigned items, float* out) {
  for (unsigned item = 0; item < items; ++item) {
    if (threadIdx.x == 0) {
      while (queue->tail == item) {
      }
      __threadfence();
    }
    __syncthreads();
    out[item * blockDim.x + threadIdx.x] = queue->slots[item % 256];
    __syncthreads();
    if (threadIdx.x == 0) queue->head = item + 1;
  }
}
KERNEL wait_space_for_item(Queue* queue, unsigned items, const float* in) {
  for (unsigned item = 0; item < items; ++item) {
    while (item - queue->head >= 256) __nanosleep(100);
    queue->slots[item % 256] = in[item];
    __threadfence();
    queue->tail = item + 1;
  }
}
struct Cell {
  unsigned sequence;
  float value;
};
KERNEL wait_cell_of_many_producers(Cell* cells, unsigned* dequeue, float* out) {
  const unsigned mine = atomicAdd(dequeue, 1);
  Cell* const cell = cells + mine % 1024;
  while (load_acquire(&cell->sequence) != mine + 1) {
  }
  out[threadIdx.x] = cell->value;
  store_release(&cell->sequence, mine + 1024);
}
KERNEL wait_work_or_end(const unsigned* tail, const unsigned* ended, const float* in, float* out) {
  for (unsigned item = 0;; ++item) {
    bool more = false;
    for (;;) {
      if (volatile_load(tail) > item) {
        more = true;
        break;
      }
      if (volatile_load(ended)) break;
    }
    if (!more) return;
    out[item] = in[item] * 2;
  }
}
KERNEL wait_idle_worker(const unsigned* job, unsigned* done, const float* in, float* out) {
  __shared__ unsigned now;
  unsigned last = 0;
  for (;;) {
    if (threadIdx.x == 0) {
      unsigned seen = volatile_load(job);
      while (seen == last) {
        __nanosleep(500);
        seen = volatile_load(job);
      }
      now = seen;
    }
    __syncthreads();
    last = now;
    if (last == ~0u) return;
    out[threadIdx.x] = in[last * blockDim.x + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) *(volatile unsigned*)done = last;
  }
}
KERNEL wait_until_others_arrived(unsigned* arrived, float* parts, float* sum) {
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    if (blockIdx.x == 0) {
      while (volatile_load(arrived) != gridDim.x) {
      }
      __threadfence();
      float total = 0;
      for (unsigned i = 0; i < gridDim.x; ++i) total += parts[i];
      *sum = total;
    }
  }
}
KERNEL wait_credits(const unsigned* credits, unsigned* used, unsigned need, float* out) {
  const unsigned mine = atomicAdd(used, need) + need;
  while ((int)(volatile_load(credits) - mine) < 0) {
  }
  out[threadIdx.x] += 1;
}
KERNEL wait_slot_is_emptied(unsigned* slots, unsigned value) {
  const unsigned* slot = slots + blockIdx.x;
  while (volatile_load(slot) != 0) {
  }
  __threadfence();
  *(volatile unsigned*)slot = value;
}
KERNEL wait_range_of_writers(const u64* reserved, const u64* committed, float* out) {
  // All that was reserved has been committed.
  while (volatile_load(reserved) != volatile_load(committed)) {
  }
  __threadfence();
  out[threadIdx.x] += 1;
}
KERNEL either_steals_from_victims(const unsigned* counts, unsigned n, unsigned* victim) {
  unsigned state = threadIdx.x + 1, at;
  do {
    state = state * 1664525u + 1013904223u;
    at = (state >> 8) % n;
  } while (volatile_load(counts + at) == 0);
  *victim = at;
}
KERNEL work_drain(unsigned* next, unsigned total, const float* in, float* out) {
  unsigned item;
  while ((item = atomicAdd(next, 1)) < total) out[item] = sqrtf(in[item]);
}
KERNEL work_drain_growing(unsigned* next, const unsigned* total, const float* in, float* out) {
  unsigned item;
  while ((item = atomicAdd(next, 1)) < volatile_load(total)) out[item] = in[item] + 1;
}
KERNEL work_levels(const int* graph, int* frontier, int* next_frontier, int* sizes) {
  __shared__ int size;
  if (threadIdx.x == 0) size = sizes[0];
  __syncthreads();
  while (size > 0) {
    const int mine = (int)threadIdx.x < size ? graph[frontier[threadIdx.x]] : -1;
    __syncthreads();
    if (threadIdx.x == 0) size = 0;
    __syncthreads();
    if (mine >= 0) next_frontier[atomicAdd(&size, 1)] = mine;
    __syncthreads();
    int* const swap = frontier;
    frontier = next_frontier;
    next_frontier = swap;
  }
}
KERNEL work_last_block(unsigned* arrived, const float* parts, float* sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float total = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) total += volatile_load(parts + i);
    *sum = total;
  }
}
KERNEL work_pop_stack_of_indices(int* top, const int* items, float* out) {
  int at;
  while ((at = atomicSub(top, 1)) > 0) out[items[at - 1]] += 1;
}
KERNEL work_find_free_slot(unsigned* slots, unsigned n, unsigned* found) {
  unsigned at = threadIdx.x % n;
  while (atomicCAS(slots + at, 0, threadIdx.x + 1) != 0) at = at + 1 == n ? 0 : at + 1;
  found[threadIdx.x] = at;
}
KERNEL work_local_stack(const int* children, int* order) {
  int stack[16];
  int depth = 1, count = 0;
  stack[0] = threadIdx.x;
  while (depth > 0) {
    const int node = stack[--depth];
    order[count++ * blockDim.x + threadIdx.x] = node;
    for (int i = 0; i < 2; ++i) {
      const int child = volatile_load(children + 2 * node + i);
      if (child >= 0 && depth < 16) stack[depth++] = child;
    }
  }
}
