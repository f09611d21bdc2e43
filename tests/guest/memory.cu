// Memory of each kind: pinned, managed, registered, from pools; and how much of it there is.
#include "tests/guest/gpu.h"

using namespace guest;

void freed_memory_comes_back() {
  std::size_t before = 0, after = 0, total = 0;
  OK(cudaMemGetInfo(&before, &total));
  for (int i = 0; i < 20; ++i) {
    void* memory = nullptr;
    if (cudaMalloc(&memory, 64 << 20) != cudaSuccess || cudaFree(memory) != cudaSuccess) say("turn %d failed", i);
  }
  OK(cudaMemGetInfo(&after, &total));
  IS(before == after, 1);
}
// Streams, events and waits leave as much GPU memory in use as without a profiler (see LEFT).
void waits_take_no_memory() {
  for (int i = 0; i < 30; ++i) {
    const cudaStream_t one = stream();
    const cudaEvent_t behind = event();
    busy(one, 1);
    cudaEventRecord(behind, one);
    if (cudaEventSynchronize(behind) != cudaSuccess || cudaStreamSynchronize(one) != cudaSuccess) say("turn %d", i);
    cudaStreamDestroy(one);
    cudaEventDestroy(behind);
  }
  OK(cudaDeviceSynchronize());
}
void free_waits_for_work() {  // cudaFree waits for the device
  void* memory = nullptr;
  const cudaStream_t one = stream();
  OK(cudaMalloc(&memory, 64));
  busy(one, 5);
  OK(cudaFree(memory));
  OK(cudaStreamQuery(one));
}
void managed_memory_after_a_wait() {
  unsigned* managed = nullptr;
  const cudaStream_t one = stream();
  OK(cudaMallocManaged(&managed, 64));
  *managed = 1;
  busy(one, 5);
  add_kernel<<<1, 1, 0, one>>>(managed, 4);
  OK(cudaStreamSynchronize(one));
  IS(*managed, 5);
  OK(cudaFree(managed));
}
void polled_from_managed_memory() {
  unsigned* managed = nullptr;
  const cudaStream_t one = stream();
  OK(cudaMallocManaged(&managed, 64));
  *managed = 0;
  hold_kernel<<<1, 1, 0, one>>>(managed, 1, nullptr);
  std::thread other([&] {
    pause_ms(10);
    *static_cast<volatile unsigned*>(managed) = 1;
  });
  OK(cudaStreamSynchronize(one));
  other.join();
  OK(cudaFree(managed));
}
void registered_memory() {
  void* page = nullptr;
  IS(posix_memalign(&page, 4096, 8192), 0);
  OK(cudaHostRegister(page, 8192, cudaHostRegisterMapped));
  IS(cudaHostRegister(page, 8192, cudaHostRegisterMapped), cudaErrorHostMemoryAlreadyRegistered);
  unsigned* device = nullptr;
  OK(cudaHostGetDevicePointer(&device, page, 0));
  *static_cast<volatile unsigned*>(page) = 2;
  const cudaStream_t one = stream();
  busy(one, 5);
  add_kernel<<<1, 1, 0, one>>>(device, 4);
  OK(cudaStreamSynchronize(one));
  IS(*static_cast<volatile unsigned*>(page), 6);
  OK(cudaHostUnregister(page));
  IS(cudaHostUnregister(page), cudaErrorHostMemoryNotRegistered);
  IS(cudaGetLastError(), cudaErrorHostMemoryNotRegistered);
}
void attributes_of_pointers() {
  static int pageable = 0;
  cudaPointerAttributes attributes{};
  OK(cudaPointerGetAttributes(&attributes, &pageable));
  IS(attributes.type, cudaMemoryTypeUnregistered);
  const Word pinned;
  OK(cudaPointerGetAttributes(&attributes, const_cast<unsigned*>(pinned.at)));
  IS(attributes.type, cudaMemoryTypeHost);
}
void pool() {
  const cudaStream_t one = stream();
  int failed = 0;
  for (int i = 0; i < 30; ++i) {
    unsigned* memory = nullptr;
    failed += cudaMallocAsync(&memory, 1 << 20, one) != cudaSuccess;
    failed += cudaMemsetAsync(memory, 0, 1 << 20, one) != cudaSuccess;
    add_kernel<<<1, 1, 0, one>>>(memory, 1);
    failed += cudaFreeAsync(memory, one) != cudaSuccess;
    failed += cudaStreamSynchronize(one) != cudaSuccess;
  }
  IS(failed, 0);
}
// All that the process takes, wic-prof and CUPTI in it.
void of_the_whole_process() {
  const cudaStream_t one = stream();
  busy(one, 5);
  OK(cudaStreamSynchronize(one));
  say("GREW gpu_mb %lld 20", memory_in_use() >> 20);
}
// As much as there is: a profiler that takes much of it ends the program's allocation earlier.
void almost_all_of_it() {
  std::size_t free = 0, total = 0;
  OK(cudaMemGetInfo(&free, &total));
  void* memory = nullptr;
  OK(cudaMalloc(&memory, free - (256 << 20)));
  const cudaStream_t one = stream();
  busy(one, 5);
  OK(cudaStreamSynchronize(one));
  const cudaEvent_t behind = event();
  OK(cudaEventRecord(behind, one));
  OK(cudaEventSynchronize(behind));
  OK(cudaDeviceSynchronize());
  OK(cudaFree(memory));
  OK(cudaGetLastError());
}
void exported_memory() {
  void* memory = nullptr;
  cudaIpcMemHandle_t handle{};
  OK(cudaMalloc(&memory, 2 << 20));
  OK(cudaIpcGetMemHandle(&handle, memory));
  busy(nullptr, 5);
  OK(cudaDeviceSynchronize());
  OK(cudaFree(memory));
}
void managed_memory_of_one_stream() {
  const cudaStream_t one = stream();
  unsigned* const number = numbers();
  OK(cudaStreamAttachMemAsync(one, number, 0, cudaMemAttachSingle));
  OK(cudaStreamSynchronize(one));
  add_kernel<<<1, 1, 0, one>>>(number, 3);
  OK(cudaStreamSynchronize(one));
  IS(*number, 3u);
}
// In the order of the streams, and used again before the host has waited.
void allocated_and_freed_in_streams() {
  const cudaStream_t one = stream(), two = stream();
  const cudaEvent_t used = event();
  void *first = nullptr, *second = nullptr;
  for (int i = 0; i < 20; ++i) {
    OK(cudaMallocAsync(&first, 1 << 20, one));
    OK(cudaMemsetAsync(first, i, 1 << 20, one));
    OK(cudaEventRecord(used, one));
    OK(cudaStreamWaitEvent(two, used));
    OK(cudaFreeAsync(first, two));
    OK(cudaMallocAsync(&second, 1 << 20, two));
    OK(cudaFreeAsync(second, two));
  }
  OK(cudaStreamSynchronize(two));
  std::size_t reserved = 0;
  cudaMemPool_t pool = nullptr;
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &reserved));
  IS(reserved, 0u);
}

#define Q(name) \
  { #name, name }
#define ALONE(name) \
  { #name, name, 0, true }
QUESTIONS({ALONE(freed_memory_comes_back), ALONE(waits_take_no_memory), Q(free_waits_for_work),
           Q(managed_memory_after_a_wait), Q(polled_from_managed_memory), Q(registered_memory),
           Q(attributes_of_pointers), Q(pool), ALONE(of_the_whole_process), ALONE(almost_all_of_it), Q(exported_memory),
           Q(managed_memory_of_one_stream), Q(allocated_and_freed_in_streams)})
