#include "cuda/end_stream.h"

#include <chrono>
#include <thread>

#include "protocol/time.h"

namespace wic::cuda {

namespace {
constexpr wicprof::TimeNs kLongest = 100 * wicprof::kMillisecond;
constexpr std::chrono::microseconds kBetweenLooks{20};
}  // namespace

bool end_stream(cudaStream_t stream) {
  if (stream == nullptr) return true;
  const wicprof::TimeNs end = wicprof::now_ns() + kLongest;
  cudaError_t status = cudaStreamQuery(stream);
  while (status == cudaErrorNotReady && wicprof::now_ns() < end) {
    std::this_thread::sleep_for(kBetweenLooks);
    status = cudaStreamQuery(stream);
  }
  cudaStreamDestroy(stream);
  return status != cudaErrorNotReady;
}

}  // namespace wic::cuda
