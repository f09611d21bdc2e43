#include "cuda/cuda_doorbell.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include "cuda/cuda_error.h"
#include "cuda/current_context.h"
#include "cuda/end_stream.h"
#include "cuda/kept_memory.h"
#include "cuda/stream_memory.h"

namespace wic::cuda {

namespace {

constexpr const char* kConnections = "CUDA_DEVICE_MAX_CONNECTIONS";

/// The hardware queues of a device, read by CUDA at its start: 8 unless the variable says otherwise, at most 32.
int connections() {
  const char* said = secure_getenv(kConnections);
  const int number = said == nullptr ? 0 : std::atoi(said);
  return number >= 1 && number <= 32 ? number : 8;
}

/// Adds to the number of doorbells of a context, and returns it.
int count_doorbells(CUcontext context, int change) {
  static std::mutex* const mutex = new std::mutex;
  static auto* const counts = new std::map<CUcontext, int>;
  const std::lock_guard lock(*mutex);
  return (*counts)[context] += change;
}

}  // namespace

CudaDoorbell::CudaDoorbell(CUcontext context) : context_(context), number_(count_doorbells(context, 1)) {}

Result<std::unique_ptr<Doorbell>> CudaDoorbell::make(CUcontext context) {
  std::unique_ptr<CudaDoorbell> bell(new CudaDoorbell(context));
  // A stream that waits for its doorbell blocks every stream behind it in its hardware queue.
  if (bell->number_ > connections()) {
    return wicprof::unavailable("a GPU wakes threads through " + std::to_string(connections()) +
                                " doorbells at once; for more of them, set " + kConnections +
                                "=32 before the program starts");
  }
  if (Result<> opened = bell->open(); !opened) return opened.error();
  return Result<std::unique_ptr<Doorbell>>(std::move(bell));
}

Result<> CudaDoorbell::open() {
  int lowest = 0, highest = 0;
  cudaDeviceGetStreamPriorityRange(&lowest, &highest);
  // A different priority keeps this stream, which is blocked most of the time, out of the other streams' queues.
  if (Result<> r = check("making a stream", cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, highest));
      !r) {
    return r;
  }
  if (Result<> r = check("making a stream", cudaStreamCreateWithFlags(&releasing_stream_, cudaStreamNonBlocking)); !r) {
    return r;
  }
  constexpr unsigned kSleeps = cudaEventBlockingSync | cudaEventDisableTiming;
  if (Result<> r = check("making an event", cudaEventCreateWithFlags(&woken_, kSleeps)); !r) return r;
  void* memory = nullptr;
  if (Result<> r = check("allocating memory", allocate_kept(&memory, 128, Memory::device)); !r) return r;
  word_ = static_cast<std::uint32_t*>(memory);
  if (Result<> r = check("allocating memory", allocate_kept(&memory, sizeof *read_, Memory::pinned_host)); !r) return r;
  read_ = static_cast<std::uint32_t*>(memory);
  *read_ = 0;
  if (Result<> r = check("clearing memory", cudaMemsetAsync(word_, 0, 128, stream_)); !r) return r;
  // Also tests whether the driver can wait for words: 0 is reached at once.
  if (Result<> r = stream_wait_at_least(stream_, word_, 0); !r) return r;
  return check("opening a doorbell", cudaStreamSynchronize(stream_));
}

CudaDoorbell::~CudaDoorbell() {
  const CurrentContext current(context_);
  if (woken_ != nullptr) cudaEventDestroy(woken_);
  const bool released = end_stream(releasing_stream_);
  const bool ended = end_stream(stream_) && released;
  release_kept(word_, !ended);
  release_kept(read_, !ended);
  count_doorbells(context_, -1);
}

Result<> CudaDoorbell::read_word() {
  if (Result<> r = check("a copy", cudaMemcpyAsync(read_, word_, sizeof *read_, cudaMemcpyDefault, stream_)); !r) {
    return r;
  }
  if (Result<> r = check("reading a doorbell", cudaStreamSynchronize(stream_)); !r) return r;
  heard_ns_ = wicprof::now_ns();
  return wicprof::ok();
}

Result<std::uint32_t> CudaDoorbell::wait(std::uint32_t seen) {
  const CurrentContext current(context_);
  // A release may have written the word late, over the rings of kernels: from then on they count from what it wrote.
  const bool released = released_.exchange(false);
  if (released) {
    if (Result<> r = check("reading a doorbell", cudaStreamSynchronize(releasing_stream_)); !r) return r.error();
  }
  // After a long pause the word may be 2^31 or more past `seen`, and would then look as if it were before `seen`.
  if (released || wicprof::now_ns() - heard_ns_ > wicprof::kSecond) {
    if (Result<> r = read_word(); !r) return r.error();
    // After a release also where the word is the same: it may have hidden a ring, so the caller looks for messages
    // again.
    if (released || *read_ != seen) return *read_;
  }
  // Either this thread sees released_ and closed_, or release() and close() see armed_: all are sequentially
  // consistent.
  armed_ = seen;
  if (closed_ || released_) return seen;
  if (Result<> r = stream_wait_at_least(stream_, word_, seen + 1); !r) return r.error();
  if (Result<> r = check("a copy", cudaMemcpyAsync(read_, word_, sizeof *read_, cudaMemcpyDefault, stream_)); !r) {
    return r.error();
  }
  if (Result<> r = check("recording an event", cudaEventRecord(woken_, stream_)); !r) return r.error();
  if (Result<> r = check("waiting for a doorbell", cudaEventSynchronize(woken_)); !r) return r.error();
  heard_ns_ = wicprof::now_ns();
  return *read_;
}

Result<> CudaDoorbell::move_past() {
  const CurrentContext current(context_);
  // A kernel may ring at the same time: either value is past `seen`.
  return stream_write(releasing_stream_, word_, armed_ + 1);
}

Result<> CudaDoorbell::release() {
  released_ = true;
  return move_past();
}

Result<> CudaDoorbell::close() {
  closed_ = true;
  return move_past();
}

}  // namespace wic::cuda
