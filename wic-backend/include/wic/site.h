// A wait site on one device: kernels wait and signal through it. Runtime::site() makes one.
//
//   struct Consume {
//     wic::Site site;
//     ...
//     WIC_DEVICE void operator()(const wic::Thread& thread) const {
//       if (!site.wait(thread, round, flag, wic::AtLeast{round})) return;  // the deadline passed
#pragma once

#include <type_traits>

#include "wic/own_module.h"
#include "wic/signal.h"
#include "wic/types.h"
#include "wic/wait.h"
#include "wic/wide_word.h"

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
  /// The whole block waits for a counter of 64 bits (see AtLeast64).
  WIC_DEVICE WaitResult wait(const Thread& thread, std::uint32_t iteration, const std::uint64_t* word,
                             const AtLeast64& condition) const {
    const WaitResult result = wait(thread, iteration, lower_half(word), condition.of_lower_half());
    if (result) take_whole(thread, word);
    return result;
  }
  /// The threads of `group` wait for such a counter.
  WIC_DEVICE WaitResult wait(const Thread& thread, const Group& group, std::uint32_t iteration,
                             const std::uint64_t* word, const AtLeast64& condition) const {
    const WaitResult result = wait(thread, group, iteration, lower_half(word), condition.of_lower_half());
    if (result) take_whole(thread, word);
    return result;
  }
  /// Releases the waiters of `word`: wic::signal(). One thread calls it.
  WIC_DEVICE void signal(const Thread& thread, std::uint32_t iteration, std::uint32_t* word, std::uint32_t value,
                         const Payload& payload = {}) const {
    wic::signal(thread, view, id, iteration, word, value, payload);
  }
  /// The same for a counter of 64 bits.
  WIC_DEVICE void signal(const Thread& thread, std::uint32_t iteration, std::uint64_t* word, std::uint64_t value,
                         const Payload& payload = {}) const {
    wic::signal(thread, view, id, iteration, word, value, payload);
  }

 private:
  // PTX orders only accesses of the same size: this one acquires what the store of 64 bits released.
  static WIC_DEVICE void take_whole(const Thread& thread, const std::uint64_t* word) {
    static_cast<void>(thread.load(word));
    thread.fence_acquire();
  }
};
static_assert(std::is_trivially_copyable_v<Site>);

}  // namespace wic
