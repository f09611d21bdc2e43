// One interface to both kinds of device: a GPU through CUDA, and the CPU device (simt).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wic/span.h"
#include "wic/thread.h"
#include "wic/types.h"

namespace wic {

struct DeviceProperties {
  DeviceId id = 0;
  DeviceKind kind = DeviceKind::simt;
  std::string name;
  std::uint32_t sm_count = 0;
  std::uint64_t memory_bytes = 0;
  std::uint16_t compute_major = 0;
  std::uint16_t compute_minor = 0;
  bool host_native_atomics = false;
  std::string uuid;  ///< identifies the device across processes
  // What limits a kernel's occupancy; 0 = does not apply to this kind of device.
  std::uint32_t max_threads_per_sm = 0;
  std::uint32_t max_blocks_per_sm = 0;
  std::uint32_t registers_per_sm = 0;
  std::uint32_t shared_bytes_per_sm = 0;
  std::uint32_t reserved_shared_bytes_per_block = 0;
  std::uint32_t clock_khz = 0;
  /// Other processes may run kernels beside this one's at any time (CUDA's Multi-Process Service).
  bool shared_by_mps = false;
};

/// What kernels of one device can do with the memory of another.
struct PeerAccess {
  bool reach = false;    ///< read and write it
  bool atomics = false;  ///< change words that other devices change at the same time
};

enum class Memory {
  device,       ///< the device's own; the host reaches it only by copies
  pinned_host,  ///< host memory that the device reads and writes in place
  managed,      ///< moves between host and devices, page by page, on access
};

struct LaunchShape {
  std::uint32_t blocks = 1;
  std::uint32_t threads = 32;  ///< per block
  std::uint32_t shared_bytes = 0;
  /// The blocks wait for each other: the launch is refused unless all fit the device at once.
  bool co_resident = false;
  /// Starts before the kernel launched before it in the stream has ended: as soon as each block of that kernel has
  /// ended or called Thread::release_dependents() (CUDA: programmatic dependent launch). Other work before it has
  /// ended.
  bool dependent = false;
};

/// A kernel with its arguments, for either kind of device (wic/launch.h makes one).
struct KernelRef {
  const void* gpu_entry;  ///< nullptr where the source was not compiled by nvcc
  void (*cpu_entry)(const void* kernel, const Thread& thread);
  const void* kernel;  ///< the function object; copied by the launch
  std::size_t size;
};

/// One word for start_live_write().
struct LiveWord {
  std::uint32_t* to;
  std::uint32_t value;
};

/// One reading of the device clock and the host clock at the same moment: see protocol/events/clock.h.
struct ClockReading {
  std::uint64_t device_ns;
  TimeNs host_ns;
  std::uint32_t error_ns;
};

/// A point in a stream's work.
class Event {
 public:
  virtual ~Event() = default;
  /// Nanoseconds of device time from `start` to this event; both recorded and reached. Host thread.
  virtual Result<double> ns_since(const Event& start) const = 0;
};

/// Executes its work in order. One host thread at a time; only synchronize() waits.
class Stream {
 public:
  virtual ~Stream() = default;
  /// Errors: a shape that the device does not support; with co_resident, more blocks than the device holds.
  virtual Result<> launch(const LaunchShape& shape, const KernelRef& kernel) = 0;
  /// Between any two of: device memory, pinned host memory, peer memory.
  virtual Result<> copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Writes a word of device, peer or pinned host memory. A thread that sees the value also sees all earlier writes of
  /// the stream.
  virtual Result<> write(std::uint32_t* to, std::uint32_t value) = 0;
  virtual Result<> record(Event& event) = 0;
  /// Waits until all work so far is done. Error: a kernel failed.
  virtual Result<> synchronize() = 0;
};

/// A word on which one host thread sleeps, without using a core, until a kernel rings it (Thread::ring).
class Doorbell {
 public:
  virtual ~Doorbell() = default;  ///< close() was called, and no thread waits
  /// For Thread::ring. Counts the rings, and may wrap around.
  virtual std::uint32_t* word() const = 0;
  /// Sleeps until the word differs from `seen` (0 at first), or the bell is released or closed; returns the word, which
  /// a release may leave at any value. One thread.
  virtual Result<std::uint32_t> wait(std::uint32_t seen) = 0;
  /// Ends the wait in progress, or the next one, as a ring would: nothing of the wait is left in the device, where it
  /// would hold up whoever waits for all of the device's work. Any thread.
  virtual Result<> release() = 0;
  /// Ends the wait in progress; later waits return at once. Any thread.
  virtual Result<> close() = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  const DeviceProperties& properties() const { return properties_; }

