// One interface to both kinds of device: a GPU through CUDA, and the CPU device (simt).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
  std::string uuid;  ///< tells it apart from the devices of other processes
  // What a kernel's occupancy depends on; 0 = it has no meaning here.
  std::uint32_t max_threads_per_sm = 0;
  std::uint32_t max_blocks_per_sm = 0;
  std::uint32_t registers_per_sm = 0;
  std::uint32_t shared_bytes_per_sm = 0;
  std::uint32_t reserved_shared_bytes_per_block = 0;
  std::uint32_t clock_khz = 0;
  /// CUDA loads kernels at their first launch, which can wait for the kernels that run.
  bool lazy_loading = false;
};

/// What kernels of one device can do with the memory of another.
struct PeerAccess {
  bool reach = false;    ///< read and write it
  bool atomics = false;  ///< change words of it that others change too
};

enum class Memory {
  device,       ///< the device's own; the host reaches it by copies only
  pinned_host,  ///< host memory that the device reads and writes in place
  managed,      ///< moves between host and devices page by page, to whoever touches it
};

struct LaunchShape {
  std::uint32_t blocks = 1;
  std::uint32_t threads = 32;  ///< a block
  std::uint32_t shared_bytes = 0;
  /// The blocks wait for each other, so all must be on the device at once: a launch that cannot be is refused.
  bool co_resident = false;
};

/// A kernel with its arguments, for either kind of device (wic/launch.h makes one).
struct KernelRef {
  const void* gpu_entry;  ///< nullptr where the source was not compiled by nvcc
  void (*cpu_entry)(const void* kernel, const Thread& thread);
  const void* kernel;  ///< the function object; copied by the launch
  std::size_t size;
};

/// A word to be written while kernels run.
struct LiveWord {
  std::uint32_t* to;
  std::uint32_t value;
};

/// One reading of the device clock beside the host's: see protocol/events/clock.h.
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

/// Work in order. Calls come from one host thread at a time; none of them waits, but for synchronize().
class Stream {
 public:
  virtual ~Stream() = default;
  /// Errors: a shape that the device does not take; co_resident, and more blocks than it holds.
  virtual Result<> launch(const LaunchShape& shape, const KernelRef& kernel) = 0;
  /// Between any two of: device memory, pinned host memory, peer memory.
  virtual Result<> copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Writes a word of device, peer or pinned host memory. Whoever sees it sees what the stream's work before it wrote.
  virtual Result<> write(std::uint32_t* to, std::uint32_t value) = 0;
  virtual Result<> record(Event& event) = 0;
  /// Until all work so far is done. The error of a failed kernel comes out here.
  virtual Result<> synchronize() = 0;
};

/// A word that kernels ring (Thread::ring) and on which one host thread sleeps, without using a core.
class Doorbell {
 public:
  virtual ~Doorbell() = default;  ///< closed, and nobody waits any more
  /// For Thread::ring; counts how often it was rung, and may wrap.
  virtual std::uint32_t* word() const = 0;
  /// Sleeps until the word is not `seen` (0 at first) or the bell is closed; returns what it is then. One thread.
  virtual Result<std::uint32_t> wait(std::uint32_t seen) = 0;
  /// Ends the wait in progress and all later ones at once. Any thread.
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
  virtual Result<std::unique_ptr<Event>> make_event() = 0;
  /// Error: the device cannot wake a host thread.
  virtual Result<std::unique_ptr<Doorbell>> make_doorbell() = 0;

  /// What kernels of this device can do with the memory of `other`; everything if it is their own. Any thread.
  virtual PeerAccess peer_access(const Device& other) const = 0;

  /// How many blocks of that shape the device holds at once: more than that must not wait for each other. Loads the
  /// kernel, so that no later launch has to wait for the device with that.
  virtual Result<std::uint32_t> resident_blocks(const LaunchShape& shape, const KernelRef& kernel) = 0;

  /// Starts to write words of device memory that running kernels read, in order, and does not wait for the device (but
  /// for an earlier write that is not done). One thread at a time, as for the next two.
  virtual Result<> start_live_write(std::span<const LiveWord> words) = 0;
  virtual Result<bool> live_write_done() = 0;
  /// Reads device memory beside running kernels.
  virtual Result<> read_live(std::uint32_t* to, const std::uint32_t* from, std::size_t words) = 0;

  /// Whether a kernel of the device has failed, so that nothing on it will ever signal. Any thread.
  virtual bool failed() = 0;

  /// Asks for a clock reading, which take_clock_reading() yields once the device has answered; neither waits for the
  /// device. One thread at a time.
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
/// Whether the device holds all blocks of all those kernels at once, which kernels that wait for each other need. Other
/// kernels that run there are not counted. Errors say how many blocks are too many.
Result<> check_co_resident(Device& device, std::span<const PlannedLaunch> launches);

/// Opens what `spec` names: "simt:N" for N devices of the CPU kind, or "cuda:0", "cuda:0,cuda:1" and so on.
/// Errors: unknown kind, no such GPU, built without CUDA.
Result<std::vector<std::unique_ptr<Device>>> open_devices(std::string_view spec);

/// Memory of a device for as long as this lives. Move-only.
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
