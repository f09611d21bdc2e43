// Copies between pageable host memory and device memory through a pinned staging buffer.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "wic/device.h"

namespace sample {

inline constexpr std::size_t kTransferBytes = std::size_t{16} << 20;  ///< size limit of the staging buffer

/// Copies `from` to `to`, starting at element `first`. Waits for the stream. Host thread.
template <class T>
wic::Result<> upload(wic::Device& device, wic::Stream& stream, const wic::Array<T>& to, std::span<const T> from,
                     std::size_t first = 0) {
  const std::size_t chunk = std::max<std::size_t>(1, std::min(from.size(), kTransferBytes / sizeof(T)));
  auto pinned = wic::Array<T>::make(device, chunk, wic::Memory::pinned_host);
  if (!pinned) return pinned.error();
  for (std::size_t done = 0; done < from.size(); done += chunk) {
    const std::size_t count = std::min(chunk, from.size() - done);
    std::memcpy(pinned->data(), from.data() + done, count * sizeof(T));
    if (auto r = stream.copy(to.data() + first + done, pinned->data(), count * sizeof(T)); !r) return r;
    if (auto r = stream.synchronize(); !r) return r;
  }
  return wic::ok();
}

/// Copies `count` elements of `from`, starting at element `first`. Waits for the stream. Host thread.
template <class T>
wic::Result<std::vector<T>> download(wic::Device& device, wic::Stream& stream, const wic::Array<T>& from,
                                     std::size_t first, std::size_t count) {
  const std::size_t chunk = std::max<std::size_t>(1, std::min(count, kTransferBytes / sizeof(T)));
  auto pinned = wic::Array<T>::make(device, chunk, wic::Memory::pinned_host);
  if (!pinned) return pinned.error();
  std::vector<T> to(count);
  for (std::size_t done = 0; done < count; done += chunk) {
    const std::size_t now = std::min(chunk, count - done);
    if (auto r = stream.copy(pinned->data(), from.data() + first + done, now * sizeof(T)); !r) return r.error();
    if (auto r = stream.synchronize(); !r) return r.error();
    std::memcpy(to.data() + done, pinned->data(), now * sizeof(T));
  }
  return wic::Result<std::vector<T>>(std::move(to));
}

}  // namespace sample
