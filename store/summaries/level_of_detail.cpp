#include "store/summaries/level_of_detail.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "store/summaries/lane_builder.h"
#include "store/summaries/lane_writer.h"
#include "store/summaries/row_source.h"
#include "store/summaries/survey.h"
#include "store/summaries/wait_states.h"
#include "store/summaries/walk.h"

namespace wicprof::store {

std::string create_summary_tables_sql(bool temporary) {
  const std::string create = temporary ? "CREATE TEMP TABLE " : "CREATE TABLE ";
  return create +
         "lane (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, process_id INTEGER, device_id INTEGER, context INTEGER, "
         "number INTEGER, domain_id INTEGER, row INTEGER NOT NULL, name_id INTEGER, events INTEGER NOT NULL, "
         "most INTEGER NOT NULL) STRICT;\n" +
         create +
         "lane_block (id INTEGER PRIMARY KEY, lane_id INTEGER NOT NULL, level INTEGER NOT NULL, number INTEGER NOT "
         "NULL, "
         "columns BLOB NOT NULL) STRICT;\n" +
         create +
         "lane_extent (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, origin_ns INTEGER NOT NULL, top_level INTEGER "
         "NOT NULL, lanes INTEGER NOT NULL, "
         "blocks INTEGER NOT NULL, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL) STRICT;\n" +
         create + "row_kind (id INTEGER PRIMARY KEY, rows INTEGER NOT NULL, short_ns INTEGER NOT NULL) STRICT;\n" +
         create +
         "long_row (id INTEGER PRIMARY KEY, kind_id INTEGER NOT NULL, row_id INTEGER NOT NULL, begin_ns INTEGER NOT "
         "NULL, "
         "end_ns INTEGER NOT NULL) STRICT;\n";
}

struct Summary::State {
  struct Kind {
    std::uint64_t rows = 0;
    TimeNs short_ns = 0;  // nearly all are no longer
  };
  PlausibleTimes times{};
  std::array<Kind, kRowKinds> kinds;
  TimeNs shown_begin = 0, traced_begin = 0, traced_end = 0;
  std::optional<LaneBuilder> builder;
};

Summary::Summary() : state_(std::make_unique<State>()) {}
Summary::Summary(Summary&&) noexcept = default;
Summary& Summary::operator=(Summary&&) noexcept = default;
Summary::~Summary() = default;

int Summary::read(Database& database, const SummaryWatch& watch) {
  RowSource source(database, watch);
  for (const LaneTable& table : kLaneTables)
    source.expected +=
        static_cast<std::uint64_t>(database.integer(std::string("SELECT count(*) FROM ") + table.name)) * 3;
  const Survey rows = survey_rows(source, PlausibleTimes::around(middle_of(database)));
  if (source.code() != 0) return source.code();
  state_->times = rows.times;
  for (std::size_t k = 0; k < kRowKinds; ++k) state_->kinds[k] = {rows.count[k], rows.lengths[k].nearly_all()};
  state_->shown_begin = rows.shown.begin;
  state_->traced_begin = rows.traced.begin;
  state_->traced_end = rows.traced.end;
  LaneBuilder& builder = state_->builder.emplace(rows.shown.begin, rows.shown.end);
  WaitStates states;
  source.each("SELECT id, pollers FROM site", [&](const Statement& row) {
    states.add_site(static_cast<SiteId>(row.integer(0)), static_cast<Pollers>(row.integer(1)));
  });
  walk_rows(source, rows.times, Pass::count, states, builder);
  if (source.code() != 0) return source.code();
  builder.split();
  walk_rows(source, rows.times, Pass::sum, states, builder);
  return source.code();
}

int Summary::write(Database& database, const SummaryWatch& watch) {
  RowSource source(database, watch);
  LaneBuilder& builder = *state_->builder;
  LaneWriter writer(source);
  const int code = builder.finish([&](const Lane& lane, const std::vector<LaneBlock>& blocks) {
    writer.put(lane, blocks);
    source.look();
    return source.code();
  });
  if (code != 0) return code;
  for (std::size_t k = 0; k < kRowKinds; ++k) {
    const LaneTable& table = kLaneTables[k];
    const State::Kind& kind = state_->kinds[k];
    const std::string id = std::to_string(k), begin = table.begin, end = table.end;
    source.execute("INSERT INTO row_kind (id, rows, short_ns) VALUES (" + id + ", " + std::to_string(kind.rows) + ", " +
                   std::to_string(kind.short_ns) + ")");
    source.execute("INSERT INTO long_row (kind_id, row_id, begin_ns, end_ns) SELECT " + id + ", id, " + begin + ", " +
                   end + " FROM " + table.name + " WHERE " + plausible_sql(begin, end, state_->times) + " AND " + end +
                   " - " + begin + " > " + std::to_string(kind.short_ns));
  }
  // Written last: its presence means that the summaries are complete.
  source.execute(
      "INSERT INTO lane_extent (id, version, origin_ns, top_level, lanes, blocks, begin_ns, end_ns) VALUES (1, " +
      std::to_string(kSummaryVersion) + ", " + std::to_string(state_->shown_begin) + ", " +
      std::to_string(builder.top()) + ", " + std::to_string(writer.lanes()) + ", " + std::to_string(writer.blocks()) +
      ", " + std::to_string(state_->traced_begin) + ", " + std::to_string(state_->traced_end) + ")");
  return source.code();
}

int summarise(Database& database, const SummaryWatch& watch) {
  Summary summary;
  const int code = summary.read(database, watch);
  return code == 0 ? summary.write(database, watch) : code;
}

}  // namespace wicprof::store
