#pragma once

#include "protocol/events/nvtx.h"
#include "store/format/column.h"

namespace wicprof::store {

struct NvtxRow {
  RowId id;
  NvtxKind kind;
  Name name, domain;
  std::uint32_t thread;
  TimeNs start, end;
  ProcessId process = 0;
};

struct NvtxTable {
  using Event = NvtxEvent;
  using Row = NvtxRow;
  struct List {
    std::vector<Row> nvtx;
  };
  static constexpr auto kRows = &List::nvtx;
  static constexpr auto kSortedBy = &Row::start;
  static constexpr const char* kName = "nvtx";
  static constexpr RowTime kTime{"start_ns", "end_ns"};
  static constexpr Columns kColumns{

      column::known("kind", &Event::kind, &Row::kind),
      column::text("name_id", &Event::name, &Row::name),
      column::text("domain_id", &Event::domain, &Row::domain),
      column::known("thread", &Event::thread, &Row::thread),
      column::known("start_ns", &Event::start_ns, &Row::start),
      column::known("end_ns", &Event::end_ns, &Row::end),
      column::known_if("colour", &Event::has_colour, &Event::colour),
      column::nullable("category", &Event::category),
  };
};

}  // namespace wicprof::store
