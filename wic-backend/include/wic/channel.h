// Channels: messages from one end to another, pushed by the producer into the consumer's memory before they are asked
// for where it can.
//
//   auto channel = wic::Channel::make(runtime, {.name = "halo", .producer = wic::End::cpu(),
//                                               .consumer = wic::End::on(0), .tags = 4, .max_bytes = 4096});
//   kernels:   *(*channel)->receiver(), wic/receiver.h      *(*channel)->sender(), wic/sender.h
//   CPU:       send(), or place() and publish()             receive() and release()
//
// A message is (tag, cycle). The cycles of a tag count from 1, each is sent once, and at most two are under way: a
// producer waits for room, at the site NAME.room, until the consumer has released the cycle two before. Consumers wait
// at the site NAME.data. Both obey the toggle as all waits do.
//
// Tags are below spec().tags: publish(), publish_range() and send() refuse others and message() has nothing for them;
// place(), receive(), receive_all(), release() and the functions for kernels do not check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "wic/channel_layout.h"
#include "wic/channel_spec.h"
#include "wic/message_pages.h"
#include "wic/receiver.h"
#include "wic/runtime.h"
#include "wic/sender.h"

namespace wic {

class Channel {
 public:
  struct HostPlace {
    WaitResult wait;
    std::span<std::byte> data;  ///< max_bytes of pinned host memory; empty when the wait was not satisfied
  };
  struct HostMessage {
    WaitResult wait;
    std::span<const std::byte> data;  ///< in place, until release(); empty when the wait was not satisfied
  };

  /// Errors: an end that the runtime does not have, devices that cannot reach each other's memory, sizes out of range,
  /// pages of the wrong memory or too few of them, no memory, site names that are taken. The runtime must outlive the
  /// channel.
  ///
  /// Allocates memory, as ~Channel() frees it, which may wait for the kernels that run: make channels before the launch
  /// of kernels that wait for the CPU or for a later launch, and let go of them after those kernels' end. The channel's
  /// two sites stay with the runtime for good, also where make() fails after it has added them: no later channel of
  /// this runtime can have the name, and each counts towards the most sites that a runtime has.
  static Result<std::unique_ptr<Channel>> make(Runtime& runtime, const ChannelSpec& spec);
  Channel(const Channel&) = delete;
  ~Channel();  ///< no kernel that uses an end may be running, no thread may be waiting; see make()

  const ChannelSpec& spec() const;
  SiteId data_site() const;  ///< where the consumer waits
  /// The path that messages from the CPU to a device take; Path::stores for all other pairs of ends.
  Path path() const;

  /// For kernels on the producer's device. Error: the producer is the CPU.
  Result<Sender> sender() const;
  /// For kernels on the consumer's device. Error: the consumer is the CPU.
  Result<Receiver> receiver() const;

  // The CPU as producer. Any thread; for each tag one at a time.

  /// Waits for room, at most `timeout` ns, and tells where to write the message: it is sent from there without a copy.
  /// A cycle that was sent before must not be written: the place may hold a later message.
  HostPlace place(Tag tag, Cycle cycle, TimeNs timeout);
  /// Sends what was written to the place. Does not wait for the device. A cycle that was sent before is not sent again.
  /// Errors: a tag, a size or a cycle that cannot be; a copy that cannot be started, which may be published again.
  /// `payload`: what the message is of, for the trace; without it the trace has its size alone. Of a range it is the
  /// first's, and those of the others lie behind it, `payload.span` bytes from one to the next.
  Result<> publish(Tag tag, Cycle cycle, std::uint32_t bytes, const Payload& payload = {}) {
    return publish_range(tag, 1, cycle, bytes, payload);
  }
  /// The same for tags first .. first + count - 1 of one cycle, all of `bytes` bytes: those of a batch (16 tags from a
  /// multiple of 16 on) travel as one copy.
  Result<> publish_range(Tag first, std::uint32_t count, Cycle cycle, std::uint32_t bytes, const Payload& payload = {});
  /// place(), a copy and publish(). Nothing is sent when the wait was not satisfied.
  Result<WaitResult> send(Tag tag, Cycle cycle, const void* data, std::uint32_t bytes, TimeNs timeout,
                          const Payload& payload = {});

  // The CPU as consumer. Any thread; the cycles of a tag in order.

  HostMessage receive(Tag tag, Cycle cycle, TimeNs timeout);
  /// Waits for all of these tags; message() then gives each. With ChannelSpec::monitored, and unless the strategy at
  /// the site is `poll`, the thread sleeps until it is woken, once, when nothing is missing any more; what is there
  /// already is not waited for. A deadline that passes leaves nothing behind.
  WaitResult receive_all(std::span<const Tag> tags, Cycle cycle, TimeNs timeout);
  /// A message that has been waited for and not been released; empty where there is no such tag.
  std::span<const std::byte> message(Tag tag, Cycle cycle) const;
  void release(Tag tag, Cycle cycle);

  /// Requests of receive_all() that are waiting now. Any thread.
  std::size_t pending() const;

 private:
  struct State;
  explicit Channel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wic
