// A list that grows at its end and is let go of at its beginning. Copies share their rows, so that one can be handed to
// another thread while the list goes on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace wicprof::gui {

/// One thread at a time; copies are each their own.
template <class Row>
class GrowingList {
 public:
  std::size_t size() const { return size_; }

  void add(std::vector<Row> rows) {
    if (rows.empty()) return;
    size_ += rows.size();
    // Few at a time would make as many pieces as there were times.
    if (!pieces_.empty() && pieces_.back()->size() + rows.size() <= kSmallPiece) {
      rows.insert(rows.begin(), pieces_.back()->begin(), pieces_.back()->end());
      pieces_.pop_back();
    }
    pieces_.push_back(std::make_shared<const std::vector<Row>>(std::move(rows)));
  }

  /// Lets go of what is beyond the last `rows`, as far as whole pieces are; calls `see_off(row)` for each.
  template <class SeeOff>
  void keep_last(std::size_t rows, const SeeOff& see_off) {
    while (!pieces_.empty() && size_ - pieces_.front()->size() >= rows) {
      for (const Row& row : *pieces_.front()) see_off(row);
      size_ -= pieces_.front()->size();
      pieces_.pop_front();
    }
  }

  /// The last `rows`, or all.
  std::vector<Row> last(std::size_t rows) const {
    std::vector<Row> to;
    to.reserve(std::min(rows, size_));
    std::size_t skip = size_ > rows ? size_ - rows : 0;
    for (const auto& piece : pieces_) {
      const std::size_t here = std::min(skip, piece->size());
      to.insert(to.end(), piece->begin() + static_cast<std::ptrdiff_t>(here), piece->end());
      skip -= here;
    }
    return to;
  }

 private:
  static constexpr std::size_t kSmallPiece = 1'000;
  std::deque<std::shared_ptr<const std::vector<Row>>> pieces_;
  std::size_t size_ = 0;
};

}  // namespace wicprof::gui
