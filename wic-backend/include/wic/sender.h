// The producer's end of a channel inside kernels, which take it by value. Channel::sender() makes one.
//
//   tx.send(thread, group, tag, cycle, data, bytes, timeout_ns);     copies and announces
//   place = tx.place(...); write to place.data; tx.publish(...);     the same without a copy
//
// All threads of the group make each call, with the same arguments. Each cycle of a tag is sent once, in order, by one
// group at a time. With send_part() several groups, of one block or of many, send one message together.
#pragma once

#include "wic/channel_copy.h"
#include "wic/channel_layout.h"
#include "wic/signal.h"
#include "wic/wait.h"

namespace wic {

/// A producing device's state of one tag, in its own memory.
struct alignas(kLineBytes) SenderLine {
  std::uint32_t sent;      ///< the last announced cycle
  std::uint32_t parts[2];  ///< written parts of the message of an even or odd cycle
  std::uint32_t released;  ///< the consumer's last release that part 0 has seen, nearby for the other parts
};

/// The memory for a message, once the wait for free space is satisfied.
struct Place {
  WaitResult wait;
  std::byte* data;  ///< max_bytes, 16-byte aligned, in the consumer's memory; nullptr = no space in time
};

struct Sender {
  DeviceView view;
  Mailbox box;
  SiteId data_site = 0, room_site = 0;
  const std::uint32_t* released = nullptr;  ///< per tag: the last cycle that the consumer has released
  std::uint32_t released_stride = 0;        ///< words from one tag to the next
  SenderLine* lines = nullptr;              ///< one per tag
  std::uint32_t* bell = nullptr;            ///< wakes a host thread; nullptr = none sleeps

  /// Waits until the consumer has released cycle - 2, and returns where to write the message. Do not write a cycle that
  /// was announced before: the place may hold a later message.
  WIC_DEVICE Place place(const Thread& thread, const Group& group, Tag tag, Cycle cycle,
                         std::uint64_t timeout_ns) const {
    return place_by(thread, group, tag, cycle, released + std::size_t{tag} * released_stride, timeout_ns);
  }

  /// Announces the message that the group has written to the place, unless the cycle was announced before. `payload`,
  /// here and below: the message's part of the datum, for the trace; without it the trace has only the size.
  WIC_DEVICE void publish(const Thread& thread, const Group& group, Tag tag, Cycle cycle, std::uint32_t bytes,
                          const Payload& payload = {}) const {
    thread.sync_warp();
    thread.barrier(group.barrier, group.threads);
    if (!group.is_leader(thread) || is_sent(thread, tag, cycle)) return;
    *box.length(tag, cycle) = bytes;
    announce(thread, tag, cycle, sized(payload, bytes));
  }

  /// Copies `bytes` (at most max_bytes) from `data` and announces the message. Returns once `data` may be overwritten.
  /// Sends nothing without free space in time, or if the cycle was announced before.
  WIC_DEVICE WaitResult send(const Thread& thread, const Group& group, Tag tag, Cycle cycle, const void* data,
                             std::uint32_t bytes, std::uint64_t timeout_ns, const Payload& payload = {}) const {
    const Place to = place(thread, group, tag, cycle, timeout_ns);
    if (to.data == nullptr) return to.wait;
    const auto* const from = static_cast<const std::byte*>(data);
    if (box.slots.is_quad() && box.announce == Announce::word) {
      thread.sync_warp();
      thread.barrier(group.barrier, group.threads);  // the other threads may have written to `data`
      if (group.is_leader(thread)) send_quad(thread, tag, cycle, from, bytes, payload);
    } else {
      if (group_finds_sent(thread, group, tag, cycle)) return to.wait;
      copy_bytes(thread, thread.index() - group.first, group.threads, to.data, from, bytes);
      publish(thread, group, tag, cycle, bytes, payload);
    }
    // The leader is the last to read `data`.
    thread.sync_warp();
    thread.barrier(group.barrier, group.threads);
    return to.wait;
  }

