#include "cuda/cuda_device.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "cuda/clock_exchange.h"
#include "cuda/cuda_doorbell.h"
#include "cuda/cuda_error.h"
#include "cuda/current_context.h"
#include "cuda/driver_function.h"
#include "cuda/end_stream.h"
#include "cuda/kept_memory.h"
#include "cuda/load_kernels.h"
#include "cuda/stream_memory.h"
#include "protocol/uuid.h"
#include "src/device/own_thread.h"

namespace wic::cuda {

using wicprof::ok;

namespace {

// Lets the calling thread's calls pass while a thread of the program captures a stream: without this, a call that might
// disturb a capture ends it with an error.
void relax_stream_capture() {
  static const auto exchange =
      driver_function<PFN_cuThreadExchangeStreamCaptureMode_v10010>("cuThreadExchangeStreamCaptureMode");
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  if (exchange != nullptr) exchange(&mode);
}

// A kernel may use more than 48 KiB of dynamic shared memory per block only after this.
Result<> allow_shared_memory(const LaunchShape& shape, const KernelRef& kernel) {
  if (shape.shared_bytes <= 48 * 1024) return ok();
  const std::string what = "asking for " + std::to_string(shape.shared_bytes) + " bytes of shared memory per block";
  return check(what.c_str(), cudaFuncSetAttribute(kernel.gpu_entry, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                  static_cast<int>(shape.shared_bytes)));
}

class CudaEvent final : public Event {
 public:
  CudaEvent(CUcontext context, cudaEvent_t event) : context_(context), event_(event) {}
  ~CudaEvent() override {
    const CurrentContext current(context_);
    cudaEventDestroy(event_);
  }
  cudaEvent_t get() const { return event_; }

  Result<double> ns_since(const Event& start) const override {
    const CurrentContext current(context_);
    float ms = 0;
    const cudaError_t status = cudaEventElapsedTime(&ms, static_cast<const CudaEvent&>(start).event_, event_);
    if (status != cudaSuccess) return cuda_error("reading an event", status);
    return double{ms} * 1e6;
  }

 private:
  CUcontext context_;
  cudaEvent_t event_;
};

class CudaStream final : public Stream {
 public:
  CudaStream(Device& device, CUcontext context, cudaStream_t stream, bool owned)
      : device_(device), context_(context), stream_(stream), owned_(owned) {}
  ~CudaStream() override {
    if (!owned_) return;
    const CurrentContext current(context_);
    cudaStreamDestroy(stream_);
  }

  Result<> launch(const LaunchShape& shape, const KernelRef& kernel) override {
    if (kernel.gpu_entry == nullptr) {
      return wicprof::unavailable("this kernel was not compiled for GPUs; build its source with nvcc");
    }
    const CurrentContext current(context_);
    if (shape.co_resident) {
      if (Result<> fits = wic::check_co_resident(device_, std::array{PlannedLaunch{shape, kernel}}); !fits) return fits;
    }
    if (Result<> allowed = allow_shared_memory(shape, kernel); !allowed) return allowed;
    void* arguments[] = {const_cast<void*>(kernel.kernel)};
    cudaLaunchAttribute dependent{};
    dependent.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    dependent.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(shape.blocks);
    config.blockDim = dim3(shape.threads);
    config.dynamicSmemBytes = shape.shared_bytes;
    config.stream = stream_;
    config.attrs = &dependent;
    config.numAttrs = shape.dependent ? 1 : 0;
    return check("launching a kernel", cudaLaunchKernelExC(&config, kernel.gpu_entry, arguments));
  }
  Result<> copy(void* to, const void* from, std::size_t bytes) override {
    const CurrentContext current(context_);
    return check("a copy", cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_));
  }
  Result<> write(std::uint32_t* to, std::uint32_t value) override {
    const CurrentContext current(context_);
    return stream_write(stream_, to, value);
  }
  Result<> record(Event& event) override {
    const CurrentContext current(context_);
    return check("recording an event", cudaEventRecord(static_cast<CudaEvent&>(event).get(), stream_));
  }
  Result<> synchronize() override {
    const CurrentContext current(context_);
    return check("waiting for a stream", cudaStreamSynchronize(stream_));
  }

 private:
  Device& device_;
  CUcontext context_;
  cudaStream_t stream_;
  const bool owned_;
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int ordinal) : ordinal_(ordinal) {}
  ~CudaDevice() override {
    const CurrentContext current(context_);
    clock_.close();
    const bool ended = end_stream(live_stream_);
    release_kept(staging_, !ended);
  }

