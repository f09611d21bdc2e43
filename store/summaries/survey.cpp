#include "store/summaries/survey.h"

#include <vector>

namespace wicprof::store {

namespace {

Extent traced_time(const std::array<Extent, kRowKinds>& of, const Extent& site_waits, const Extent& intervals) {
  const auto kind = [&](RowKind k) { return of[static_cast<std::size_t>(k)]; };
  Extent traced;
  for (const RowKind k : {RowKind::wait, RowKind::signal, RowKind::kernel, RowKind::copy}) traced.add(kind(k));
  traced.add(site_waits);
  if (traced.any) return traced;
  for (const RowKind k : {RowKind::host_wait, RowKind::call, RowKind::nvtx}) traced.add(kind(k));
  traced.add(intervals);
  return traced;
}

}  // namespace

TimeNs middle_of(Database& database) {
  constexpr std::int64_t kSamples = 65;
  std::int64_t most = 0;
  const LaneTable* longest = nullptr;
  for (const LaneTable& table : kLaneTables) {
    const std::int64_t count = database.integer(std::string("SELECT count(*) FROM ") + table.name);
    if (count > most) longest = &table;
    most = std::max(most, count);
  }
  if (longest == nullptr) return 0;
  const std::string table = longest->name;
  const std::int64_t first = database.integer("SELECT min(id) FROM " + table),
                     last = database.integer("SELECT max(id) FROM " + table);
  const std::uint64_t step = (static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first)) / kSamples;
  int code = 0;
  Statement at = database.prepare(
      std::string("SELECT ") + longest->begin + " FROM " + table + " WHERE id >= ? ORDER BY id LIMIT 1", code);
  std::vector<TimeNs> begins;
  for (std::int64_t i = 0; i < kSamples && code == 0; ++i) {
    at.bind(1, static_cast<std::int64_t>(static_cast<std::uint64_t>(first) + static_cast<std::uint64_t>(i) * step));
    if (at.next(code)) begins.push_back(at.integer(0));
    at.reset();
  }
  if (begins.empty()) return 0;
  const auto middle = begins.begin() + static_cast<std::ptrdiff_t>(begins.size() / 2);
  std::nth_element(begins.begin(), middle, begins.end());
  return *middle;
}

std::string plausible_sql(const std::string& begin, const std::string& end, const PlausibleTimes& times) {
  const std::string between = " BETWEEN " + std::to_string(times.from) + " AND " + std::to_string(times.upto);
  return begin + between + " AND " + end + between;
}

Survey survey_rows(RowSource& source, const PlausibleTimes& times) {
  Survey rows;
  rows.times = times;
  for (std::size_t k = 0; k < kRowKinds; ++k) {
    const LaneTable& table = kLaneTables[k];
    source.each(std::string("SELECT ") + table.begin + ", " + table.end + " FROM " + table.name,
                [&](const Statement& row) {
                  ++rows.count[k];
                  if (!times.has(row.integer(0), row.integer(1))) return;
                  const TimeNs begin = row.integer(0), end = std::max<TimeNs>(row.integer(1), begin);
                  rows.extents[k].add({true, begin, end});
                  rows.lengths[k].add(end - begin);
                });
    rows.shown.add(rows.extents[k]);
  }
  Extent site_waits, intervals;
  const auto bounds = [&](const std::string& sql, Extent& to) {
    source.each(sql, [&](const Statement& row) {
      if (!row.is_null(0)) to.add({true, row.integer(0), row.integer(1)});
    });
  };
  const std::string plausible = plausible_sql("begin_ns", "end_ns", times);
  bounds("SELECT min(begin_ns), max(end_ns) FROM host_wait WHERE site_id <> 0 AND " + plausible, site_waits);
  bounds("SELECT min(begin_ns), max(end_ns) FROM pc_interval WHERE " + plausible, intervals);
  rows.traced = traced_time(rows.extents, site_waits, intervals);
  return rows;
}

}  // namespace wicprof::store
