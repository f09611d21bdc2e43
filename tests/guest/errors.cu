// Errors of each kind: the same codes from the same calls, and what stays afterwards.
#include "tests/guest/gpu.h"

using namespace guest;

namespace {
/// What every call answers once the context is lost.
void all_answer(int code) {
  const cudaStream_t none = nullptr;
  void* memory = nullptr;
  IS(cudaStreamSynchronize(none), code);
  IS(cudaDeviceSynchronize(), code);
  IS(cudaMalloc(&memory, 64), code);
  IS(cudaStreamQuery(none), code);
  IS(cudaGetLastError(), code);
  OK(cudaPeekAtLastError());  // as seen on an H100 and an H200
}
}  // namespace

void trap_then_stream_wait() {
  const cudaStream_t one = stream();
  busy(one, 5);
  trap_kernel<<<1, 1, 0, one>>>();
  IS(cudaStreamSynchronize(one), cudaErrorLaunchFailure);
  all_answer(cudaErrorLaunchFailure);
}
void stray_address_then_device_wait() {
  const cudaStream_t one = stream();
  busy(one, 5);
  stray_kernel<<<1, 1, 0, one>>>();
  IS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  all_answer(cudaErrorIllegalAddress);
}
void stray_address_then_event_wait() {
  const cudaStream_t one = stream();
  const cudaEvent_t behind = event();
  busy(one, 5);
  stray_kernel<<<1, 1, 0, one>>>();
  OK(cudaEventRecord(behind, one));
  IS(cudaEventSynchronize(behind), cudaErrorIllegalAddress);
  IS(cudaEventQuery(behind), cudaErrorIllegalAddress);
  all_answer(cudaErrorIllegalAddress);
}
void stray_address_then_copy() {
  const cudaStream_t one = stream();
  void* memory = nullptr;
  static char to[64];
  OK(cudaMalloc(&memory, 64));
  busy(one, 5);
  stray_kernel<<<1, 1, 0, one>>>();
  IS(cudaMemcpyAsync(to, memory, 64, cudaMemcpyDeviceToHost, one), cudaErrorIllegalAddress);
  all_answer(cudaErrorIllegalAddress);
}
void failed_while_another_thread_waits() {
  const cudaStream_t one = stream(), two = stream();
  const Word word;
  hold(two, word);
  std::thread other([&] {
    pause_ms(10);
    stray_kernel<<<1, 1, 0, one>>>();
  });
  IS(cudaStreamSynchronize(one), 0);  // nothing is in it yet
  other.join();
  IS(cudaStreamSynchronize(two), cudaErrorIllegalAddress);
}
void too_much_memory() {
  void* memory = nullptr;
  IS(cudaMalloc(&memory, std::size_t{1} << 60), cudaErrorMemoryAllocation);
  const cudaStream_t one = stream();
  busy(one, 5);
  OK(cudaStreamSynchronize(one));
  IS(cudaGetLastError(), cudaErrorMemoryAllocation);
  OK(cudaGetLastError());
}
void launch_that_cannot_be() {
  const cudaStream_t one = stream();
  busy_kernel<<<1, 4096, 0, one>>>(1);
  OK(cudaStreamSynchronize(one));
  IS(cudaPeekAtLastError(), cudaErrorInvalidValue);
  busy(one, 5);
  OK(cudaStreamSynchronize(one));
  IS(cudaGetLastError(), cudaErrorInvalidValue);
  OK(cudaGetLastError());
}
void too_much_shared_memory() {
  busy_kernel<<<1, 1, 1 << 20>>>(1);
  IS(cudaGetLastError(), cudaErrorInvalidValue);
  OK(cudaDeviceSynchronize());
}
void device_that_is_not_there() {
  IS(cudaSetDevice(99), cudaErrorInvalidDevice);
  busy(nullptr, 5);
  OK(cudaDeviceSynchronize());
  IS(cudaGetLastError(), cudaErrorInvalidDevice);
}
void copy_of_nothing() {
  void* memory = nullptr;
  OK(cudaMalloc(&memory, 64));
  OK(cudaMemcpy(memory, nullptr, 0, cudaMemcpyHostToDevice));
  IS(cudaMemcpy(memory, nullptr, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  IS(cudaMemcpy(nullptr, memory, 64, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  IS(cudaMemcpy(memory, memory, 64, static_cast<cudaMemcpyKind>(77)), cudaErrorInvalidMemcpyDirection);
  IS(cudaGetLastError(), cudaErrorInvalidMemcpyDirection);
}
void of_each_thread_its_own() {
  IS(cudaSetDevice(99), cudaErrorInvalidDevice);
  std::thread other([] {
    OK(cudaPeekAtLastError());
    busy(nullptr, 5);
    OK(cudaDeviceSynchronize());
    OK(cudaGetLastError());
  });
  other.join();
  IS(cudaGetLastError(), cudaErrorInvalidDevice);
}
void sticky_in_the_driver() {
  stray_kernel<<<1, 1>>>();
  IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  IS(cuStreamSynchronize(nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
  IS(cudaDeviceReset(), 0);
  OK(cudaGetLastError());  // the runtime made none of these calls
  void* memory = nullptr;
  IS(cudaMalloc(&memory, 64), cudaErrorDevicesUnavailable);
}
void exits_three_after_a_trap() {
  trap_kernel<<<1, 1>>>();
  IS(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  std::exit(3);
}
void exits_seven_after_an_error() {
  stray_kernel<<<1, 1>>>();
  std::exit(cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 7 : 1);
}

#define Q(name) \
  { #name, name }
QUESTIONS({Q(trap_then_stream_wait),
           Q(stray_address_then_device_wait),
           Q(stray_address_then_event_wait),
           Q(stray_address_then_copy),
           Q(failed_while_another_thread_waits),
           Q(too_much_memory),
           Q(launch_that_cannot_be),
           Q(too_much_shared_memory),
           Q(device_that_is_not_there),
           Q(copy_of_nothing),
           Q(of_each_thread_its_own),
           Q(sticky_in_the_driver),
           {"exits_three_after_a_trap", exits_three_after_a_trap, 3},
           {"exits_seven_after_an_error", exits_seven_after_an_error, 7}})
