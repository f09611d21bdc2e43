// The consumer's end of a channel inside kernels, which take it by value. Channel::receiver() makes one.
//
//   message = rx.receive(thread, group, tag, cycle, timeout_ns);    one local read if the message has arrived already
//   if (message.data != nullptr) { ... }
//   rx.release(thread, group, tag, cycle);                          the producer may use the slot again
//
// All threads of the group make each call, with the same arguments. Cycles of a tag are received in order, and a cycle
// only after the one two before it.
#pragma once

#include "wic/channel_copy.h"
#include "wic/channel_layout.h"
#include "wic/signal.h"
#include "wic/wait.h"

namespace wic {

struct Message {
  WaitResult wait;
  const std::byte* data = nullptr;  ///< in place; 16-byte aligned. nullptr unless the wait was satisfied
  std::uint32_t bytes = 0;
};

struct Receiver {
  DeviceView view;
  Mailbox box;
  SiteId data_site = 0, room_site = 0;
  std::uint32_t* released = nullptr;  ///< per tag: the last cycle that the consumer has released
  std::uint32_t released_stride = 0;  ///< words from one tag to the next
  std::byte* landing = nullptr;       ///< way naive: one thread copies the data here; two slots per tag
  std::uint32_t landing_stride = 0;

  /// Waits for one message.
  WIC_DEVICE Message receive(const Thread& thread, const Group& group, Tag tag, Cycle cycle,
                             std::uint64_t timeout_ns) const {
    const WaitResult wait = wait_for(thread, group, tag, cycle, timeout_ns);
    if (wait.status != WaitStatus::satisfied) return {wait};
    return message(wait, tag, cycle);
  }

  /// Waits for the messages of tags `first` to `first + count - 1` of one cycle; message() then returns each. One wait
  /// for all tags that share a word of availability bits (32 tags from a multiple of 32 on), else one after another.
  WIC_DEVICE WaitResult receive_range(const Thread& thread, const Group& group, Tag first, std::uint32_t count,
                                      Cycle cycle, std::uint64_t timeout_ns) const {
    const std::uint64_t deadline = deadline_after(thread.clock_ns(), timeout_ns);
    WaitResult wait{WaitStatus::satisfied, 0};
    for (Tag tag = first; tag != first + count;) {
      std::uint32_t together = 1;
      if (box.announce == Announce::bit) {
        const std::uint32_t left = first + count - tag, in_word = 32 - tag % 32;
        together = left < in_word ? left : in_word;
        const std::uint32_t ones = together == 32 ? ~0u : (1u << together) - 1;
        wait = wait_for_bits(thread, group, tag, ones << (tag % 32), cycle, left_of(thread, deadline));
      } else {
        wait = wait_for(thread, group, tag, cycle, left_of(thread, deadline));
      }
      if (wait.status != WaitStatus::satisfied) return wait;
      tag += together;
    }
    return wait;
  }

  /// The same for any tags. The whole group must be able to read `tags`, which must not change meanwhile. At most some
  /// dozens, since every thread goes through all of them.
  WIC_DEVICE WaitResult receive_all(const Thread& thread, const Group& group, const Tag* tags, std::uint32_t count,
                                    Cycle cycle, std::uint64_t timeout_ns) const {
    const std::uint64_t deadline = deadline_after(thread.clock_ns(), timeout_ns);
    WaitResult wait{WaitStatus::satisfied, 0};
    for (std::uint32_t i = 0; i < count; ++i) {
      if (box.announce == Announce::bit) {
        std::uint32_t mask = 0;
        bool is_first = true;  // of the tags of its word
        for (std::uint32_t k = 0; k < count; ++k) {
          if (tags[k] / 32 != tags[i] / 32) continue;
          is_first = is_first && k >= i;
          mask |= Mailbox::bit(tags[k]);
        }
        if (!is_first) continue;
        wait = wait_for_bits(thread, group, tags[i], mask, cycle, left_of(thread, deadline));
      } else {
        wait = wait_for(thread, group, tags[i], cycle, left_of(thread, deadline));
      }
      if (wait.status != WaitStatus::satisfied) return wait;
    }
    return wait;
  }

  /// A message that has been received and not released.
  WIC_DEVICE Message message(const WaitResult& wait, Tag tag, Cycle cycle) const {
    const std::byte* const data =
        landing == nullptr ? box.payload(tag, cycle) : landing + (std::size_t{tag} * 2 + (cycle & 1)) * landing_stride;
    return {wait, data, *box.length(tag, cycle)};
  }

  /// The whole group has finished with the message.
  WIC_DEVICE void release(const Thread& thread, const Group& group, Tag tag, Cycle cycle) const {
    thread.sync_warp();
    thread.barrier(group.barrier, group.threads);
    if (!group.is_leader(thread)) return;
    signal(thread, view, room_site, cycle.iteration, released + std::size_t{tag} * released_stride, cycle);
  }

 private:
  WIC_DEVICE static std::uint64_t left_of(const Thread& thread, std::uint64_t deadline) {
    const std::uint64_t now = thread.clock_ns();
    return now < deadline ? deadline - now : 0;
  }

  WIC_DEVICE WaitResult wait_for(const Thread& thread, const Group& group, Tag tag, Cycle cycle,
                                 std::uint64_t timeout_ns) const {
    if (box.announce == Announce::count) return naive_wait(thread, group, tag, cycle, timeout_ns);
    if (box.announce == Announce::bit) {
      return wait_for_bits(thread, group, tag, Mailbox::bit(tag), cycle, timeout_ns);
    }
    return wait_until(thread, view, group, data_site, cycle.iteration, box.word(tag, cycle), AtLeast{cycle},
                      timeout_ns);
  }

  WIC_DEVICE WaitResult wait_for_bits(const Thread& thread, const Group& group, Tag tag, std::uint32_t mask,
                                      Cycle cycle, std::uint64_t timeout_ns) const {
    return wait_until(thread, view, group, data_site, cycle.iteration, box.word(tag, cycle),
                      BitsArrived{mask, all_arrived(cycle), tag}, timeout_ns);
  }

  // Algorithm 1: one thread adds 0 to the flag until the message has arrived (the site's strategy is `naive`) and
  // copies the data, while the others wait at the barrier.
  WIC_DEVICE WaitResult naive_wait(const Thread& thread, const Group& group, Tag tag, Cycle cycle,
                                   std::uint64_t timeout_ns) const {
    const WaitResult wait =
        wait_until(thread, view, group, data_site, cycle.iteration, box.word(tag, cycle), AtLeast{cycle}, timeout_ns);
    if (wait.status != WaitStatus::satisfied) return wait;
    if (group.is_leader(thread)) {
      copy_bytes(thread, 0, 1, landing + (std::size_t{tag} * 2 + (cycle & 1)) * landing_stride, box.payload(tag, cycle),
                 *box.length(tag, cycle));
    }
    thread.sync_warp();
    thread.barrier(group.barrier, group.threads);
    return wait;
  }
};

}  // namespace wic