  /// Like send(), by `parts` groups of this device; each passes its own number. The last to finish announces the
  /// message. If the wait of a part is not satisfied, the message is incomplete until that part, and no other, is sent
  /// again: the parts are only counted. Repeating an announced cycle sends nothing.
  WIC_DEVICE WaitResult send_part(const Thread& thread, const Group& group, Tag tag, Cycle cycle, const void* data,
                                  std::uint32_t bytes, std::uint32_t part, std::uint32_t parts,
                                  std::uint64_t timeout_ns, const Payload& payload = {}) const {
    if (group_finds_sent(thread, group, tag, cycle)) return {WaitStatus::satisfied, 0};
    const std::uint32_t* const word = part == 0 ? released + std::size_t{tag} * released_stride : &lines[tag].released;
    const Place to = place_by(thread, group, tag, cycle, word, timeout_ns);
    if (to.data == nullptr) return to.wait;
    if (part == 0 && parts > 1 && cycle > 2 && group.is_leader(thread)) {
      thread.store_release(&lines[tag].released, to.wait.value);
    }
    const std::size_t share = (std::size_t{bytes} + parts - 1) / parts;
    const std::size_t rounded = (share + kLineBytes - 1) / kLineBytes * kLineBytes;
    const std::size_t begin = part * rounded;
    if (begin < bytes) {
      const std::size_t size = begin + rounded < bytes ? rounded : bytes - begin;
      copy_bytes(thread, thread.index() - group.first, group.threads, to.data + begin,
                 static_cast<const std::byte*>(data) + begin, size);
    }
    thread.sync_warp();
    thread.barrier(group.barrier, group.threads);
    if (!group.is_leader(thread)) return to.wait;
    std::uint32_t& written = lines[tag].parts[cycle & 1];
    if (thread.fetch_add_acq_rel_system(&written, 1) + 1 != parts) return to.wait;
    thread.store(&written, 0);
    *box.length(tag, cycle) = bytes;
    announce(thread, tag, cycle, sized(payload, bytes));
    return to.wait;
  }

 private:
  // `released_cycle`: the word that holds the last cycle of the tag that the consumer has released.
  WIC_DEVICE Place place_by(const Thread& thread, const Group& group, Tag tag, Cycle cycle,
                            const std::uint32_t* released_cycle, std::uint64_t timeout_ns) const {
    WaitResult wait{WaitStatus::satisfied, 0};
    if (cycle > 2)
      wait =
          wait_until(thread, view, group, room_site, cycle.iteration, released_cycle, AtLeast{cycle - 2}, timeout_ns);
    return {wait, wait.status == WaitStatus::satisfied ? box.payload(tag, cycle) : nullptr};
  }

  WIC_DEVICE bool is_sent(const Thread& thread, Tag tag, Cycle cycle) const {
    return AtLeast{cycle}(thread.load(&lines[tag].sent));
  }

  // Gives all threads of the group the same answer: the leader has finished earlier announcements, and nobody announces
  // `cycle` before the group reaches the next barrier.
  WIC_DEVICE bool group_finds_sent(const Thread& thread, const Group& group, Tag tag, Cycle cycle) const {
    thread.sync_warp();
    thread.barrier(group.barrier, group.threads);
    return is_sent(thread, tag, cycle);
  }

  WIC_DEVICE static Payload sized(Payload payload, std::uint32_t bytes) {
    if (payload.bytes == 0) payload.bytes = bytes;
    return payload;
  }

  WIC_DEVICE void announce(const Thread& thread, Tag tag, Cycle cycle, const Payload& payload) const {
    const std::uint64_t at = signal_time(thread, view);
    std::uint32_t* const word = box.word(tag, cycle);
    switch (box.announce) {
      case Announce::word:
        thread.store_release(word, cycle);
        break;
      case Announce::bit:
        thread.flip_bits(word, Mailbox::bit(tag));
        break;
      case Announce::count:
        thread.fetch_add_acq_rel_system(word, 1);
        break;
    }
    announced(thread, tag, cycle, at, payload);
  }

  WIC_DEVICE void send_quad(const Thread& thread, Tag tag, Cycle cycle, const std::byte* from, std::uint32_t bytes,
                            const Payload& payload) const {
    if (is_sent(thread, tag, cycle)) return;
    std::uint32_t words[2] = {0, 0};
    for (std::uint32_t i = 0; i < bytes && i < 8; ++i) {
      words[i / 4] |= static_cast<std::uint32_t>(from[i]) << (8 * (i % 4));
    }
    const std::uint64_t at = signal_time(thread, view);
    thread.fence_release_system();  // the message may refer to data written elsewhere
    thread.store_quad(box.slot(tag, cycle), words[0], words[1], bytes, cycle);
    announced(thread, tag, cycle, at, sized(payload, bytes));
  }

  WIC_DEVICE void announced(const Thread& thread, Tag tag, Cycle cycle, std::uint64_t at,
                            const Payload& payload) const {
    thread.store(&lines[tag].sent, cycle);
    write_record(thread, view,
                 signal_record(data_site, cycle.iteration, at, box.recorded_value(tag, cycle),
                               word_tag(box.word(tag, cycle)), payload));
    if (bell != nullptr) thread.ring(bell);
  }
};

}  // namespace wic
