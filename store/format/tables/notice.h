#pragma once

#include "protocol/events/notice.h"
#include "store/format/column.h"

namespace wicprof::store {

struct NoticeRow {
  RowId id = 0;
  NoticeSeverity severity = NoticeSeverity::info;
  std::string text;
  TimeNs at = 0;
  ProcessId process = 0;
};

struct NoticeTable {
  using Event = NoticeEvent;
  using Row = NoticeRow;
  struct List {
    std::vector<Row> notices;
  };
  static constexpr auto kRows = &List::notices;
  static constexpr auto kSortedBy = &Row::at;
  static constexpr const char* kName = "notice";
  static constexpr std::int64_t kSince = 5;
  static constexpr const char* kLasting = "0";
  static constexpr Columns kColumns{
      column::known("severity", &Event::severity, &Row::severity),
      column::text("text_id", &Event::text, &Row::text),
      column::known("at_ns", &Event::at_ns, &Row::at),
  };
};

}  // namespace wicprof::store
