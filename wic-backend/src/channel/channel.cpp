#include "wic/channel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "src/channel/availability_bitmap.h"
#include "src/channel/channel_memory.h"
#include "src/channel/monitor.h"
#include "src/device/host_doorbell.h"

namespace wic {

using wicprof::bad_input;
using wicprof::StrategyId;
using wicprof::TimeNs;
using wicprof::WaitStatus;

static_assert(AvailabilityBitmap::full(1) == all_arrived(1) && AvailabilityBitmap::full(2) == all_arrived(2) &&
              AvailabilityBitmap::full(3) == all_arrived(3) && AvailabilityBitmap::full(4) == all_arrived(4));

namespace {

constexpr std::uint32_t kMaxTags = 1u << 24;
constexpr std::uint32_t kMaxBytes = 1u << 30;

/// Adds the message's size, the least that the trace needs.
Payload sized(Payload payload, std::uint32_t bytes) {
  if (payload.bytes == 0) payload.bytes = bytes;
  return payload;
}

std::uint32_t load(const std::uint32_t* word) {
  return std::atomic_ref(*const_cast<std::uint32_t*>(word)).load(std::memory_order_acquire);
}

Result<> check(const Runtime& runtime, const ChannelSpec& spec) {
  const auto exists = [&](End end) {
    return end.is_cpu() || static_cast<std::size_t>(end.device) < runtime.device_count();
  };
  const std::string channel = "channel '" + spec.name + "': ";
  if (!exists(spec.producer) || !exists(spec.consumer)) {
    return bad_input(channel + "an end is a device that the runtime does not have; it has " +
                     std::to_string(runtime.device_count()));
  }
  if (spec.tags == 0 || spec.tags > kMaxTags) return bad_input(channel + "a channel can have 1 to 2^24 tags");
  if (spec.max_bytes == 0 || spec.max_bytes > kMaxBytes) {
    return bad_input(channel + "a message can have 1 to 2^30 bytes");
  }
  if (spec.sites_of != nullptr && (spec.way == Way::naive) != (spec.sites_of->spec().way == Way::naive)) {
    return bad_input(channel +
                     "way naive polls by atomics, which lose flags in other ways' words; give it its own sites");
  }
  // The producer writes messages into the consumer's memory, the consumer its releases into the producer's. Both reach
  // managed memory.
  if (!spec.producer.is_cpu() && !spec.consumer.is_cpu() && spec.way != Way::naive) {
    const Device& producer = runtime.device(static_cast<std::size_t>(spec.producer.device));
    const Device& consumer = runtime.device(static_cast<std::size_t>(spec.consumer.device));
    if (!producer.peer_access(consumer).reach || !consumer.peer_access(producer).reach) {
      return wicprof::unavailable(channel +
                                  "its two devices cannot reach each other's memory; send through the CPU, or "
                                  "use two that can (nvidia-smi topo -p2p rw)");
    }
  }
  return wicprof::ok();
}

}  // namespace

struct Channel::State {
  State(Runtime& r, const ChannelSpec& s, ChannelMemory m)
      : runtime(r),
        spec(s),
        memory(std::move(m)),
        box(memory.host_box()),
        sent(spec.producer.is_cpu() ? spec.tags : 0) {}

  Result<> open();
  Result<> check_cycle(Tag first, std::uint32_t count, Cycle cycle, std::uint32_t bytes) const;
  void announce(Tag tag, Cycle cycle, std::uint32_t bytes, const Payload& payload);
  Result<> push(Tag first, std::uint32_t count, Cycle cycle, std::uint32_t bytes, Payload payload);
  std::uint32_t* released(Tag tag) const { return memory.released() + std::size_t{tag} * memory.released_stride(); }

  Runtime& runtime;
  const ChannelSpec spec;
  const ChannelMemory memory;
  const Mailbox box;
  wicprof::SiteId data_site = 0, room_site = 0;
  std::vector<std::atomic<std::uint32_t>> sent;  // CPU as producer: the last cycle of each tag

  // CPU to device by a copy engine.
  std::mutex push_mutex;
  std::unique_ptr<AvailabilityBitmap> arrived;  // the consumer's bits once the streams have finished
  std::array<std::unique_ptr<Stream>, 2> streams;

