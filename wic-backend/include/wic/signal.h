// Releases the waiters of a word from inside a kernel.
#pragma once

#include "wic/record.h"

namespace wic {

/// One thread calls it. Publishes everything that the thread wrote before, and everything that its block wrote before
/// an earlier sync_block(). The word may be in device, peer or pinned host memory. `payload`: the data that becomes
/// readable, for the trace.
WIC_DEVICE inline void signal(const Thread& thread, const DeviceView& view, SiteId site, std::uint32_t iteration,
                              std::uint32_t* word, std::uint32_t value, const Payload& payload = {}) {
  const std::uint64_t at = signal_time(thread, view);
  thread.store_release(word, value);
  write_record(thread, view, signal_record(site, iteration, at, value, word_tag(word), payload));
}
/// The same for a counter of 64 bits. The trace has its lower half.
WIC_DEVICE inline void signal(const Thread& thread, const DeviceView& view, SiteId site, std::uint32_t iteration,
                              std::uint64_t* word, std::uint64_t value, const Payload& payload = {}) {
  const std::uint64_t at = signal_time(thread, view);
  thread.store_release(word, value);
  write_record(thread, view,
               signal_record(site, iteration, at, static_cast<std::uint32_t>(value),
                             word_tag(reinterpret_cast<const std::uint32_t*>(word)), payload));
}

}  // namespace wic