  Result<> open() {
    Result<CUcontext> context = program_context(ordinal_);
    if (!context) return context.error();
    context_ = *context;
    const CurrentContext current(context_);
    cudaDeviceProp info{};
    if (const cudaError_t s = cudaGetDeviceProperties(&info, ordinal_); s != cudaSuccess) {
      return cuda_error("reading the GPU's properties", s);
    }
    int native_atomics = 0;
    cudaDeviceGetAttribute(&native_atomics, cudaDevAttrHostNativeAtomicSupported, ordinal_);
    properties_.id = wicprof::cuda_device(ordinal_);
    properties_.kind = wicprof::DeviceKind::cuda;
    properties_.name = info.name;
    properties_.sm_count = attribute(cudaDevAttrMultiProcessorCount);  // under MPS, those that this process may use
    properties_.shared_by_mps = attribute(cudaDevAttrMpsEnabled) != 0;
    properties_.memory_bytes = info.totalGlobalMem;
    properties_.compute_major = static_cast<std::uint16_t>(info.major);
    properties_.compute_minor = static_cast<std::uint16_t>(info.minor);
    properties_.host_native_atomics = native_atomics != 0;
    properties_.uuid = wicprof::uuid_text(&info.uuid);
    properties_.max_threads_per_sm = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
    properties_.max_blocks_per_sm = attribute(cudaDevAttrMaxBlocksPerMultiprocessor);
    properties_.registers_per_sm = attribute(cudaDevAttrMaxRegistersPerMultiprocessor);
    properties_.shared_bytes_per_sm = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    properties_.reserved_shared_bytes_per_block = attribute(cudaDevAttrReservedSharedMemoryPerBlock);
    properties_.clock_khz = attribute(cudaDevAttrClockRate);
    // Created early: while kernels wait for the host, no call may need the context's lock.
    if (const cudaError_t s = cudaStreamCreateWithFlags(&live_stream_, cudaStreamNonBlocking); s != cudaSuccess) {
      return cuda_error("making a stream", s);
    }
    void* staging = nullptr;
    if (const cudaError_t s = allocate_kept(&staging, kStagingWords * sizeof(std::uint32_t), Memory::pinned_host);
        s != cudaSuccess) {
      return cuda_error("allocating pinned host memory", s);
    }
    staging_ = static_cast<std::uint32_t*>(staging);
    wic::prepare_own_threads(relax_stream_capture);
    load_kernels();
    return clock_.open();
  }

  Result<void*> allocate(std::size_t bytes, Memory where) override {
    const CurrentContext current(context_);
    void* memory = nullptr;
    const cudaError_t status = allocate_kept(&memory, std::max<std::size_t>(bytes, 1), where);
    if (status != cudaSuccess) return cuda_error("allocating memory", status);
    if (where != Memory::device) {
      std::memset(memory, 0, bytes);
    } else {
      // On our own stream, synchronised: plain cudaMemset returns early, and kernels on non-blocking streams do not
      // wait for it.
      cudaError_t cleared = cudaMemsetAsync(memory, 0, bytes, live_stream_);
      if (cleared == cudaSuccess) cleared = cudaStreamSynchronize(live_stream_);
      if (cleared != cudaSuccess) {
        release_kept(memory);
        return cuda_error("clearing memory", cleared);
      }
    }
    return memory;
  }

  void release(void* memory, Memory) override {
    const CurrentContext current(context_);
    release_kept(memory, cudaStreamQuery(live_stream_) == cudaErrorNotReady);
  }

  Result<std::unique_ptr<Stream>> make_stream() override {
    const CurrentContext current(context_);
    cudaStream_t stream = nullptr;
    const cudaError_t status = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (status != cudaSuccess) return cuda_error("making a stream", status);
    return std::unique_ptr<Stream>(std::make_unique<CudaStream>(*this, context_, stream, true));
  }

  Result<std::unique_ptr<Stream>> use_stream(void* stream) override {
    return std::unique_ptr<Stream>(
        std::make_unique<CudaStream>(*this, context_, static_cast<cudaStream_t>(stream), false));
  }

  Result<std::unique_ptr<Event>> make_event() override {
    const CurrentContext current(context_);
    cudaEvent_t event = nullptr;
    if (const cudaError_t s = cudaEventCreate(&event); s != cudaSuccess) return cuda_error("making an event", s);
    return std::unique_ptr<Event>(std::make_unique<CudaEvent>(context_, event));
  }

  Result<std::unique_ptr<Doorbell>> make_doorbell() override {
    const CurrentContext current(context_);
    return CudaDoorbell::make(context_);
  }

