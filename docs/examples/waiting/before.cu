// Typical polling loops of programs: the "before" of docs/waiting.md. The tests compile them and never run them: none
// of them has a deadline, which is one of their faults.

// [consume]
__global__ void consume(const volatile unsigned* flag, unsigned round, const float* data, float* out) {
  if (threadIdx.x == 0) {
    while (*flag < round) {
    }
    __threadfence_system();
  }
  __syncthreads();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * data[i];
}
// [end]

// [consume_by_warps]
__global__ void consume_by_warps(const volatile unsigned* flag, unsigned round, const float* data, float* out) {
  const unsigned half = blockDim.x / 2;
  if (threadIdx.x < half) return;  // ... these warps compute something else ...
  while (*flag < round) {
  }
  __threadfence_system();
  const unsigned i = blockIdx.x * half + threadIdx.x - half;
  out[i] = 2 * data[i];
}
// [end]

// [produce]
__global__ void produce(unsigned round, float* data, volatile unsigned* flags) {
  data[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(round);
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    flags[blockIdx.x * 32] = round;
  }
}
// [end]

// [atomic]
__global__ void consume_by_atomic(unsigned* flag, unsigned round, const float* data, float* out) {
  if (threadIdx.x == 0) {
    while (atomicAdd_system(flag, 0) < round) {  // in pinned host memory this can wait for ever
    }
    __threadfence_system();
  }
  __syncthreads();
  out[threadIdx.x] = 2 * data[threadIdx.x];
}
// [end]
