#include "store/summaries/overview.h"

#include <utility>

#include "store/format/plausible_times.h"
#include "store/sqlite/text_table.h"

namespace wicprof::store {

Error Overview::damaged(const std::string& why) const {
  return bad_input(path_ + " is damaged (its summaries: " + why + "); copy it again, or record again");
}

Result<Overview> Overview::open(Database database, const std::string& path, const SummaryWatch& watch) {
  Overview overview;
  overview.database_ = std::move(database);
  overview.path_ = path;
  Database& from = overview.database_;
  overview.kept_ =
      from.integer("SELECT count(*) FROM lane_extent WHERE version = " + std::to_string(kSummaryVersion), 0) == 1;
  if (!overview.kept_) {
    int code = from.execute(create_summary_tables_sql(true));
    if (code == 0) code = from.execute("BEGIN");
    if (code == 0) code = summarise(from, watch);
    if (code == 0) code = from.execute("COMMIT");
    if (code == -1) return unavailable("summarising " + path + " was cancelled");
    if (code != 0) return overview.damaged(from.message());
  }
  if (const Result<> loaded = overview.load(); !loaded) return loaded.error();
  return Result<Overview>(std::move(overview));
}

Result<> Overview::load() {
  int code = 0;
  std::int64_t lanes = 0, blocks = 0, found = 0;
  const auto each = [&](const char* sql, auto take) {
    if (code != 0) return;
    Statement statement = database_.prepare(sql, code);
    while (code == 0 && statement.next(code)) take(statement);
  };
  each("SELECT origin_ns, top_level, lanes, blocks, begin_ns, end_ns FROM lane_extent WHERE id = 1",
       [&](const Statement& row) {
         origin_ = row.integer(0);
         top_level_ = static_cast<int>(row.integer(1));
         lanes = row.integer(2);
         blocks = row.integer(3);
         begin_ = row.integer(4);
         end_ = row.integer(5);
       });
  each(
      "SELECT t.id, t.kind, t.process_id, t.device_id, t.context, t.number, d.value, t.row, n.value, t.events, t.most "
      "FROM lane t "
      "LEFT JOIN string d ON d.id = t.domain_id LEFT JOIN string n ON n.id = t.name_id ORDER BY t.id",
      [&](const Statement& row) {
        Lane lane;
        lane.id = static_cast<std::uint32_t>(row.integer(0));
        lane.track = {static_cast<LaneKind>(row.integer(1)),      static_cast<ProcessId>(row.integer(2)),
                      static_cast<DeviceId>(row.integer(3)),      static_cast<std::uint32_t>(row.integer(4)),
                      static_cast<std::uint32_t>(row.integer(5)), clipped(row.text(6))};
        lane.row = static_cast<std::uint32_t>(row.integer(7));
        lane.name = clipped(row.text(8));
        lane.events = static_cast<std::uint64_t>(row.integer(9));
        lane.most = static_cast<std::uint32_t>(row.integer(10));
        lanes_.push_back(std::move(lane));
      });
  each("SELECT id, lane_id, level, number FROM lane_block", [&](const Statement& row) {
    blocks_[static_cast<std::uint32_t>(row.integer(1))][{static_cast<int>(row.integer(2)), row.integer(3)}] =
        row.integer(0);
    ++found;
  });
  each("SELECT id, rows, short_ns FROM row_kind", [&](const Statement& row) {
    const auto kind = static_cast<std::size_t>(row.integer(0));
    if (kind < kRowKinds) kinds_[kind] = {static_cast<std::uint64_t>(row.integer(1)), row.integer(2)};
  });
  if (code != 0) return damaged(database_.message());
  if (top_level_ < 0 || top_level_ > 26) return damaged("an invalid level");
  if (!is_sane(origin_) || !is_sane(begin_) || !is_sane(end_)) return damaged("an impossible time");
  if (static_cast<std::int64_t>(lanes_.size()) != lanes || found != blocks)
    return damaged(std::to_string(found) + " of " + std::to_string(blocks) + " blocks are present");
  for (const Lane& lane : lanes_) {
    if (!blocks_[lane.id].contains({top_level_, 0})) return damaged("a lane without its first block");
  }
  return ok();
}

std::uint64_t Overview::rows() const {
  std::uint64_t all = 0;
  for (const Kind& kind : kinds_) all += kind.rows;
  return all;
}

Result<std::vector<LaneBlock>> Overview::cover(std::uint32_t lane, TimeNs begin, TimeNs end, int level) const {
  std::vector<LaneBlock> list;
  const auto found = blocks_.find(lane);
  if (found == blocks_.end()) return list;
  const auto& blocks = found->second;
  int code = 0;
  Statement statement = database_.prepare("SELECT columns FROM lane_block WHERE id = ?", code);
  if (code != 0) return damaged(database_.message());
  // Depth first from the top level, left to right.
  std::vector<std::pair<int, std::int64_t>> open{{top_level_, 0}};
  while (!open.empty()) {
    const auto [at, number] = open.back();
    open.pop_back();
    const TimeNs from = origin_ + number * block_width(at);
    if (from >= end || from + block_width(at) <= begin) continue;
    if (at > level && blocks.contains({at - 1, number * 4})) {
      for (int child = 3; child >= 0; --child) open.emplace_back(at - 1, number * 4 + child);
      continue;
    }
    const auto block = blocks.find({at, number});
    if (block == blocks.end()) return damaged("a block is missing");
    statement.bind(1, block->second);
    if (!statement.next(code)) return damaged(database_.message());
    Result<LaneBlock> unpacked = unpack_block(statement.bytes(0), at, number);
    if (!unpacked) return damaged(unpacked.error().message);
    list.push_back(*std::move(unpacked));
    statement.reset();
  }
  return list;
}

Result<RowRange> Overview::range(TimeNs begin, TimeNs end) const {
  RowRange range{begin, end, {}};
  for (std::size_t k = 0; k < kRowKinds; ++k) range.kinds[k].short_ns = kinds_[k].short_ns;
  int code = 0;
  Statement statement =
      database_.prepare("SELECT kind_id, row_id FROM long_row WHERE begin_ns < ? AND end_ns >= ?", code);
  if (code != 0) return damaged(database_.message());
  statement.bind(1, end);
  statement.bind(2, begin);
  while (statement.next(code)) {
    const auto kind = static_cast<std::size_t>(statement.integer(0));
    if (kind < kRowKinds) range.kinds[kind].named.push_back(statement.integer(1));
  }
  if (code != 0) return damaged(database_.message());
  return range;
}

}  // namespace wicprof::store
