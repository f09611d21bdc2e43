// Readings of a device's clock for the waits of patched loops: a kernel of ours answers the host.
#pragma once

#include <cstdint>
#include <optional>

#include "collector/rewrite/rewrite_driver.h"
#include "protocol/events/clock.h"
#include "protocol/time.h"

namespace wicprof::collector {

/// What the kernel and the host share, in pinned memory.
struct ClockWords {
  std::uint32_t started;
  std::uint32_t ping;  ///< written by the host
  std::uint32_t pong;
  std::uint32_t reserved;
  std::uint64_t device_ns;
};

/// One context, which is current where calls of the driver are made: in open() and request(). One thread at a time. A
/// request after the context's end fails; take() may not be called any more.
class DeviceClock {
 public:
  DeviceClock(const RewriteDriver& driver, DeviceId device) : driver_(driver), device_(device) {}

  /// Loads the kernel. What it needs stays with the context. False: there will be no readings.
  bool open(CUstream stream);
  /// Starts the kernel unless it still waits for its place on the device, and reads the clock at once if it has one: a
  /// thread of the program that waits for its device waits for the kernel, too.
  void request();
  /// The reading, if the kernel runs by now; waits up to `patience` for its start and 2 ms per answer.
  std::optional<ClockEvent> take(TimeNs patience);

 private:
  std::optional<ClockEvent> answer(TimeNs patience);
  std::optional<ClockEvent> exchange();

  const RewriteDriver& driver_;
  DeviceId device_;
  CUstream stream_ = nullptr;
  CUkernel kernel_ = nullptr;
  ClockWords* words_ = nullptr;
  CUdeviceptr address_ = 0;
  std::uint32_t next_ping_ = 1;
  bool requested_ = false;
  std::optional<ClockEvent> taken_;  // by request()
};

}  // namespace wicprof::collector
