// A growing trace: fetches rows as they arrive, and shows the last part.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>

#include "analyzer/trace/trace_model.h"
#include "gui/source/growing_list.h"
#include "protocol/result.h"
#include "store/format/event_tables.h"
#include "store/read/reader.h"

namespace wicprof::gui {

template <class Tables>
struct GrowingListsOf;
template <class... Tables>
struct GrowingListsOf<std::tuple<Tables...>> {
  std::tuple<GrowingList<typename Tables::Row>...> lists;
  std::array<store::RowId, sizeof...(Tables)> newest{};  ///< the id of each list's newest row

  /// Calls `visit(Type<Table>(), list, newest)` for each.
  template <class Visit>
  void for_each(const Visit& visit) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (visit(store::Type<Tables>(), std::get<I>(lists), newest[I]), ...);
    }
    (std::index_sequence_for<Tables...>());
  }
  template <class Visit>
  void for_each(const Visit& visit) const {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (visit(store::Type<Tables>(), std::get<I>(lists), newest[I]), ...);
    }
    (std::index_sequence_for<Tables...>());
  }
};
/// The lists of a trace that grow without bound, in the order in which their rows arrived.
using GrowingLists = GrowingListsOf<store::GrowingTables>;

/// The contents at one moment. Cheap to copy, because copies share rows.
class LiveMoment {
 public:
  /// A model of the last `rows` rows of each list, or all, ordered by time. O(rows log rows). Any thread.
  analyzer::TraceModel model(std::size_t rows = ~std::size_t{0}) const;
  /// Waits, kernels and NVTX ranges that ended before this time were dropped; 0: none were.
  TimeNs known_from() const { return known_from_; }

 private:
  friend class LiveModel;
  std::shared_ptr<const analyzer::TraceModel> small_ =
      std::make_shared<const analyzer::TraceModel>();  // the other lists
  GrowingLists lists_;
  TimeNs known_from_ = 0;
};

/// One thread at a time.
class LiveModel {
 public:
  /// Fetches new rows. True: there were some.
  Result<bool> fetch(const store::Reader& reader);
  const LiveMoment& now() const { return now_; }
  bool longer_than(std::size_t rows) const;
  /// Drops all but about the last `rows` rows of each list, which bounds memory and the time of an analysis.
  void keep_recent(std::size_t rows);
  /// The number of changes of how the program waits.
  std::size_t interventions() const { return now_.small_->interventions.size(); }
  bool complete() const { return now_.small_->meta_value(store::MetaKey::state) == "complete"; }

 private:
  LiveMoment now_;
};

}  // namespace wicprof::gui
