// Channels: messages from one end to another. Where possible, the producer pushes them into the consumer's memory
// before the consumer asks.
//
//   auto channel = wic::Channel::make(runtime, {.name = "halo", .producer = wic::End::cpu(),
//                                               .consumer = wic::End::on(0), .tags = 4, .max_bytes = 4096});
//   kernels:   *(*channel)->receiver(), wic/receiver.h      *(*channel)->sender(), wic/sender.h
//   CPU:       send(), or place() and publish()             receive() and release()
//
// A message is (tag, cycle). The cycles of a tag count from 1, each is sent once, and at most two are in flight: a
// producer waits for free space, at the site NAME.room, until the consumer has released the cycle two before. Consumers
// wait at the site NAME.data. Both follow the toggle like all waits.
//
// Tags are below spec().tags: publish(), publish_range() and send() refuse others, message() returns nothing for them;
// place(), receive(), receive_all(), release() and the functions for kernels do not check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "wic/channel_layout.h"
#include "wic/channel_spec.h"
#include "wic/message_pages.h"
#include "wic/receiver.h"
#include "wic/runtime.h"
#include "wic/sender.h"
#include "wic/span.h"

namespace wic {

class Channel {
 public:
  struct HostPlace {
    WaitResult wait;
    Span<std::byte> data;  ///< max_bytes of pinned host memory; empty when the wait was not satisfied
  };
  struct HostMessage {
    WaitResult wait;
    Span<const std::byte> data;  ///< in place, until release(); empty when the wait was not satisfied
  };

  /// Errors: an end that the runtime does not have, devices that cannot reach each other's memory, sizes out of range,
  /// pages in the wrong memory or too few of them, no memory, site names that are taken. The runtime must outlive the
  /// channel.
  ///
  /// Allocates memory, which may wait for running kernels. So make channels before you launch kernels that wait for the
  /// CPU or for a later launch. The channel's two sites stay with the runtime, even where make() fails after adding
  /// them: no later channel of this runtime can have the name, and both count towards the limit on sites.
  static Result<std::unique_ptr<Channel>> make(Runtime& runtime, const ChannelSpec& spec);
  Channel(const Channel&) = delete;
  ~Channel();  ///< no kernel may be using an end, no thread may be waiting; see make()

  const ChannelSpec& spec() const;
  SiteId data_site() const;  ///< where the consumer waits
  /// The path of messages from the CPU to a device; Path::stores for all other pairs of ends.
  Path path() const;

  /// For kernels on the producer's device. Error: the producer is the CPU.
  Result<Sender> sender() const;
  /// For kernels on the consumer's device. Error: the consumer is the CPU.
  Result<Receiver> receiver() const;

  // The CPU as producer. Any thread; one at a time per tag.

  /// Waits for free space, at most `timeout` ns, and returns where to write the message: publish() sends it from there
  /// without a copy. Do not write a cycle that was sent before: the place may hold a later message.
  HostPlace place(Tag tag, Cycle cycle, TimeNs timeout);
  /// Sends the message in the place. Does not wait for the device. Does not send a cycle again. Errors: an invalid tag,
  /// size or cycle; a copy that cannot be started, which may be published again. `payload`: the message's part of the
  /// datum, for the trace; without it the trace has only the size. For a range: the first message's part; those of the
  /// others follow, `payload.span` bytes from one to the next.
  Result<> publish(Tag tag, Cycle cycle, std::uint32_t bytes, const Payload& payload = {}) {
    return publish_range(tag, 1, cycle, bytes, payload);
  }
  /// The same for tags first .. first + count - 1 of one cycle, all of `bytes` bytes. The messages of a batch (16 tags
  /// from a multiple of 16 on) travel as one copy.
  Result<> publish_range(Tag first, std::uint32_t count, Cycle cycle, std::uint32_t bytes, const Payload& payload = {});
  /// place(), a copy and publish(). Sends nothing unless the wait was satisfied.
  Result<WaitResult> send(Tag tag, Cycle cycle, const void* data, std::uint32_t bytes, TimeNs timeout,
                          const Payload& payload = {});

  // The CPU as consumer. Any thread; the cycles of a tag in order.

  HostMessage receive(Tag tag, Cycle cycle, TimeNs timeout);
  /// Waits for all of these tags; message() then returns each. With ChannelSpec::monitored, and unless the strategy at
  /// the site is `poll`, the thread sleeps until the last of the missing messages has arrived, and wakes once. A
  /// deadline that passes leaves nothing behind.
  WaitResult receive_all(Span<const Tag> tags, Cycle cycle, TimeNs timeout);
  /// A message that has been received and not released; empty for an invalid tag.
  Span<const std::byte> message(Tag tag, Cycle cycle) const;
  void release(Tag tag, Cycle cycle);

  /// How many calls of receive_all() sleep now. Any thread.
  std::size_t pending() const;

 private:
  struct State;
  explicit Channel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wic
