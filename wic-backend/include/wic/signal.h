// Releases the waiters of a word from inside a kernel.
#pragma once

#include "wic/record.h"

namespace wic {

/// Call from one thread. Publishes what that thread wrote before, and what its block wrote before a sync_block() that
/// came before. The word may lie in device, peer or pinned host memory. `payload`: what becomes readable, for the
/// trace.
WIC_DEVICE inline void signal(const Thread& thread, const DeviceView& view, SiteId site, std::uint32_t iteration,
                              std::uint32_t* word, std::uint32_t value, const Payload& payload = {}) {
  const std::uint64_t at = thread.clock_ns();
  thread.store_release(word, value);
  write_record(thread, view, signal_record(site, iteration, at, value, word_tag(word), payload));
}

}  // namespace wic
