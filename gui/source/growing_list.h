// A list that grows at its end and drops rows at its beginning. Copies share rows, so another thread can use a copy
// while the list grows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace wicprof::gui {

/// One thread at a time per list; copies are independent.
template <class Row>
class GrowingList {
 public:
  std::size_t size() const { return size_; }

  void add(std::vector<Row> rows) {
    if (rows.empty()) return;
    size_ += rows.size();
    // Joins small batches, so that the number of chunks stays small.
    if (!chunks_.empty() && chunks_.back()->size() + rows.size() <= kSmallChunk) {
      rows.insert(rows.begin(), chunks_.back()->begin(), chunks_.back()->end());
      chunks_.pop_back();
    }
    chunks_.push_back(std::make_shared<const std::vector<Row>>(std::move(rows)));
  }

  /// Drops the chunks that lie completely before the last `rows` rows; calls `on_drop(row)` for each dropped row.
  template <class OnDrop>
  void keep_last(std::size_t rows, const OnDrop& on_drop) {
    while (!chunks_.empty() && size_ - chunks_.front()->size() >= rows) {
      for (const Row& row : *chunks_.front()) on_drop(row);
      size_ -= chunks_.front()->size();
      chunks_.pop_front();
    }
  }

  /// The last `rows` rows, or all.
  std::vector<Row> last(std::size_t rows) const {
    std::vector<Row> to;
    to.reserve(std::min(rows, size_));
    std::size_t skip = size_ > rows ? size_ - rows : 0;
    for (const auto& chunk : chunks_) {
      const std::size_t skipped = std::min(skip, chunk->size());
      to.insert(to.end(), chunk->begin() + static_cast<std::ptrdiff_t>(skipped), chunk->end());
      skip -= skipped;
    }
    return to;
  }

 private:
  static constexpr std::size_t kSmallChunk = 1'000;
  std::deque<std::shared_ptr<const std::vector<Row>>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace wicprof::gui
