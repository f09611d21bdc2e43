// One flag per block, neighbour, tile or lane; and loops over arrays of flags that wait for nobody.
#include "common.h"

KERNEL wait_byte_of_block(const unsigned char* done, float* out) {
  const volatile unsigned char* mine = done + blockIdx.x;
  while (*mine == 0) {
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}
KERNEL wait_two_neighbours(const unsigned* step_of, float* a, float* b, unsigned steps) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned step = 1; step <= steps; ++step) {
    if (threadIdx.x < 2) {
      const unsigned neighbour = threadIdx.x == 0 ? blockIdx.x - 1 : blockIdx.x + 1;
      if (neighbour < gridDim.x) {
        while (load_acquire(step_of + neighbour * 32) < step - 1) {
        }
      }
    }
    __syncthreads();
    b[i] = 0.25f * a[i - 1] + 0.5f * a[i] + 0.25f * a[i + 1];
    __syncthreads();
    if (threadIdx.x == 0) store_release(const_cast<unsigned*>(step_of) + blockIdx.x * 32, step);
    float* const swap = a;
    a = b;
    b = swap;
  }
}
KERNEL wait_lane_per_peer(unsigned* const* peer_flags, unsigned self, unsigned peers, unsigned epoch) {
  if (threadIdx.x < peers) {
    store_release_system(peer_flags[threadIdx.x] + self, epoch);
    while (load_acquire_system(peer_flags[self] + threadIdx.x) != epoch) {
    }
  }
  __syncthreads();
}
KERNEL wait_each_flag_in_turn(const int* flags, int n, int* out) {
  if (threadIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      while (*(const volatile int*)(flags + i) == 0) {
      }
    }
  }
  __syncthreads();
  out[threadIdx.x] = flags[threadIdx.x];
}
KERNEL wait_tile_semaphore(const int* semaphores, const float* a, const float* b, float* c, int tiles, int arrivals) {
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    if (threadIdx.x == 0) {
      const int* semaphore = semaphores + blockIdx.y * tiles + k;
      while (load_cg(semaphore) < arrivals) {
      }
    }
    __syncthreads();
    for (int i = 0; i < 32; ++i) sum += a[(blockIdx.y * tiles + k) * 1024 + i] * b[k * 1024 + i * 32 + threadIdx.x];
    __syncthreads();
  }
  c[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
KERNEL wait_flags_of_row_by_stride(const unsigned* flags, unsigned n, unsigned epoch, float* out) {
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
    while (*(volatile const unsigned*)&flags[i] != epoch) __nanosleep(40);
  }
  __syncthreads();
  out[threadIdx.x] = 1;
}
KERNEL wait_short_flag(const short* flags, short want, float* out) {
  const volatile short* flag = flags + blockIdx.x;
  while (*flag < want) {
  }
  __threadfence();
  out[blockIdx.x] = 2;
}
KERNEL work_count_set_flags(const int* flags, int n, int* count) {
  int set = 0;
  for (int i = 0; i < n; ++i) set += *(const volatile int*)(flags + i) != 0;
  count[blockIdx.x] = set;
}
KERNEL work_first_unset(const unsigned* flags, unsigned n, unsigned* first) {
  unsigned i = 0;
  while (i < n && *(const volatile unsigned*)&flags[i] != 0) ++i;
  *first = i;
}
KERNEL work_clear_flags(unsigned* flags, unsigned n) {
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) *(volatile unsigned*)&flags[i] = 0;
}
KERNEL work_next_set_bit(const unsigned* mask, unsigned words, unsigned* found) {
  unsigned word = 0, bits = 0;
  while (word < words && (bits = load_acquire(mask + word)) == 0) ++word;
  found[threadIdx.x] = word * 32 + __ffs(bits) - 1;
}
KERNEL work_newest_epoch(const unsigned* epochs, unsigned n, unsigned* newest) {
  unsigned most = 0;
  for (unsigned i = 0; i < n; ++i) {
    const unsigned epoch = load_relaxed(epochs + i);
    if (epoch > most) most = epoch;
  }
  *newest = most;
}
