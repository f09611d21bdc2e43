// What every event starts with. Events travel through a ring (protocol/ring.h) in the traced machine's byte order.
#pragma once

#include <cstdint>
#include <type_traits>

namespace wicprof {

/// What a record is. Each event's header gives its number as `kKind`; numbers are never reused or changed, and the
/// store checks that no two are equal (store/format/event_tables.h). Readers skip kinds that they do not know by
/// EventHeader::size.
enum class EventKind : std::uint16_t {
  padding = 0,  ///< fills a ring up to its end; never delivered
};

struct EventHeader {
  EventKind kind = EventKind::padding;
  std::uint16_t size = 0;  ///< whole record in bytes, header included; a multiple of 8
  std::uint32_t reserved = 0;
};
static_assert(sizeof(EventHeader) == 8);

inline constexpr std::size_t kMaxEventSize = 4096;

/// Identifies a text that the same ring has carried before (events/text.h); 0 is no text.
using TextId = std::uint32_t;

/// The device of an event: the host, a CUDA device by ordinal, or a device of the CPU back end.
using DeviceId = std::int32_t;
inline constexpr DeviceId kHostDevice = -1;
inline constexpr DeviceId kSimtDeviceBase = 1000;
constexpr DeviceId cuda_device(int ordinal) { return ordinal; }
constexpr DeviceId simt_device(int ordinal) { return kSimtDeviceBase + ordinal; }

/// Identifies a wait site within a session; 0 is no site.
using SiteId = std::uint32_t;

/// Distinguishes the words that a site's waiters wait on: a hash of the address (wic/word_tag.h), so two words can
/// share a tag; 0 = not known.
using WordTag = std::uint16_t;

/// A default-constructed event with its header filled in.
template <class Event>
constexpr Event make_event() {
  static_assert(std::is_trivially_copyable_v<Event> && sizeof(Event) % 8 == 0 && sizeof(Event) <= kMaxEventSize);
  Event event{};
  event.header.kind = Event::kKind;
  event.header.size = sizeof(Event);
  return event;
}

}  // namespace wicprof
