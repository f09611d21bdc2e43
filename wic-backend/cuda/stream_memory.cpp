#include "cuda/stream_memory.h"

#include <string>

#include "cuda/cuda_error.h"
#include "cuda/driver_function.h"

namespace wic::cuda {

namespace {

wicprof::Error driver_error(const char* what, CUresult status) {
  return wicprof::unavailable(std::string(what) + " failed: CUresult " + std::to_string(static_cast<int>(status)));
}

CUdeviceptr address(const std::uint32_t* word) { return reinterpret_cast<CUdeviceptr>(word); }

}  // namespace

wicprof::Result<> stream_write(cudaStream_t stream, std::uint32_t* to, std::uint32_t value) {
  static const auto write = driver_function<PFN_cuStreamWriteValue32_v11070>("cuStreamWriteValue32");
  if (write == nullptr) {
    // From pageable memory: the value is taken before the call returns.
    return check("writing a word", cudaMemcpyAsync(to, &value, sizeof value, cudaMemcpyDefault, stream));
  }
  const CUresult status = write(stream, address(to), value, CU_STREAM_WRITE_VALUE_DEFAULT);
  if (status != CUDA_SUCCESS) return driver_error("writing a word", status);
  return wicprof::ok();
}

wicprof::Result<> stream_wait_at_least(cudaStream_t stream, const std::uint32_t* word, std::uint32_t goal) {
  static const auto wait = driver_function<PFN_cuStreamWaitValue32_v11070>("cuStreamWaitValue32");
  if (wait == nullptr) return wicprof::unavailable("this driver's streams cannot wait for a word");
  const CUresult status = wait(stream, address(word), goal, CU_STREAM_WAIT_VALUE_GEQ);
  if (status != CUDA_SUCCESS) return driver_error("waiting for a word", status);
  return wicprof::ok();
}

}  // namespace wic::cuda
