// The ring with a hostile producer, which writes anything to the shared memory before and during the reading, and with
// hostile positions on the producer's side.
#include "protocol/ring.h"

#include "protocol/events/wait.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/target.h"

namespace wicprof::fuzz {
namespace {

constexpr std::size_t kCapacity = 2 * kMaxEventSize;

// An empty ring in memory of exactly its size: AddressSanitizer sees every access beyond it.
RingHeader* empty_ring() {
  static void* const memory = std::aligned_alloc(64, ring_bytes(kCapacity));
  std::memset(memory, 0, ring_bytes(kCapacity));
  return make_ring(memory, kCapacity);
}

// Writes one number anywhere in the ring, most often to a place that decides something.
void damage(RingHeader* ring, Bytes& input) {
  const auto where = input.take<std::uint8_t>();
  const std::uint64_t number = input.number();
  switch (where & 7) {
    case 0:
      return ring->head.store(number);
    case 1:
      return ring->tail.store(number);
    case 2:
      return ring->head.store(ring->tail.load() + number % (kCapacity + 16));
    case 3:
      ring->capacity = number;
      return;
    default:
      break;
  }
  // Eight places per record's header, from the tail on.
  const std::uint64_t at = (ring->tail.load() / 8 + where / 8) * 8 % kCapacity;
  std::memcpy(ring->data + at, &number, sizeof number);
}

}  // namespace

void run(std::string_view text) {
  RingHeader* const ring = empty_ring();
  Bytes input(text);
  RingReader reader(ring, kCapacity);
  const std::uint64_t begin = input.number();
  ring->tail.store(begin);
  ring->head.store(begin);
  for (int round = 0; round < 3 && !input.empty(); ++round) {
    // The producer publishes some bytes, valid or not.
    const std::string_view records = input.text(input.take<std::uint8_t>() * 8u);
    std::uint64_t head = ring->tail.load();
    const std::size_t at = head % kCapacity, to_end = std::min(records.size(), kCapacity - at);
    if (to_end > 0) std::memcpy(ring->data + at, records.data(), to_end);
    if (records.size() > to_end) std::memcpy(ring->data, records.data() + to_end, records.size() - to_end);
    head += records.size();
    ring->head.store(head);
    for (int count = input.take<std::uint8_t>() & 3; count > 0; --count) damage(ring, input);
    const std::size_t bound = (input.take<std::uint8_t>() & 1) != 0 ? 64 : SIZE_MAX;
    std::size_t bytes = 0;
    reader.read(
        [&](const EventHeader& header) {
          require(header.size >= sizeof header && header.size % 8 == 0 && header.size <= kMaxEventSize,
                  "a delivered record has a possible length");
          // AddressSanitizer checks that all of the record can be read.
          static std::byte seen[kMaxEventSize];
          std::memcpy(seen, &header, header.size);
          if (const auto* event = event_cast<TextEvent>(header)) {
            const std::string_view words = text_of(*event);
            if (!words.empty()) std::memcpy(seen, words.data(), words.size());
          }
          if (const auto* event = event_cast<WaitEvent>(header)) std::memcpy(seen, event, sizeof *event);
          require(bytes < bound, "reading ends at the bound");
          bytes += header.size;
          if (!input.empty() && (input.rest().front() & 0x80) != 0) damage(ring, input);
        },
        bound);
    require(bytes <= kCapacity, "one reading delivers no more than a ring holds");
  }
  // A program that claims the ring now writes within it, and is read.
  for (int count = input.take<std::uint8_t>() & 3; count > 0; --count) damage(ring, input);
  ring->capacity = kCapacity;  // as claim_ring() stores it
  RingWriter writer(ring);
  writer.write(make_event<WaitEvent>());
  writer.write_text(1, input.rest());
  reader.read([](const EventHeader&) {});
}

std::vector<std::string> seeds() {
  std::string records;
  auto wait = make_event<WaitEvent>();
  append(records, wait);
  auto name = make_event<TextEvent>();
  name.length = 5;
  name.header.size = sizeof name + 8;
  append(records, name);
  records += std::string("hello\0\0\0", 8);
  append(records, wait);
  std::string one(1, '\0'), last(1, '\x60');
  one += static_cast<char>(records.size() / 8);
  one += records;
  one += std::string(2, '\0');
  append(last, static_cast<std::uint16_t>(kCapacity - 64));  // padding reaches the end
  EventHeader padding{EventKind::padding, 8, 0};
  last += '\x01';
  append(last, padding);
  last += std::string("\x01\x02\x0f\0", 4);
  return {one, one + one.substr(1), last, last + one.substr(1)};
}

}  // namespace wicprof::fuzz
