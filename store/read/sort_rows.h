// Sorts rows by a time. The rows are nearly in order, and may be very many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "protocol/time.h"
#include "store/format/row_list.h"

namespace wicprof::store {

/// Stable. Moves rows that are a few places out of order; where that would take long, sorts keys instead of rows, so
/// that little additional memory is needed.
template <class Row, class Key>
void sort_rows(std::vector<Row>& rows, Key key) {
  std::size_t moves = 0;
  const std::size_t most = 16 * rows.size();
  std::size_t i = 1;
  for (; i < rows.size() && moves <= most; ++i) {
    if (!(key(rows[i]) < key(rows[i - 1]))) continue;
    Row row = std::move(rows[i]);
    const auto time = key(row);
    std::size_t to = i;
    for (; to > 0 && time < key(rows[to - 1]); --to) rows[to] = std::move(rows[to - 1]);
    rows[to] = std::move(row);
    moves += i - to;
  }
  if (i >= rows.size()) return;

  std::vector<std::pair<std::int64_t, std::size_t>> order;
  order.reserve(rows.size());
  for (std::size_t from = 0; from < rows.size(); ++from)
    order.emplace_back(static_cast<std::int64_t>(key(rows[from])), from);
  std::sort(order.begin(), order.end());
  // Each cycle of the permutation moves its rows by one; a finished place points at itself.
  for (std::size_t start = 0; start < rows.size(); ++start) {
    if (order[start].second == start) continue;
    Row first = std::move(rows[start]);
    std::size_t to = start;
    for (std::size_t from = order[to].second; from != start; from = order[to].second) {
      rows[to] = std::move(rows[from]);
      order[to].second = to;
      to = from;
    }
    rows[to] = std::move(first);
    order[to].second = to;
  }
}

/// The time by which a table's rows are sorted; an unknown one counts as 0.
template <class Table>
TimeNs sort_key(const typename Table::Row& row) {
  if constexpr (requires { (row.*Table::kSortedBy).value_or(0); }) {
    return (row.*Table::kSortedBy).value_or(0);
  } else {
    return row.*Table::kSortedBy;
  }
}

/// Leaves rows of a table without a time in the order of their ids.
template <class Table>
void sort_by_time(std::vector<typename Table::Row>& rows) {
  if constexpr (requires { Table::kSortedBy; }) sort_rows(rows, sort_key<Table>);
}
template <class Table>
void sort_by_time(RowList<typename Table::Row, Table>& rows) {
  rows.sort(sort_key<Table>);
}

/// Makes a list of the rows that a query gives.
template <class Rows>
class RowSink {
 public:
  /// For the caller to fill.
  typename Rows::value_type& next() { return rows_.emplace_back(); }
  /// The rows of `other` follow.
  void add(RowSink other) {
    rows_.insert(rows_.end(), std::make_move_iterator(other.rows_.begin()), std::make_move_iterator(other.rows_.end()));
  }
  Rows take() { return std::move(rows_); }

 private:
  Rows rows_;
};

/// Rows that come nearly in order of time are sorted on their way into a list that is kept by columns.
template <class Row, class Table>
class RowSink<RowList<Row, Table>> {
 public:
  Row& next() {
    if (window_.size() == 2 * kWindow) flush(kWindow);
    return window_.emplace_back();
  }
  /// The rows of `other` follow. After a whole number of blocks of rows, only those of the first blocks, which may
  /// belong before rows of this list, are added one by one.
  void add(RowSink other) {
    other.flush(other.window_.size());
    const std::size_t rows = other.list_.size();
    const bool aligned = (list_.size() + window_.size()) % kBlockRows == 0;
    const std::size_t single = aligned ? std::min(rows, 2 * kWindow) : rows;
    for (std::size_t i = 0; i < single; ++i) next() = other.list_[i];
    if (single == rows) return;
    flush(window_.size());
    if (!other.in_order_ || sort_key<Table>(other.list_[single]) < last_) in_order_ = false;
    last_ = other.last_;
    list_.append_blocks(std::move(other.list_), single / kBlockRows);
  }
  RowList<Row, Table> take() {
    flush(window_.size());
    window_ = {};
    list_.close();
    if (!in_order_) list_.sort(sort_key<Table>);
    return std::move(list_);
  }

 private:
  static constexpr std::size_t kWindow = 4 * kBlockRows;

  void flush(std::size_t count) {
    sort_rows(window_, sort_key<Table>);
    for (std::size_t i = 0; i < count; ++i) {
      const TimeNs time = sort_key<Table>(window_[i]);
      if (!list_.empty() && time < last_) in_order_ = false;
      last_ = time;
      list_.push_back(window_[i]);
    }
    window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(count));
  }

  std::vector<Row> window_;
  RowList<Row, Table> list_;
  bool in_order_ = true;
  TimeNs last_ = 0;
};

}  // namespace wicprof::store
