// What a device's kernels could not wait for.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "wic/device.h"
#include "wic/wait.h"

namespace sample {

/// In device memory, zeroed at first. The first wait that is not satisfied describes itself.
struct Trouble {
  std::uint32_t missed;     ///< waits that were not satisfied
  std::uint32_t iteration;  ///< of the first of them
  std::uint32_t wait;       ///< which of the program's waits it was; the program's own number
  std::uint32_t status;     ///< a wicprof::WaitStatus

  /// Whether a wait was not satisfied before that iteration, with which the kernel begins: then it should do nothing, so that the
  /// program comes to a stop. All threads get the same answer, since only kernels that are over count. Iterations from 1 on.
  WIC_DEVICE bool came_before(const wic::Thread& thread, std::uint32_t first_iteration) const {
    const std::uint32_t first = thread.load(&iteration);
    return first != 0 && first < first_iteration;
  }
  /// One thread of the group whose wait it was.
  WIC_DEVICE void note(const wic::Thread& thread, std::uint32_t of_iteration, std::uint32_t which,
                       wicprof::WaitStatus how) {
    if (thread.fetch_add(&missed, 1) != 0) return;
    thread.store(&iteration, of_iteration);
    thread.store(&wait, which);
    thread.store(&status, static_cast<std::uint32_t>(how));
  }
};

/// A device's Trouble, and what the host has read of it.
class TroubleLog {
 public:
  static wicprof::Result<TroubleLog> make(wic::Device& device) {
    TroubleLog log;
    auto there = wic::Array<Trouble>::make(device, 1, wic::Memory::device);
    if (!there) return there.error();
    auto here = wic::Array<Trouble>::make(device, 1, wic::Memory::pinned_host);
    if (!here) return here.error();
    log.there_ = *std::move(there);
    log.here_ = *std::move(here);
    log.device_name_ = device.properties().name;
    return wicprof::Result<TroubleLog>(std::move(log));
  }

  /// For kernels.
  Trouble* on_device() const { return there_.data(); }
  /// Queues the reading behind the stream's work so far.
  wicprof::Result<> queue_read(wic::Stream& stream) const { return stream.copy(here_.data(), there_.data(), sizeof(Trouble)); }
  /// What was read, once the stream has been waited for.
  const Trouble& read() const { return here_[0]; }
  const std::string& device_name() const { return device_name_; }

 private:
  wic::Array<Trouble> there_, here_;
  std::string device_name_;
};

/// What the error of a step says. `what`: the wait in words.
inline wicprof::Error missed_wait(const std::string& device, const Trouble& trouble, const std::string& what) {
  const bool lost = trouble.status == static_cast<std::uint32_t>(wicprof::WaitStatus::producer_lost);
  return wicprof::failed(device + ": " + (lost ? "the other side is gone" : "the deadline passed") + " in iteration " +
                         std::to_string(trouble.iteration) + ", waiting " + what + " (" +
                         std::to_string(trouble.missed) + " waits in all)" +
                         (lost ? "" : "; raise --timeout if the machine is busy"));
}

}  // namespace sample
