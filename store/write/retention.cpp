#include "store/write/retention.h"

#include <algorithm>

namespace wicprof::store {

namespace {

constexpr TimeNs kInterval = kSecond;

/// fn(index in EventTables, table, begin column, end column) -> SQLite's code, for each table that can be cut. Stops at
/// the first failure, and returns it.
template <class Fn>
int each_table(Fn&& fn) {
  std::size_t index = 0;
  int code = 0;
  for_each_table<EventTables>([&]<class Table>(Type<Table>) {
    const std::size_t i = index++;
    if constexpr (has_time<Table>()) {
      if (code == 0)
        code = fn(i, std::string(Table::kName), std::string(Table::kTime.begin), std::string(Table::kTime.end));
    }
  });
  return code;
}

// SQL that is true for a row that overlaps no window of capture_window; the windows are disjoint. `keeps_unknown`: a
// row whose times are unknown counts as inside.
std::string in_no_window(const std::string& table, const std::string& begin, const std::string& end,
                         bool keeps_unknown) {
  return "iif(" + table + "." + begin + " IS NULL OR " + table + "." + end + " IS NULL, " +
         (keeps_unknown ? "0" : "1") +
         ", NOT ifnull((SELECT w.end_ns FROM temp.capture_window w WHERE w.begin_ns <= " + table + "." + end +
         " ORDER BY w.begin_ns DESC LIMIT 1) >= " + table + "." + begin + ", 0))";
}

}  // namespace

bool Retention::wanted(const std::string& name, const std::string& domain) const {
  return std::any_of(plan_.ranges.begin(), plan_.ranges.end(), [&](const RangeName& range) {
    return range.name == name && (!range.domain || *range.domain == domain);
  });
}

void Retention::range_opened(std::size_t producer, std::uint32_t thread, const std::string& name,
                             const std::string& domain, TimeNs start) {
  if (wanted(name, domain)) ++open_[{{producer, thread, name, domain}, start}];
}

void Retention::range_ended(std::size_t producer, std::uint32_t thread, const std::string& name,
                            const std::string& domain, TimeNs start, TimeNs end) {
  if (!wanted(name, domain)) return;
  const auto open = open_.find({{producer, thread, name, domain}, start});
  if (open != open_.end() && --open->second == 0) open_.erase(open);
  add_window(start, end);
}

void Retention::forget_producer(std::size_t producer, TimeNs now) {
  std::erase_if(open_, [&](const auto& entry) {
    const auto& [range, start] = entry.first;
    if (range.producer != producer) return false;
    add_window(start, std::max(start, now));
    return true;
  });
}

void Retention::add_window(TimeNs start, TimeNs end) {
  windows_.emplace_back(start, end);
  if (windows_.size() < merge_at_) return;
  windows_ = merge(std::move(windows_));
  merge_at_ = std::max(kMergeFrom, 2 * windows_.size());
}

// Oldest first and disjoint.
std::vector<Retention::Window> Retention::merge(std::vector<Window> all) {
  std::sort(all.begin(), all.end());
  std::vector<Window> result;
  for (const Window& window : all) {
    if (!result.empty() && window.first <= result.back().second) {
      result.back().second = std::max(result.back().second, window.second);
    } else {
      result.push_back(window);
    }
  }
  return result;
}

// The ranges' windows, oldest first and disjoint; an open range has no end yet.
std::vector<Retention::Window> Retention::merged() const {
  std::vector<Window> all = windows_;
  for (const auto& [range, count] : open_) all.emplace_back(range.second, std::numeric_limits<TimeNs>::max());
  return merge(std::move(all));
}

// Whether what came from `begin` to `end` may be of a window: it may come late by as much as a range.
bool Retention::near_window(TimeNs begin, TimeNs end) const {
  const std::vector<Window> all = merged();
  return std::any_of(all.begin(), all.end(), [&](const Window& window) {
    return window.first <= end && window.second >= begin - plan_.range_patience;
  });
}

// Writes the windows that can overlap rows after decided_ids_ and up to `last` to the database.
int Retention::put_windows(Writer& writer, const Ids& last) const {
  TimeNs first = std::numeric_limits<TimeNs>::max();
  const std::string never = std::to_string(first);
  each_table([&](std::size_t i, const std::string& table, const std::string& begin, const auto&) {
    const std::string rows = " WHERE id > " + std::to_string(decided_ids_[i]) + " AND id <= " + std::to_string(last[i]);
    first = std::min(first, writer.integer("SELECT ifnull(min(" + begin + "), " + never + ") FROM " + table + rows,
                                           std::numeric_limits<TimeNs>::max()));
    return 0;
  });
  int code = writer.run(
      "CREATE TEMP TABLE IF NOT EXISTS capture_window (begin_ns INTEGER PRIMARY KEY, end_ns INTEGER NOT NULL);"
      "DELETE FROM temp.capture_window");
  for (const auto& [begin, end] : merged()) {
    if (code != 0) break;
    if (end < first) continue;
    code = writer.run("INSERT INTO temp.capture_window VALUES (" + std::to_string(begin) + ", " + std::to_string(end) +
                      ")");
  }
  return code;
}

// Forgets the oldest sixteenth of what the rows cover if they take too much: returns the ids up to which they go.
const Retention::Ids* Retention::shorten(Writer& writer) {
  const auto seconds = static_cast<std::ptrdiff_t>(newest_ids_.size());
  if (plan_.keep_bytes == 0 || seconds < 2 || writer.used_bytes() <= plan_.keep_bytes) return nullptr;
  newest_ids_.erase(newest_ids_.begin(), newest_ids_.begin() + 1 + seconds / 16);
  shortened_to_ = newest_ids_.front().first;
  return &newest_ids_.front().second;
}

int Retention::remove_some(Writer& writer, TimeNs now, std::uint64_t& removed) {
  next_ = now + kInterval;
  Ids newest{};
  int code = each_table([&](std::size_t i, const std::string& table, const auto&, const auto&) {
    newest[i] = writer.integer("SELECT ifnull(max(id), 0) FROM " + table);
    return 0;
  });
  newest_ids_.emplace_back(now, newest);

  // The last entry by that time; nullptr for times before the first.
  const auto by = [&](TimeNs time) -> const std::pair<TimeNs, Ids>* {
    const std::pair<TimeNs, Ids>* found = nullptr;
    for (const auto& entry : newest_ids_) {
      if (entry.first <= time) found = &entry;
    }
    return found;
  };
  const Ids* const too_many = plan_.keep_last != 0 ? shorten(writer) : nullptr;
  const auto* const too_old = plan_.keep_last != 0 ? by(now - plan_.keep_last) : nullptr;
  // The newest row of a table always stays: otherwise ids would restart.
  if (const Ids* old = too_old != nullptr ? &too_old->second : too_many; old != nullptr && code == 0) {
    code = each_table([&](std::size_t i, const std::string& table, const auto&, const auto&) {
      if ((*old)[i] == 0) return 0;
      return writer.remove(
          "DELETE FROM " + table + " WHERE id <= " + std::to_string(std::min((*old)[i], newest[i] - 1)), removed);
    });
  }
  if (const auto* old = !plan_.ranges.empty() ? by(now - plan_.range_patience) : nullptr; old != nullptr && code == 0) {
    const bool keeps_unknown = near_window(decided_at_, old->first);
    decided_at_ = old->first;
    code = put_windows(writer, newest);
    if (code == 0) {
      code = each_table([&](std::size_t i, const std::string& table, const std::string& begin, const std::string& end) {
        const std::int64_t last = std::min(old->second[i], newest[i] - 1);
        if (last <= decided_ids_[i]) return 0;
        const int done = writer.remove("DELETE FROM " + table + " WHERE id > " + std::to_string(decided_ids_[i]) +
                                           " AND id <= " + std::to_string(last) + " AND " +
                                           in_no_window(table, begin, end, keeps_unknown),
                                       removed);
        decided_ids_[i] = last;
        return done;
      });
    }
  }
  // Only the latest entry that is old enough for both rules is needed again.
  const TimeNs oldest = now - std::max(plan_.keep_last, plan_.ranges.empty() ? 0 : plan_.range_patience);
  while (newest_ids_.size() > 1 && newest_ids_[1].first <= oldest) newest_ids_.pop_front();
  return code;
}

int Retention::remove_rest(Writer& writer, TimeNs end, std::uint64_t& removed) {
  int code = 0;
  if (!plan_.ranges.empty()) {
    Ids all;
    all.fill(std::numeric_limits<std::int64_t>::max());
    code = put_windows(writer, all);
    if (code == 0) {
      code =
          each_table([&](std::size_t i, const std::string& table, const std::string& begin, const std::string& finish) {
            return writer.remove("DELETE FROM " + table + " WHERE id > " + std::to_string(decided_ids_[i]) + " AND " +
                                     in_no_window(table, begin, finish, true),
                                 removed);
          });
    }
  }
  if (plan_.keep_last != 0 && code == 0) {
    const std::string from = std::to_string(kept_from(end));
    code = each_table([&](std::size_t, const std::string& table, const auto&, const std::string& finish) {
      return writer.remove("DELETE FROM " + table + " WHERE " + finish + " < " + from, removed);
    });
  }
  return code;
}

}  // namespace wicprof::store
