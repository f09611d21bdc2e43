// What the summaries need to know of the trace's rows before they read them in order.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "store/format/plausible_times.h"
#include "store/summaries/lanes.h"
#include "store/summaries/row_source.h"

namespace wicprof::store {

struct Extent {
  bool any = false;
  TimeNs begin = 0, end = 0;
  void add(const Extent& other) {
    if (!other.any) return;
    begin = any ? std::min(begin, other.begin) : other.begin;
    end = any ? std::max(end, other.end) : other.end;
    any = true;
  }
};

/// Finds a bound that at least 63 of 64 lengths stay below.
class Lengths {
 public:
  void add(TimeNs length) { ++by_size_[std::bit_width(static_cast<std::uint64_t>(std::max<TimeNs>(length, 0)))]; }
  TimeNs nearly_all() const {
    std::uint64_t all = 0, longer = 0;
    for (const std::uint64_t count : by_size_) all += count;
    for (std::size_t size = by_size_.size() - 1; size > 0; --size) {
      longer += by_size_[size];
      if (longer > all / 64) return static_cast<TimeNs>((std::uint64_t{1} << std::min<std::size_t>(size, 62)) - 1);
    }
    return 0;
  }

 private:
  std::array<std::uint64_t, 65> by_size_{};
};

/// Facts about the trace's rows, known before the first pass.
struct Survey {
  PlausibleTimes times{};  // of the rows that lanes show
  std::array<Extent, kRowKinds> extents;
  std::array<Lengths, kRowKinds> lengths;
  std::array<std::uint64_t, kRowKinds> count{};
  Extent shown;   // of all rows
  Extent traced;  // as in analyzer::TraceModel
};

/// A condition of SQL: both times are plausible.
std::string plausible_sql(const std::string& begin, const std::string& end, const PlausibleTimes& times);

/// A time close to most of the trace: the median begin of some rows of the longest table, spread over its ids.
TimeNs middle_of(Database& database);

/// Reads every row once. Rows with times outside `times` are counted only.
Survey survey_rows(RowSource& source, const PlausibleTimes& times);

}  // namespace wicprof::store
