#pragma once

#include "protocol/events/polled_word.h"
#include "store/format/column.h"

namespace wicprof::store {

struct PolledWordRow {
  RowId id;
  SiteId site;
  DeviceId device;
  std::optional<WordTag> word;
  std::optional<std::uint64_t> address;  ///< empty: the loop's code does not show its word
  WordMemory memory = WordMemory::unknown;
  WantedRelation relation = WantedRelation::unknown;
  std::optional<std::uint64_t> wanted, mask;  ///< with a known relation
};

struct PolledWordTable {
  using Event = PolledWordEvent;
  using Row = PolledWordRow;
  struct List {
    std::vector<Row> polled_words;
  };
  static constexpr auto kRows = &List::polled_words;
  static constexpr const char* kName = "polled_word";
  static constexpr std::int64_t kSince = 8;
  static constexpr Columns kColumns{
      column::site("site_id", &Event::site, &Row::site),
      column::device("device_id", &Event::device, &Row::device),
      column::nullable("word_tag", &Event::word_tag, &Row::word),
      column::nullable("address", &Event::address, &Row::address),
      column::known("memory", &Event::memory, &Row::memory),
      column::known("relation", &Event::relation, &Row::relation),
      column::known_if("wanted", &Event::relation, &Event::wanted, &Row::wanted),
      column::known_if("mask", &Event::relation, &Event::mask, &Row::mask),
  };
};

}  // namespace wicprof::store
