// A doorbell in host memory for host threads and the CPU device; the waiting thread sleeps on a futex.
#pragma once

#include <atomic>
#include <cstdint>

#include "wic/device.h"

namespace wic {

class HostDoorbell final : public Doorbell {
 public:
  std::uint32_t* word() const override { return &word_; }
  Result<std::uint32_t> wait(std::uint32_t seen) override;
  Result<> release() override;
  Result<> close() override;
  /// Rings the bell from the host. Any thread.
  void ring();

 private:
  alignas(128) mutable std::uint32_t word_ = 0;
  std::atomic<bool> closed_{false};
};

/// For devices that cannot wake a host thread: nobody rings, the waiting thread looks again after a nap.
class NappingDoorbell final : public Doorbell {
 public:
  std::uint32_t* word() const override { return nullptr; }
  Result<std::uint32_t> wait(std::uint32_t seen) override;
  Result<> release() override { return wicprof::ok(); }
  Result<> close() override { return wicprof::ok(); }
};

}  // namespace wic
