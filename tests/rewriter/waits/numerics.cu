// Numbers, texts and sorting: nothing waits, but for two kernels.
#include "common.h"

KERNEL wait_then_sort(const unsigned* ready, unsigned want, int* values, int n) {
  if (threadIdx.x == 0) {
    while (load_acquire(ready) != want) {
    }
    for (int i = 1; i < n; ++i) {
      const int value = values[i];
      int at = i;
      while (at > 0 && values[at - 1] > value) {
        values[at] = values[at - 1];
        --at;
      }
      values[at] = value;
    }
  }
}
KERNEL wait_input_then_newton(const float* input, float* out) {
  float a;
  while ((a = volatile_load(input)) == 0) {
  }
  float x = a;
  for (int i = 0; i < 32 && fabsf(x * x - a) > 1e-6f; ++i) x = 0.5f * (x + a / x);
  out[threadIdx.x] = x;
}
KERNEL work_newton(const float* in, float* out) {
  const float a = in[threadIdx.x];
  float x = a;
  while (fabsf(x * x - a) > 1e-6f * a) x = 0.5f * (x + a / x);
  out[threadIdx.x] = x;
}
KERNEL work_bisect(const float* target, float* out) {
  float low = 0, high = 16;
  while (high - low > 1e-5f) {
    const float middle = 0.5f * (low + high);
    (middle * middle * middle < volatile_load(target) ? low : high) = middle;
  }
  out[threadIdx.x] = low;
}
KERNEL work_greatest_common_divisor(const unsigned* a, const unsigned* b, unsigned* out) {
  unsigned x = a[threadIdx.x], y = b[threadIdx.x];
  while (y != 0) {
    const unsigned rest = x % y;
    x = y;
    y = rest;
  }
  out[threadIdx.x] = x;
}
KERNEL work_collatz(unsigned* steps) {
  u64 x = threadIdx.x + 1;
  unsigned count = 0;
  while (x != 1) {
    x = x & 1 ? 3 * x + 1 : x / 2;
    ++count;
  }
  steps[threadIdx.x] = count;
}
KERNEL work_mandelbrot(unsigned char* picture) {
  const float cx = threadIdx.x / 128.0f - 1.5f, cy = blockIdx.x / 128.0f - 1;
  float x = 0, y = 0;
  int i = 0;
  while (x * x + y * y < 4 && i < 255) {
    const float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    ++i;
  }
  picture[blockIdx.x * blockDim.x + threadIdx.x] = i;
}
KERNEL work_bits(const u64* in, int* counts) {
  u64 x = in[threadIdx.x];
  int count = 0;
  while (x != 0) {
    x &= x - 1;
    ++count;
  }
  counts[threadIdx.x] = count;
}
KERNEL work_text_length(const char* text, unsigned* length) {
  const volatile char* at = text;
  while (*at != 0) ++at;
  *length = at - text;
}
KERNEL work_letters(const unsigned char* text, unsigned* letters) {
  unsigned at = 0, count = 0;
  unsigned char byte;
  while ((byte = text[at]) != 0) {
    at += byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    ++count;
  }
  *letters = count;
}
KERNEL work_insertion_sort(int* values, int n) {
  for (int i = 1; i < n; ++i) {
    const int value = volatile_load(values + i);
    int at = i;
    while (at > 0 && volatile_load(values + at - 1) > value) {
      *(volatile int*)(values + at) = values[at - 1];
      --at;
    }
    *(volatile int*)(values + at) = value;
  }
}
KERNEL work_partition(int* values, int n, int pivot, int* split) {
  int low = 0, high = n - 1;
  while (low <= high) {
    while (volatile_load(values + low) < pivot) ++low;
    while (volatile_load(values + high) > pivot) --high;
    if (low <= high) {
      const int swap = values[low];
      values[low++] = values[high];
      values[high--] = swap;
    }
  }
  *split = low;
}
KERNEL work_sift_down(int* heap, int n) {
  int at = 0;
  const int value = heap[0];
  while (2 * at + 1 < n) {
    int child = 2 * at + 1;
    if (child + 1 < n && heap[child + 1] > heap[child]) ++child;
    if (heap[child] <= value) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = value;
}
KERNEL work_rejection(unsigned seed, float* out) {
  unsigned state = seed + threadIdx.x;
  float x, y;
  do {
    state = state * 1664525u + 1013904223u;
    x = (state >> 8) * (1.0f / 8388608) - 1;
    state = state * 1664525u + 1013904223u;
    y = (state >> 8) * (1.0f / 8388608) - 1;
  } while (x * x + y * y > 1);
  out[threadIdx.x] = x;
}
KERNEL work_generator_in_memory(unsigned* state, float* out) {
  unsigned x;
  do {
    x = volatile_load(state + threadIdx.x);
    x = x * 1664525u + 1013904223u;
    *(volatile unsigned*)(state + threadIdx.x) = x;
  } while (x > 0x80000000u);
  out[threadIdx.x] = x;
}
KERNEL work_upper_bound(const unsigned* sorted, unsigned n, const unsigned* keys, unsigned* places) {
  unsigned low = 0, length = n;
  while (length > 0) {
    const unsigned half = length / 2;
    if (volatile_load(sorted + low + half) <= keys[threadIdx.x]) {
      low += half + 1;
      length -= half + 1;
    } else {
      length = half;
    }
  }
  places[threadIdx.x] = low;
}
KERNEL work_divide_in_place(unsigned* number, unsigned divisor) {
  while (volatile_load(number) >= divisor) *(volatile unsigned*)number = volatile_load(number) - divisor;
}
KERNEL work_power_iteration(const float* matrix, float* x, int n, float eps) {
  __shared__ float norm;
  float before = 0, now = 1;
  while (fabsf(now - before) > eps) {
    float sum = 0;
    for (int j = 0; j < n; ++j) sum += matrix[threadIdx.x * n + j] * x[j];
    if (threadIdx.x == 0) norm = 0;
    __syncthreads();
    atomicAdd(&norm, sum * sum);
    __syncthreads();
    before = now;
    now = norm;
    x[threadIdx.x] = sum * rsqrtf(norm);
    __syncthreads();
  }
}
KERNEL work_run_lengths(const unsigned char* in, unsigned n, unsigned* runs) {
  unsigned at = threadIdx.x, count = 0;
  while (at < n) {
    const unsigned char byte = volatile_load(in + at);
    while (at < n && volatile_load(in + at) == byte) ++at;
    ++count;
  }
  runs[threadIdx.x] = count;
}
