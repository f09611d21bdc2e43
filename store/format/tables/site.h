#pragma once

#include "protocol/events/site.h"
#include "store/format/column.h"

namespace wicprof::store {

struct SiteRow {
  SiteId id;
  std::string name;
  WordMemory word_memory;
  Pollers pollers;
  std::uint32_t words;
  SitePurpose purpose = SitePurpose::unknown;
  SiteEnd releasing = 0, waiting = 0;  ///< 0 = not known
  SiteSide side = SiteSide::unknown;
  std::string place = {};  ///< of a call: "FILE:LINE", "MODULE+0xOFFSET" or "NVTX range"; empty = not known
};

struct SiteTable {
  using Event = SiteEvent;
  using Row = SiteRow;
  struct List {
    std::vector<Row> sites;
  };
  static constexpr auto kRows = &List::sites;
  static constexpr const char* kName = "site";
  static constexpr Columns kColumns{

      column::site("id", &Event::site, &Row::id).of_type(kId),
      column::text("name_id", &Event::name, &Row::name),
      column::known("word_memory", &Event::word_memory, &Row::word_memory),
      column::known("pollers", &Event::pollers, &Row::pollers),
      column::known("words", &Event::words, &Row::words),
      column::known("purpose", &Event::purpose, &Row::purpose),
      column::nullable("releasing", &Event::releasing, &Row::releasing),
      column::nullable("waiting", &Event::waiting, &Row::waiting),
      column::nullable("side", &Event::side, &Row::side).since_version(7),
      column::text("place_id", &Event::place, &Row::place).since_version(7),
  };
};

}  // namespace wicprof::store