  // enable_peer_access() has turned on all possible access.
  PeerAccess peer_access(const Device& other) const override {
    const auto* const peer = dynamic_cast<const CudaDevice*>(&other);
    if (peer == nullptr) return {};
    if (peer->ordinal_ == ordinal_) return {true, true};
    int reach = 0, atomics = 0;
    if (cudaDeviceCanAccessPeer(&reach, ordinal_, peer->ordinal_) != cudaSuccess) return {};
    if (cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, ordinal_, peer->ordinal_) !=
        cudaSuccess) {
      atomics = 0;
    }
    return {reach != 0, reach != 0 && atomics != 0};
  }

  Result<std::uint32_t> resident_blocks(const LaunchShape& shape, const KernelRef& kernel) override {
    if (kernel.gpu_entry == nullptr) {
      return wicprof::unavailable("this kernel was not compiled for GPUs; build its source with nvcc");
    }
    const CurrentContext current(context_);
    if (Result<> allowed = allow_shared_memory(shape, kernel); !allowed) return allowed.error();
    int blocks_per_sm = 0;
    const cudaError_t status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks_per_sm, kernel.gpu_entry, static_cast<int>(shape.threads), shape.shared_bytes);
    if (status != cudaSuccess) return cuda_error("asking for a kernel's occupancy", status);
    return static_cast<std::uint32_t>(blocks_per_sm) * properties_.sm_count;
  }

  Result<> start_live_write(Span<const LiveWord> words) override {
    const CurrentContext current(context_);
    // An earlier write that arrives late would undo a steward's later copy.
    if (const cudaError_t s = cudaStreamSynchronize(live_stream_); s != cudaSuccess) {
      return cuda_error("writing beside running kernels", s);
    }
    for (const LiveWord& word : words) {
      // From pageable memory: the value is taken before the call returns.
      const cudaError_t status =
          cudaMemcpyAsync(word.to, &word.value, sizeof word.value, cudaMemcpyHostToDevice, live_stream_);
      if (status != cudaSuccess) return cuda_error("writing beside running kernels", status);
    }
    return ok();
  }

  Result<bool> live_write_done() override {
    const CurrentContext current(context_);
    const cudaError_t status = cudaStreamQuery(live_stream_);
    if (status == cudaErrorNotReady) return false;
    if (status != cudaSuccess) return cuda_error("writing beside running kernels", status);
    return true;
  }

  Result<> read_live(std::uint32_t* to, const std::uint32_t* from, std::size_t words) override {
    const CurrentContext current(context_);
    for (std::size_t done = 0; done < words;) {
      const std::size_t part = std::min(words - done, kStagingWords);
      const cudaError_t status =
          cudaMemcpyAsync(staging_, from + done, part * sizeof(std::uint32_t), cudaMemcpyDefault, live_stream_);
      if (status != cudaSuccess) return cuda_error("reading beside running kernels", status);
      if (Result<> copied = check("reading beside running kernels", cudaStreamSynchronize(live_stream_)); !copied) {
        return copied;
      }
      std::memcpy(to + done, staging_, part * sizeof(std::uint32_t));
      done += part;
    }
    return ok();
  }

  bool failed() override {
    const CurrentContext current(context_);
    const cudaError_t status = cudaStreamQuery(live_stream_);
    return status != cudaSuccess && status != cudaErrorNotReady;
  }

  void request_clock_reading() override {
    const CurrentContext current(context_);
    clock_.request();
  }
  std::optional<ClockReading> take_clock_reading() override {
    const CurrentContext current(context_);
    return clock_.take();
  }

 private:
  // 0 if the driver does not know.
  std::uint32_t attribute(cudaDeviceAttr which) const {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, which, ordinal_) != cudaSuccess) return 0;
    return static_cast<std::uint32_t>(std::max(value, 0));
  }

  static constexpr std::size_t kStagingWords = 8 * 1024;

  const int ordinal_;
  CUcontext context_ = nullptr;
  cudaStream_t live_stream_ = nullptr;
  std::uint32_t* staging_ = nullptr;
  ClockExchange clock_;
};

}  // namespace

Result<std::unique_ptr<Device>> open_cuda_device(int ordinal) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    return wicprof::unavailable(std::string("no GPU can be used here (") + cudaGetErrorString(status) +
                                "); check the driver with `wic-prof doctor`, or use --devices simt:1");
  }
  if (ordinal < 0 || ordinal >= count) {
    return wicprof::unavailable("there is no GPU cuda:" + std::to_string(ordinal) + "; this machine has " +
                                std::to_string(count));
  }
  auto device = std::make_unique<CudaDevice>(ordinal);
  if (Result<> opened = device->open(); !opened) return opened.error();
  return std::unique_ptr<Device>(std::move(device));
}

void enable_peer_access(const std::vector<int>& ordinals) {
  for (const int from : ordinals) {
    for (const int to : ordinals) {
      int can = 0;
      if (from == to || cudaDeviceCanAccessPeer(&can, from, to) != cudaSuccess || can == 0) continue;
      const Result<CUcontext> context = program_context(from);
      if (!context) continue;
      const CurrentContext current(*context);
      if (cudaDeviceEnablePeerAccess(to, 0) == cudaErrorPeerAccessAlreadyEnabled) cudaGetLastError();
    }
  }
}

}  // namespace wic::cuda
