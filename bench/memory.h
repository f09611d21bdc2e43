// Helpers: open a runtime without a trace, and allocate device memory.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "wic/runtime.h"

namespace wicprof::bench {

inline constexpr std::size_t kLine = 32;  ///< 32-bit words of a 128-byte line

/// Keeps records only for `auto`. Errors: those of wic::Runtime::create().
inline Result<> open(std::unique_ptr<wic::Runtime>& to, const std::string& devices) {
  wic::RuntimeOptions options;
  options.devices = devices;
  options.record = false;
  auto created = wic::Runtime::create(options);
  if (!created) return created.error();
  to = *std::move(created);
  return ok();
}

template <class T>
Result<> allocate(wic::Array<T>& to, wic::Device& device, std::size_t count, wic::Memory where) {
  auto made = wic::Array<T>::make(device, count, where);
  if (!made) return made.error();
  to = *std::move(made);
  return ok();
}

/// Device memory with a mirror in pinned host memory, which operator[] accesses.
template <class T>
class Mirrored {
 public:
  Result<> allocate(wic::Device& device, std::size_t count) {
    if (auto r = bench::allocate(device_, device, count, wic::Memory::device); !r) return r;
    return bench::allocate(host_, device, count, wic::Memory::pinned_host);
  }
  T* device() const { return device_.data(); }
  T& operator[](std::size_t i) const { return host_[i]; }
  std::size_t size() const { return host_.size(); }  ///< 0 before allocate()

  /// Queues the copy to the host, or to the device.
  Result<> fetch(wic::Stream& stream) const { return stream.copy(host_.data(), device_.data(), host_.bytes()); }
  Result<> send(wic::Stream& stream) const { return stream.copy(device_.data(), host_.data(), host_.bytes()); }

 private:
  wic::Array<T> device_, host_;
};

}  // namespace wicprof::bench
