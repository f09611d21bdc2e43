// An input as a script of what the rings bring to a recorder: records of every kind with any contents.
#pragma once

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>

#include "store/format/event_tables.h"
#include "store/write/recorder.h"
#include "tests/fuzz/bytes.h"

namespace wicprof::fuzz {

struct RecordKind {
  EventKind kind{};
  std::size_t bytes = 0;
};

namespace record_script {

template <class... Tables, class... Rowless>
constexpr auto kinds_of(const std::tuple<Tables...>*, const std::tuple<Rowless...>*) {
  return std::array{RecordKind{Tables::Event::kKind, sizeof(typename Tables::Event)}...,
                    RecordKind{Rowless::kKind, sizeof(Rowless)}...};
}

}  // namespace record_script

inline constexpr auto kRecordKinds = record_script::kinds_of(static_cast<const store::EventTables*>(nullptr),
                                                             static_cast<const store::RowlessEvents*>(nullptr));

enum class Step : std::uint8_t { text, odd_record, forget_ring, ring_process, tick, dropped, count };

/// Plays the script until its end.
inline void play(Bytes& input, store::Recorder& recorder) {
  alignas(8) std::byte record[kMaxEventSize];
  while (!input.empty()) {
    const auto what = input.take<std::uint8_t>();
    const std::size_t ring = what >> 6;
    const std::size_t step = (what & 63) % (kRecordKinds.size() + static_cast<std::size_t>(Step::count));
    EventHeader header;
    std::memset(record, 0, sizeof record);
    if (step < kRecordKinds.size()) {
      header.kind = kRecordKinds[step].kind;
      header.size = static_cast<std::uint16_t>(kRecordKinds[step].bytes);
    } else {
      switch (static_cast<Step>(step - kRecordKinds.size())) {
        case Step::text: {
          auto event = make_event<TextEvent>();
          event.id = input.take<std::uint8_t>();
          const std::string_view text = input.text(input.take<std::uint8_t>());
          event.length = static_cast<std::uint32_t>(text.size());
          event.header.size = static_cast<std::uint16_t>(sizeof event + (text.size() + 7) / 8 * 8);
          std::memcpy(record, &event, sizeof event);
          if (!text.empty()) std::memcpy(record + sizeof event, text.data(), text.size());
          recorder.add(ring, *reinterpret_cast<const EventHeader*>(record));
          continue;
        }
        case Step::odd_record:  // any kind and length that a ring delivers
          header.kind = static_cast<EventKind>(input.take<std::uint16_t>() % 64);
          header.size = static_cast<std::uint16_t>(8 + input.take<std::uint16_t>() % (kMaxEventSize / 8) * 8);
          break;
        case Step::forget_ring:
          recorder.forget_ring(ring);
          continue;
        case Step::ring_process:
          recorder.set_ring_process(ring, static_cast<std::uint32_t>(input.number()));
          continue;
        case Step::tick:
          recorder.tick();
          continue;
        case Step::dropped: {
          const std::uint64_t dropped = input.number();
          recorder.set_ring_dropped(ring, dropped, input.number());
          continue;
        }
        case Step::count:
          continue;
      }
    }
    std::memcpy(record, &header, sizeof header);
    // Zeros, and some numbers: half of them four bytes wide, half of them eight.
    for (int count = input.take<std::uint8_t>() & 31; count > 0; --count) {
      const auto where = input.take<std::uint8_t>();
      const std::uint64_t number = input.number();
      const std::size_t words = header.size / 4u - 2;
      if (words < 2) continue;
      const std::size_t at = 8 + (where & 0x7f) % (words - 1) * 4;
      std::memcpy(record + at, &number, (where & 0x80) != 0 ? 8 : 4);
    }
    recorder.add(ring, *reinterpret_cast<const EventHeader*>(record));
  }
}

/// The step that brings this event.
template <class Event>
std::string step_of(const Event& event, std::size_t ring = 0) {
  std::string step, words;
  std::size_t kind = 0, count = 0;
  while (kRecordKinds[kind].kind != Event::kKind) ++kind;
  for (std::size_t at = 8; at < sizeof event; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const std::byte*>(&event) + at, sizeof word);
    if (word == 0) continue;
    words += static_cast<char>(0x80 | ((at - 8) / 4));
    words += static_cast<char>(0xe0);
    append(words, word);
    ++count;
  }
  step += static_cast<char>(ring << 6 | kind);
  step += static_cast<char>(count);
  return step + words;
}

inline std::string step_of_text(std::uint8_t id, const std::string& text, std::size_t ring = 0) {
  std::string step;
  step += static_cast<char>(ring << 6 | (kRecordKinds.size() + static_cast<std::size_t>(Step::text)));
  step += static_cast<char>(id);
  step += static_cast<char>(text.size());
  return step + text;
}

static_assert(kRecordKinds.size() + static_cast<std::size_t>(Step::count) <= 64, "a step and a ring fit one byte");

}  // namespace wicprof::fuzz
