// A doorbell of a GPU: a stream waits for the word, and an event after it wakes the host thread by an interrupt.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <memory>

#include "wic/device.h"

namespace wic::cuda {

class CudaDoorbell final : public Doorbell {
 public:
  /// On the GPU of `context`, which is the calling thread's current one. Error: the driver's streams cannot wait for
  /// words, or there are as many doorbells as the device has queues.
  static Result<std::unique_ptr<Doorbell>> make(CUcontext context);
  ~CudaDoorbell() override;

  std::uint32_t* word() const override { return word_; }
  Result<std::uint32_t> wait(std::uint32_t seen) override;
  Result<> release() override;
  Result<> close() override;

 private:
  explicit CudaDoorbell(CUcontext context);
  Result<> open();
  /// Reads the word while no wait is in progress.
  Result<> read_word();
  /// Moves the word past `seen` of the wait in progress.
  Result<> move_past();

  const CUcontext context_;
  const int number_;               // of the doorbells of the context, when this one was made
  std::uint32_t* word_ = nullptr;  // device memory
  std::uint32_t* read_ = nullptr;  // pinned host memory: the word after the last wait
  cudaStream_t stream_ = nullptr;
  cudaStream_t releasing_stream_ = nullptr;
  cudaEvent_t woken_ = nullptr;
  wicprof::TimeNs heard_ns_ = 0;         // when the word was last read
  std::atomic<std::uint32_t> armed_{0};  // `seen` of the current or last wait
  std::atomic<bool> released_{false};    // since the last wait began
  std::atomic<bool> closed_{false};
};

}  // namespace wic::cuda
