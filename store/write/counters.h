// The recorder's counters, which become the stat rows of the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "store/format/stat_list.h"

namespace wicprof::store {

struct Counter {
  Stat stat;
  std::string detail;
  std::int64_t value = 0;
  bool changed = true;  ///< since its row was last written
};

/// A counter exists once something was counted. Its index in all() never changes, and is the id of its row minus 1.
class Counters {
 public:
  void add(Stat stat, const std::string& detail, std::uint64_t count);
  void set(Stat stat, const std::string& detail, std::uint64_t value);
  /// The same from a total over the whole recording, of which earlier segments have their part.
  void set_total(Stat stat, const std::string& detail, std::uint64_t total);

  /// The counters of the recording's next segment: nothing is counted yet.
  Counters next_segment() const;

  std::vector<Counter>& all() { return all_; }
  bool changed() const;
  void mark_all_changed();
  void mark_written();

  /// Lost events by what lost them, 0 included, and their sum.
  std::map<Stat, std::uint64_t> losses() const;
  std::uint64_t lost() const;

 private:
  Counter& of(Stat stat, const std::string& detail);

  std::vector<Counter> all_;
  std::map<std::pair<Stat, std::string>, std::size_t> places_;
  std::map<std::pair<Stat, std::string>, std::uint64_t> totals_, earlier_;  // now; when the segment began
};

}  // namespace wicprof::store
