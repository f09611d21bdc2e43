#pragma once

#include "protocol/events/writer_candidate.h"
#include "store/format/column.h"

namespace wicprof::store {

struct WriterCandidateRow {
  RowId id;
  SiteId site;
  DeviceId device;
  std::optional<WordTag> word;
  std::string kernel;
  bool exact = false;  ///< it stores to the word's very address; else somewhere in the word's allocation
  std::uint32_t correlation = 0;
};

struct WriterCandidateTable {
  using Event = WriterCandidateEvent;
  using Row = WriterCandidateRow;
  struct List {
    std::vector<Row> writer_candidates;
  };
  static constexpr auto kRows = &List::writer_candidates;
  static constexpr const char* kName = "writer_candidate";
  static constexpr std::int64_t kSince = 8;
  static constexpr Columns kColumns{
      column::site("site_id", &Event::site, &Row::site),
      column::device("device_id", &Event::device, &Row::device),
      column::nullable("word_tag", &Event::word_tag, &Row::word),
      column::text("kernel_id", &Event::kernel, &Row::kernel),
      column::known("exact", &Event::exact, &Row::exact),
      column::known("correlation", &Event::correlation, &Row::correlation),
  };
};

}  // namespace wicprof::store
