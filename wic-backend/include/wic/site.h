// A wait site on one device: kernels wait and signal through it. Runtime::site() makes one.
//
//   struct Consume {
//     wic::Site site;
//     ...
//     WIC_DEVICE void operator()(const wic::Thread& thread) const {
//       if (!site.wait(thread, round, flag, wic::AtLeast{round})) return;  // the deadline passed
#pragma once

#include <type_traits>

#include "wic/signal.h"
#include "wic/types.h"
#include "wic/wait.h"

namespace wic {

/// Trivially copyable; kernels take it by value.
struct Site {
  DeviceView view;
  SiteId id = 0;
  std::uint64_t timeout_ns = 0;  ///< of every wait through this handle, from the wait's arrival

  /// The whole block waits, its first thread polls: wait_until() with block_group(). All threads of the block call it.
  template <class Condition>
  WIC_DEVICE WaitResult wait(const Thread& thread, std::uint32_t iteration, const std::uint32_t* word,
                             const Condition& condition) const {
    return detail::wait_for_block(thread, view, id, iteration, word, condition, timeout_ns);
  }
  /// The threads of `group` wait. All of them call it.
  template <class Condition>
  WIC_DEVICE WaitResult wait(const Thread& thread, const Group& group, std::uint32_t iteration,
                             const std::uint32_t* word, const Condition& condition) const {
    return wait_until(thread, view, group, id, iteration, word, condition, timeout_ns);
  }
  /// Releases the waiters of `word`: wic::signal(). One thread calls it.
  WIC_DEVICE void signal(const Thread& thread, std::uint32_t iteration, std::uint32_t* word, std::uint32_t value,
                         const Payload& payload = {}) const {
    wic::signal(thread, view, id, iteration, word, value, payload);
  }
};
static_assert(std::is_trivially_copyable_v<Site>);

}  // namespace wic
