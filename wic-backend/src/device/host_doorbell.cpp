#include "src/device/host_doorbell.h"

#include <chrono>
#include <thread>

namespace wic {

namespace {
constexpr auto kNap = std::chrono::microseconds(50);
}

Result<std::uint32_t> HostDoorbell::wait(std::uint32_t seen) {
  const std::atomic_ref word(word_);
  if (!closed_) word.wait(seen, std::memory_order_acquire);
  return word.load(std::memory_order_acquire);
}

Result<> HostDoorbell::release() {
  ring();
  return wicprof::ok();
}

Result<> HostDoorbell::close() {
  closed_ = true;
  ring();
  return wicprof::ok();
}

void HostDoorbell::ring() {
  const std::atomic_ref word(word_);
  word.fetch_add(1, std::memory_order_acq_rel);
  word.notify_all();
}

Result<std::uint32_t> NappingDoorbell::wait(std::uint32_t seen) {
  std::this_thread::sleep_for(kNap);
  return seen;
}

}  // namespace wic