  std::unique_ptr<Monitor> monitor;
  HostDoorbell* host_bell = nullptr;  // the monitor's, if the CPU is both ends
};

Result<> Channel::State::open() {
  const WordPlaces places = memory.word_places();
  // Each host thread polls for itself, or sleeps.
  const auto pollers = [](End end) { return end.is_cpu() ? wicprof::Pollers::each_thread : wicprof::Pollers::leader; };
  const auto site_end = [](End end) {
    return end.is_cpu() ? wicprof::kHostEnd : static_cast<wicprof::SiteEnd>(wicprof::kFirstDeviceEnd + end.device);
  };
  const auto add = [&](const char* what, wicprof::WordMemory word, End waiting, End releasing, StrategyId own,
                       wicprof::SitePurpose purpose) {
    SiteSpec site;
    site.name = spec.name + what;
    site.word_memory = word;
    site.pollers = pollers(waiting);
    site.own = own;
    site.purpose = purpose;
    site.releasing = site_end(releasing);
    site.waiting = site_end(waiting);
    if (!releasing.is_cpu()) site.producer = runtime.device(static_cast<std::size_t>(releasing.device)).properties().id;
    return runtime.add_site(site);
  };
  if (spec.sites_of != nullptr) {
    data_site = spec.sites_of->state_->data_site;
    room_site = spec.sites_of->state_->room_site;
  } else {
    const bool by_atomics = spec.way == Way::naive && !spec.consumer.is_cpu();
    const auto data = add(".data", places.ready, spec.consumer, spec.producer,
                          by_atomics ? StrategyId::naive : StrategyId::poll, wicprof::SitePurpose::data);
    if (!data) return data.error();
    data_site = *data;
    const auto room = add(".room", places.released, spec.producer, spec.consumer, StrategyId::poll,
                          wicprof::SitePurpose::acknowledgement);
    if (!room) return room.error();
    room_site = *room;
  }
  if (path_of(spec) == Path::engine) {
    arrived = std::make_unique<AvailabilityBitmap>(spec.tags);
    for (std::unique_ptr<Stream>& stream : streams) {
      auto made = runtime.device(static_cast<std::size_t>(spec.consumer.device)).make_stream();
      if (!made) return made.error();
      stream = *std::move(made);
    }
  }
  if (spec.way != Way::park || !spec.consumer.is_cpu() || !spec.monitored) return wicprof::ok();
  std::unique_ptr<Doorbell> bell;
  if (spec.producer.is_cpu()) {
    auto made = std::make_unique<HostDoorbell>();
    host_bell = made.get();
    bell = std::move(made);
  } else {
    auto made = runtime.device(static_cast<std::size_t>(spec.producer.device)).make_doorbell();
    if (made) {
      bell = *std::move(made);
    } else {
      bell = std::make_unique<NappingDoorbell>();
    }
  }
  monitor = std::make_unique<Monitor>(spec.tags, std::move(bell),
                                      [this](Tag tag, std::uint32_t cycle) { return load(box.word(tag, cycle)); });
  return wicprof::ok();
}

Channel::Channel(std::unique_ptr<State> state) : state_(std::move(state)) {}

Channel::~Channel() {
  for (const std::unique_ptr<Stream>& stream : state_->streams) {
    if (stream != nullptr) static_cast<void>(stream->synchronize());  // its copies read memory that is freed next
  }
}

Result<std::unique_ptr<Channel>> Channel::make(Runtime& runtime, const ChannelSpec& spec) {
  if (Result<> valid = check(runtime, spec); !valid) return valid.error();
  Result<ChannelMemory> memory = ChannelMemory::make(runtime, spec);
  if (!memory) return memory.error();
  auto state = std::make_unique<State>(runtime, spec, *std::move(memory));
  if (Result<> opened = state->open(); !opened) return opened.error();
  return std::unique_ptr<Channel>(new Channel(std::move(state)));
}

const ChannelSpec& Channel::spec() const { return state_->spec; }
wicprof::SiteId Channel::data_site() const { return state_->data_site; }
Path Channel::path() const { return path_of(state_->spec); }

Result<Sender> Channel::sender() const {
  const State& s = *state_;
  if (s.spec.producer.is_cpu())
    return bad_input("channel '" + s.spec.name + "': its producer is the CPU, not a kernel");
  Sender sender;
  sender.view = s.runtime.view(static_cast<std::size_t>(s.spec.producer.device));
  sender.box = s.memory.producer_box();
  sender.data_site = s.data_site;
  sender.room_site = s.room_site;
  sender.released = s.memory.released();
  sender.released_stride = s.memory.released_stride();
  sender.lines = s.memory.lines();
  sender.bell = s.monitor == nullptr ? nullptr : s.monitor->bell().word();
  return sender;
}

Result<Receiver> Channel::receiver() const {
  const State& s = *state_;
  if (s.spec.consumer.is_cpu())
    return bad_input("channel '" + s.spec.name + "': its consumer is the CPU, not a kernel");
  Receiver receiver;
  receiver.view = s.runtime.view(static_cast<std::size_t>(s.spec.consumer.device));
  receiver.box = s.memory.consumer_box();
  receiver.data_site = s.data_site;
  receiver.room_site = s.room_site;
  receiver.released = s.memory.released();
  receiver.released_stride = s.memory.released_stride();
  receiver.landing = s.memory.landing();
  receiver.landing_stride = s.memory.landing_stride();
  return receiver;
}

Channel::HostPlace Channel::place(Tag tag, Cycle cycle, TimeNs timeout) {
  State& s = *state_;
  WaitResult wait{WaitStatus::satisfied, 0};
  if (cycle > 2) {
    wait.value = load(s.released(tag));
    const AtLeast is_free{cycle - 2};
    if (!is_free(wait.value)) {
      wait = s.runtime.wait_until(s.room_site, cycle.iteration, s.released(tag), is_free, timeout);
    }
  }
  if (wait.status != WaitStatus::satisfied) return {wait, {}};
  std::byte* const at = path_of(s.spec) == Path::engine ? s.memory.staging(tag, cycle) + s.box.slots.payload_at
                                                        : s.box.payload(tag, cycle);
  return {wait, {at, s.spec.max_bytes}};
}

Result<> Channel::State::check_cycle(Tag first, std::uint32_t count, Cycle cycle, std::uint32_t bytes) const {
  const std::string channel = "channel '" + spec.name + "': ";
  if (count == 0 || first >= spec.tags || count > spec.tags - first) return bad_input(channel + "no such tag");
  if (bytes > spec.max_bytes) {
    return bad_input(channel + std::to_string(bytes) + " bytes; a message has at most " +
                     std::to_string(spec.max_bytes));
  }
  for (Tag tag = first; tag < first + count; ++tag) {
    const std::uint32_t last = sent[tag].load(std::memory_order_relaxed);
    if (cycle == last + 1 || AtLeast{cycle}(last)) continue;
    return bad_input(channel + "cycle " + std::to_string(cycle) + " of tag " + std::to_string(tag) +
                     " cannot follow cycle " + std::to_string(last));
  }
  return wicprof::ok();
}

// By stores: the message is already in the memory that the consumer reads.
void Channel::State::announce(Tag tag, Cycle cycle, std::uint32_t bytes, const Payload& payload) {
  *box.length(tag, cycle) = bytes;
  if (box.announce == Announce::count) {
    const TimeNs at = wicprof::now_ns();
    std::atomic_ref(*box.word(tag, cycle)).fetch_add(1, std::memory_order_acq_rel);
    runtime.record_signal(data_site, cycle.iteration, box.word(tag, cycle), at, cycle, payload);
  } else {
    runtime.signal(data_site, cycle.iteration, box.word(tag, cycle), cycle, payload);
  }
  if (host_bell != nullptr) host_bell->ring();
}

// By the copy engine: the messages, and after them in the same stream the word that announces them. Only one stream
// ever writes a given word of bits, so no bit arrives before its message. With two streams, the write of a word and the
// gap before it overlap with the copies of the other cycle.
Result<> Channel::State::push(Tag first, std::uint32_t count, Cycle cycle, std::uint32_t bytes, Payload payload) {
  for (Tag tag = first; tag < first + count; ++tag) {
    std::memcpy(memory.staging(tag, cycle) + box.slots.bytes_at, &bytes, sizeof bytes);
  }
  const std::lock_guard lock(push_mutex);
  const bool bits = box.announce == Announce::bit;
  Stream& stream = *streams[bits ? (first / 32 + cycle) % 2 : 0];
  const std::uint32_t from = box.slots.bytes_at;
  const std::size_t size = std::size_t{count - 1} * box.slots.stride + box.slots.payload_at + bytes - from;
  const TimeNs at = wicprof::now_ns();
  if (Result<> r = stream.copy(box.slot(first, cycle) + from, memory.staging(first, cycle) + from, size); !r) return r;
  std::uint32_t word = cycle;
  if (bits) {
    for (Tag tag = first; tag < first + count; ++tag) word = arrived->set(tag, cycle);
  }
  if (Result<> r = stream.write(box.word(first, cycle), word); !r) return r;
  for (Tag tag = first; tag < first + count; ++tag) {
    runtime.record_signal(data_site, cycle.iteration, box.word(tag, cycle), at, box.recorded_value(tag, cycle),
                          payload);
    payload.offset += payload.span;
  }
  return wicprof::ok();
}

Result<> Channel::publish_range(Tag first, std::uint32_t count, Cycle cycle, std::uint32_t bytes,
                                const Payload& payload) {
  State& s = *state_;
  const auto payload_of_tag = [&](Tag tag) {
    Payload of = sized(payload, bytes);
    of.offset += (tag - first) * of.span;
    return of;
  };
  if (Result<> valid = s.check_cycle(first, count, cycle, bytes); !valid) return valid;
  const bool engine = path_of(s.spec) == Path::engine;
  const Tag end = first + count;
  for (Tag tag = first; tag < end;) {
    if (s.sent[tag].load(std::memory_order_relaxed) != cycle - 1) {  // sent before
      ++tag;
      continue;
    }
    Tag next = tag + 1;
    if (engine && s.box.announce == Announce::bit) {
      const Tag batch_end = std::min(end, (tag / kBatchTags + 1) * kBatchTags);
      while (next < batch_end && s.sent[next].load(std::memory_order_relaxed) == cycle - 1) ++next;
    }
    if (engine) {
      if (Result<> pushed = s.push(tag, next - tag, cycle, bytes, payload_of_tag(tag)); !pushed) return pushed;
    } else {
      s.announce(tag, cycle, bytes, payload_of_tag(tag));
    }
    // Only now: a message that could not be pushed may be published again.
    for (; tag < next; ++tag) s.sent[tag].store(cycle, std::memory_order_relaxed);
  }
  return wicprof::ok();
}

Result<WaitResult> Channel::send(Tag tag, Cycle cycle, const void* data, std::uint32_t bytes, TimeNs timeout,
                                 const Payload& payload) {
  if (Result<> valid = state_->check_cycle(tag, 1, cycle, bytes); !valid) return valid.error();
  if (AtLeast{cycle}(state_->sent[tag].load(std::memory_order_relaxed))) return WaitResult{WaitStatus::satisfied, 0};
  const HostPlace to = place(tag, cycle, timeout);
  if (to.wait.status != WaitStatus::satisfied) return to.wait;
  std::memcpy(to.data.data(), data, bytes);
  if (Result<> published = publish(tag, cycle, bytes, payload); !published) return published.error();
  return to.wait;
}

Channel::HostMessage Channel::receive(Tag tag, Cycle cycle, TimeNs timeout) {
  const State& s = *state_;
  const WaitResult wait =
      s.runtime.wait_until(s.data_site, cycle.iteration, s.box.word(tag, cycle), AtLeast{cycle}, timeout);
  if (wait.status != WaitStatus::satisfied) return {wait, {}};
  return {wait, message(tag, cycle)};
}

WaitResult Channel::receive_all(Span<const Tag> tags, Cycle cycle, TimeNs timeout) {
  State& s = *state_;
  const TimeNs begin = wicprof::now_ns(), deadline = deadline_after(begin, timeout);
  if (s.monitor == nullptr || s.runtime.strategy(s.data_site) == StrategyId::poll) {
    WaitResult wait{WaitStatus::satisfied, cycle};
    for (const Tag tag : tags) {
      const TimeNs left = std::max<TimeNs>(deadline - wicprof::now_ns(), 0);
      wait = s.runtime.wait_until(s.data_site, cycle.iteration, s.box.word(tag, cycle), AtLeast{cycle}, left);
      if (wait.status != WaitStatus::satisfied) break;
    }
    return wait;
  }
  if (tags.empty()) return {WaitStatus::satisfied, cycle};
  const TimeNs cpu_begin = wicprof::thread_cpu_ns();
  const WaitStatus status = s.monitor->wait(
      tags, cycle, timeout, [&s] { return s.runtime.strategy(s.data_site) == static_cast<StrategyId>(kProducerLost); });
  s.runtime.record_wait(s.data_site, cycle.iteration, s.box.word(tags.front(), cycle), begin, wicprof::now_ns(),
                        wicprof::thread_cpu_ns() - cpu_begin, 0, status, cycle, cycle);
  return {status, cycle};
}

Span<const std::byte> Channel::message(Tag tag, Cycle cycle) const {
  const Mailbox& box = state_->box;
  if (tag >= box.tags) return {};
  return {box.payload(tag, cycle), *box.length(tag, cycle)};
}

void Channel::release(Tag tag, Cycle cycle) {
  State& s = *state_;
  s.runtime.signal(s.room_site, cycle.iteration, s.released(tag), cycle);
}

std::size_t Channel::pending() const { return state_->monitor == nullptr ? 0 : state_->monitor->pending(); }

}  // namespace wic
