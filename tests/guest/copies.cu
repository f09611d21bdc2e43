// Copies of every kind: what they wait for, what they bring, and in which order.
#include "tests/guest/gpu.h"

using namespace guest;

namespace {

constexpr std::size_t kBytes = 1 << 20;
__device__ unsigned symbol[64];

struct Memory {
  unsigned* at = nullptr;
  explicit Memory(std::size_t bytes = kBytes) {
    if (cudaMalloc(&at, bytes) != cudaSuccess || cudaMemset(at, 0, bytes) != cudaSuccess) std::_Exit(97);
    cudaDeviceSynchronize();
  }
  ~Memory() { cudaFree(at); }
};

/// A kernel of some ms that then writes 7 into the first word.
void seven(cudaStream_t one, const Memory& memory) {
  busy(one, 5);
  set_kernel<<<1, 1, 0, one>>>(memory.at, 7);
}

}  // namespace

void to_pageable() {
  const cudaStream_t one = stream();
  const Memory memory;
  std::vector<unsigned> to(kBytes / 4);
  for (int i = 0; i < 3; ++i) {
    const Timed timed("copy");
    seven(one, memory);
    OK(cudaMemcpyAsync(to.data(), memory.at, kBytes, cudaMemcpyDeviceToHost, one));
    IS(to[0], 7);
    to[0] = 0;
    OK(cudaStreamQuery(one));
  }
}
void to_pageable_in_default_direction() {
  const cudaStream_t one = stream();
  const Memory memory;
  std::vector<unsigned> to(64);
  seven(one, memory);
  OK(cudaMemcpyAsync(to.data(), memory.at, 256, cudaMemcpyDefault, one));
  IS(to[0], 7);
}
void to_pinned() {  // does not wait
  const cudaStream_t one = stream();
  const Memory memory;
  const Word to, word;
  hold(one, word);
  set_kernel<<<1, 1, 0, one>>>(memory.at, 7);
  OK(cudaMemcpyAsync(const_cast<unsigned*>(to.at), memory.at, 4, cudaMemcpyDeviceToHost, one));
  IS(cudaStreamQuery(one), cudaErrorNotReady);
  IS(*to.at, 0);
  word.set();
  OK(cudaStreamSynchronize(one));
  IS(*to.at, 7);
}
void small_from_pageable() {  // is taken at once, and may be changed afterwards
  const cudaStream_t one = stream();
  const Memory memory;
  const Word word;
  unsigned from = 5, back = 0;
  hold(one, word);
  OK(cudaMemcpyAsync(memory.at, &from, 4, cudaMemcpyHostToDevice, one));
  from = 6;
  word.set();
  OK(cudaStreamSynchronize(one));
  OK(cudaMemcpy(&back, memory.at, 4, cudaMemcpyDeviceToHost));
  IS(back, 5);
}
void large_from_pageable() {
  const cudaStream_t one = stream();
  const Memory memory(8 << 20);
  std::vector<unsigned> from(2 << 20, 3), back(2 << 20);
  busy(one, 5);
  OK(cudaMemcpyAsync(memory.at, from.data(), 8 << 20, cudaMemcpyHostToDevice, one));
  std::fill(from.begin(), from.end(), 4);
  OK(cudaMemcpyAsync(back.data(), memory.at, 8 << 20, cudaMemcpyDeviceToHost, one));
  OK(cudaStreamSynchronize(one));
  IS(std::count(back.begin(), back.end(), 3u), 2 << 20);
}
void synchronous_both_ways() {
  const Memory memory;
  std::vector<unsigned> from(kBytes / 4, 9), back(kBytes / 4);
  busy(nullptr, 3);
  OK(cudaMemcpy(memory.at, from.data(), kBytes, cudaMemcpyHostToDevice));
  busy(nullptr, 3);
  OK(cudaMemcpy(back.data(), memory.at, kBytes, cudaMemcpyDeviceToHost));
  IS(std::count(back.begin(), back.end(), 9u), static_cast<long>(kBytes / 4));
}
void two_dimensions() {
  const cudaStream_t one = stream();
  const Memory memory;
  unsigned to[4][4] = {};
  seven(one, memory);
  OK(cudaMemcpy2DAsync(to, 16, memory.at, 64, 16, 4, cudaMemcpyDeviceToHost, one));
  OK(cudaStreamSynchronize(one));
  IS(to[0][0], 7);
  OK(cudaMemcpy2D(to, 16, memory.at, 64, 16, 4, cudaMemcpyDeviceToHost));
  IS(to[0][0], 7);
}
void three_dimensions() {
  const cudaStream_t one = stream();
  cudaPitchedPtr from{};
  const cudaExtent extent = make_cudaExtent(16, 4, 4);
  OK(cudaMalloc3D(&from, extent));
  OK(cudaMemset3D(from, 1, extent));
  unsigned char to[4][4][16] = {};
  cudaMemcpy3DParms params{};
  params.srcPtr = from;
  params.dstPtr = make_cudaPitchedPtr(to, 16, 16, 4);
  params.extent = extent;
  params.kind = cudaMemcpyDeviceToHost;
  busy(one, 5);
  OK(cudaMemcpy3DAsync(&params, one));
  OK(cudaStreamSynchronize(one));
  IS(to[3][3][15], 1);
}
void symbols() {
  const cudaStream_t one = stream();
  unsigned value = 8, back = 0;
  busy(one, 5);
  OK(cudaMemcpyToSymbolAsync(symbol, &value, 4, 0, cudaMemcpyHostToDevice, one));
  OK(cudaMemcpyFromSymbolAsync(&back, symbol, 4, 0, cudaMemcpyDeviceToHost, one));
  OK(cudaStreamSynchronize(one));
  IS(back, 8);
  value = 9;
  OK(cudaMemcpyToSymbol(symbol, &value, 4));
  OK(cudaMemcpyFromSymbol(&back, symbol, 4));
  IS(back, 9);
}
void within_the_device() {  // does not wait
  const cudaStream_t one = stream();
  const Memory from, to;
  const Word word;
  hold(one, word);
  OK(cudaMemcpyAsync(to.at, from.at, kBytes, cudaMemcpyDeviceToDevice, one));
  IS(cudaStreamQuery(one), cudaErrorNotReady);
  word.set();
  OK(cudaStreamSynchronize(one));
}
void between_hosts() {
  const cudaStream_t one = stream();
  std::vector<unsigned> from(1024, 4), to(1024);
  busy(one, 5);
  OK(cudaMemcpyAsync(to.data(), from.data(), 4096, cudaMemcpyHostToHost, one));
  OK(cudaStreamSynchronize(one));
  IS(to[1023], 4);
}
// The copy comes in its place: what another thread launches during its call comes behind it.
void order_against_another_thread() {
  const cudaStream_t one = stream();
  const Memory memory;
  unsigned to = 0;
  std::atomic<bool> stop{false};
  seven(one, memory);
  std::thread other([&] {
    pause_ms(1);
    set_kernel<<<1, 1, 0, one>>>(memory.at, 8);  // after the copy if its call had begun, which took the stream's end
    for (const double end = now_ms() + 1000; !stop && now_ms() < end; pause_ms(0.5)) busy(one, 1);
  });
  const double begin = now_ms();
  OK(cudaMemcpyAsync(&to, memory.at, 4, cudaMemcpyDeviceToHost, one));
  IS(now_ms() - begin < 900, 1);
  stop = true;
  other.join();
  IS(to == 7 || to == 8, 1);
  OK(cudaStreamSynchronize(one));
}
// A synchronous copy is in the legacy stream: what a blocking stream gets during its call waits for it.
void legacy_copy_beside_blocking_streams() {
  const cudaStream_t blocking = stream(cudaStreamDefault), apart = stream();
  const Memory memory;
  const Word word;
  unsigned to = 0;
  hold(apart, word);
  seven(blocking, memory);
  OK(cudaMemcpy(&to, memory.at, 4, cudaMemcpyDeviceToHost));
  IS(to, 7);
  IS(cudaStreamQuery(apart), cudaErrorNotReady);
  word.set();
  OK(cudaStreamSynchronize(apart));
}
void pinned_meanwhile() {
  const cudaStream_t one = stream();
  const Memory memory;
  void* page = nullptr;
  IS(posix_memalign(&page, 4096, 4096), 0);
  volatile unsigned* const to = static_cast<unsigned*>(page);
  for (int i = 0; i < 3; ++i) {
    *to = 0;
    seven(one, memory);
    OK(cudaMemcpyAsync(page, memory.at, 4, cudaMemcpyDeviceToHost, one));
    IS(*to, 7);
    OK(cudaHostRegister(page, 4096, cudaHostRegisterDefault));
    *to = 0;
    const Word word;
    hold(one, word);
    OK(cudaMemcpyAsync(page, memory.at, 4, cudaMemcpyDeviceToHost, one));
    IS(*to, 0);  // does not wait now
    word.set();
    OK(cudaStreamSynchronize(one));
    IS(*to, 7);
    OK(cudaHostUnregister(page));
  }
}
void memset_and_prefetch() {
  const cudaStream_t one = stream();
  unsigned* managed = nullptr;
  OK(cudaMallocManaged(&managed, kBytes));
  OK(cudaMemsetAsync(managed, 1, kBytes, one));
  busy(one, 5);
  OK(cudaStreamSynchronize(one));
  IS(managed[5], 0x01010101);
  OK(cudaFree(managed));
}
void times_of_copies() {
  const Memory memory(16 << 20);
  std::vector<char> to(16 << 20);
  for (int i = 0; i < 7; ++i) {
    const Timed timed("16 MiB to pageable", 1);
    OK(cudaMemcpy(to.data(), memory.at, to.size(), cudaMemcpyDeviceToHost));
  }
}

#define Q(name) \
  { #name, name }
QUESTIONS({{"to_pageable", to_pageable, 0, true},
           Q(to_pageable_in_default_direction),
           Q(to_pinned),
           Q(small_from_pageable),
           Q(large_from_pageable),
           Q(synchronous_both_ways),
           Q(two_dimensions),
           Q(three_dimensions),
           Q(symbols),
           Q(within_the_device),
           Q(between_hosts),
           Q(order_against_another_thread),
           Q(legacy_copy_beside_blocking_streams),
           Q(pinned_meanwhile),
           Q(memset_and_prefetch),
           {"times_of_copies", times_of_copies, 0, true}})
