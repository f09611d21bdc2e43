// The CPU device: runs the same kernel source on OS threads, one per SM. Not a performance model of a GPU.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "simt/sm.h"
#include "wic/device.h"

namespace wic::simt {

class SimtDevice : public Device {
 public:
  SimtDevice(int ordinal, std::uint32_t sm_count);
  ~SimtDevice() override;

  Result<void*> allocate(std::size_t bytes, Memory where) override;
  void release(void* memory, Memory where) override;
  Result<std::unique_ptr<Stream>> make_stream() override;
  Result<std::unique_ptr<Stream>> use_stream(void* stream) override;
  Result<std::unique_ptr<Event>> make_event() override;
  Result<std::unique_ptr<Doorbell>> make_doorbell() override;
  PeerAccess peer_access(const Device& other) const override;
  Result<std::uint32_t> resident_blocks(const LaunchShape& shape, const KernelRef& kernel) override;
  Result<> start_live_write(Span<const LiveWord> words) override;
  Result<bool> live_write_done() override { return true; }
  Result<> read_live(std::uint32_t* to, const std::uint32_t* from, std::size_t words) override;
  bool failed() override { return false; }
  void request_clock_reading() override { clock_wanted_ = true; }
  std::optional<ClockReading> take_clock_reading() override;

  /// Starts a kernel, which says itself when its blocks end. Any number of host threads.
  void start(std::shared_ptr<const LaunchedKernel> kernel);

 private:
  struct HostClock final : Clock {
    std::uint64_t now_ns() const override { return static_cast<std::uint64_t>(wicprof::now_ns()); }
  };
  struct FreeSpace {
    std::uint32_t threads = Sm::kMaxThreads;
    std::uint32_t blocks = Sm::kMaxBlocks;
  };
  struct Pending {
    std::shared_ptr<const LaunchedKernel> kernel;
    std::uint32_t next_block;
  };

  void dispatch();  // holding mutex_
  void block_ended(Sm& sm, const LaunchedKernel* kernel);

  HostClock clock_;
  bool clock_wanted_ = false;
  std::mutex mutex_;
  std::deque<Pending> pending_;  // in launch order
  std::vector<FreeSpace> free_;  // per SM
  std::vector<std::unique_ptr<Sm>> sms_;
};

}  // namespace wic::simt
