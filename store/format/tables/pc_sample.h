#pragma once

#include "protocol/events/pc_sample.h"
#include "store/format/column.h"

namespace wicprof::store {

/// Read as sums over the whole run (Reader::pc_totals), since a long run has very many of these.
struct PcSampleTable {
  using Event = PcSampleEvent;
  static constexpr const char* kName = "pc_sample";
  static constexpr RowTime kTime{"begin_ns", "at_ns"};
  static constexpr Columns kColumns{
      column::device("device_id", &Event::device),   column::text("function_id", &Event::function),
      column::text("symbol_id", &Event::symbol),     column::known("module", &Event::module),
      column::known("pc_offset", &Event::pc_offset), column::known("begin_ns", &Event::begin_ns),
      column::known("at_ns", &Event::at_ns),         column::text("stall_reason_id", &Event::stall_reason),
      column::known("samples", &Event::samples),     column::text("file_id", &Event::file),
      column::nullable("line", &Event::line),
  };
};

}  // namespace wicprof::store
