// A trace that grows: rows are fetched as they come, and what is shown of it is its last part.
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

/// What was there at some moment. To have one is cheap, since it shares its rows.
class LiveMoment {
 public:
  /// The last `rows` rows of each list, or all, in order of time. Takes time with their number; any thread.
  analyzer::TraceModel model(std::size_t rows = ~std::size_t{0}) const;
  /// Waits that ended before are missing, since they were let go of; 0: none are.
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
  /// Fetches what has come since. True: there was something.
  Result<bool> fetch(const store::Reader& reader);
  const LiveMoment& now() const { return now_; }
  bool longer_than(std::size_t rows) const;
  /// Lets go of all but about the last `rows` rows of each list, so that memory and the time that an analysis takes
  /// stay bounded.
  void keep_recent(std::size_t rows);
  /// How often the way of waiting has changed.
  std::size_t interventions() const { return now_.small_->interventions.size(); }
  bool complete() const { return now_.small_->meta_value("state") == "complete"; }

 private:
  LiveMoment now_;
};

}  // namespace wicprof::gui