  /// Zeroed memory, 256-byte aligned.
  virtual Result<void*> allocate(std::size_t bytes, Memory where) = 0;
  virtual void release(void* memory, Memory where) = 0;
  virtual Result<std::unique_ptr<Stream>> make_stream() = 0;
  /// A stream of the program's own, a cudaStream_t of this GPU, which must outlive the result; ending the result leaves
  /// the stream as it is. Error: the CPU device, which has no such streams.
  virtual Result<std::unique_ptr<Stream>> use_stream(void* stream) = 0;
  virtual Result<std::unique_ptr<Event>> make_event() = 0;
  /// Error: the device cannot wake a host thread.
  virtual Result<std::unique_ptr<Doorbell>> make_doorbell() = 0;

  /// What kernels of this device can do with the memory of `other`: everything with their own. Any thread.
  virtual PeerAccess peer_access(const Device& other) const = 0;

  /// How many blocks of that shape the device holds at once; no more may wait for each other. Also loads the kernel, so
  /// that its first launch does not wait for the device.
  virtual Result<std::uint32_t> resident_blocks(const LaunchShape& shape, const KernelRef& kernel) = 0;

  /// Starts writing words of device memory, in order, while kernels read them. Waits only for an earlier write that is
  /// not done. One thread at a time calls this and the next two functions.
  virtual Result<> start_live_write(Span<const LiveWord> words) = 0;
  virtual Result<bool> live_write_done() = 0;
  /// Reads device memory while kernels run.
  virtual Result<> read_live(std::uint32_t* to, const std::uint32_t* from, std::size_t words) = 0;

  /// Whether a kernel of the device has failed: no kernel there will ever signal again. Any thread.
  virtual bool failed() = 0;

  /// Requests a clock reading; take_clock_reading() returns it once the device has answered. Neither waits. One thread
  /// at a time.
  virtual void request_clock_reading() = 0;
  virtual std::optional<ClockReading> take_clock_reading() = 0;

 protected:
  DeviceProperties properties_;
};

/// A kernel with the shape of its launch.
struct PlannedLaunch {
  LaunchShape shape;
  KernelRef kernel;
};
/// Checks that the device holds all blocks of all these kernels at once, as kernels that wait for each other need. Does
/// not count other running kernels. The error names the blocks that do not fit.
Result<> check_co_resident(Device& device, Span<const PlannedLaunch> launches);

/// Opens the devices that `spec` names: "simt:N" for N CPU devices, or "cuda:0", "cuda:0,cuda:1" and so on.
/// Errors: unknown kind, no such GPU, built without CUDA.
Result<std::vector<std::unique_ptr<Device>>> open_devices(std::string_view spec);

/// Owns memory of a device, which must outlive it. Move-only. Kernels and copies that use the memory have ended before
/// the array ends: releasing memory does not wait for them.
template <class T>
class Array {
 public:
  Array() = default;
  static Result<Array> make(Device& device, std::size_t count, Memory where) {
    Result<void*> memory = device.allocate(count * sizeof(T), where);
    if (!memory) return memory.error();
    Array array;
    array.device_ = &device;
    array.data_ = static_cast<T*>(*memory);
    array.size_ = count;
    array.where_ = where;
    return Result<Array>(std::move(array));
  }
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Array() {
    if (data_ != nullptr) device_->release(data_, where_);
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  T& operator[](std::size_t i) const { return data_[i]; }  ///< pinned host and managed memory only

 private:
  void swap(Array& other) {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(where_, other.where_);
  }
  Device* device_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
  Memory where_ = Memory::device;
};

}  // namespace wic
