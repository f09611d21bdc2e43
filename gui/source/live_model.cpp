#include "gui/source/live_model.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

namespace wicprof::gui {

using analyzer::TraceModel;

namespace {

/// Calls `visit(the list that grows, the model's list)` for each.
template <class Visit>
void for_each_pair(const Visit& visit) {
  visit(&GrowingLists::waits, &TraceModel::waits);
  visit(&GrowingLists::signals, &TraceModel::signals);
  visit(&GrowingLists::host_waits, &TraceModel::host_waits);
  visit(&GrowingLists::kernels, &TraceModel::kernels);
  visit(&GrowingLists::copies, &TraceModel::copies);
  visit(&GrowingLists::calls, &TraceModel::calls);
  visit(&GrowingLists::nvtx, &TraceModel::nvtx);
  visit(&GrowingLists::uvm, &TraceModel::uvm);
  visit(&GrowingLists::thread_samples, &TraceModel::thread_samples);
}

}  // namespace

TraceModel LiveMoment::model(std::size_t rows) const {
  TraceModel model = *small_;
  for_each_pair([&](auto from, auto to) { model.*to = (lists_.*from).last(rows); });
  analyzer::settle(model);
  return model;
}

/// Calls `visit(list, the newest row that is known, how a reader reads newer ones)` for each.
template <class Visit>
void LiveModel::for_each_list(const Visit& visit) {
  using store::Reader;
  visit(&GrowingLists::waits, &Seen::waits, &Reader::waits);
  visit(&GrowingLists::signals, &Seen::signals, &Reader::signals);
  visit(&GrowingLists::host_waits, &Seen::host_waits, &Reader::host_waits);
  visit(&GrowingLists::kernels, &Seen::kernels, &Reader::kernels);
  visit(&GrowingLists::copies, &Seen::copies, &Reader::copies);
  visit(&GrowingLists::calls, &Seen::calls, &Reader::calls);
  visit(&GrowingLists::nvtx, &Seen::nvtx, &Reader::nvtx);
  visit(&GrowingLists::uvm, &Seen::uvm, &Reader::uvm);
  visit(&GrowingLists::thread_samples, &Seen::thread_samples, &Reader::thread_samples);
}

Result<bool> LiveModel::fetch(const store::Reader& reader) {
  std::optional<Error> error;
  const auto take = [&](auto& to, auto got) {
    if (error) return;
    if (got) {
      to = *std::move(got);
    } else {
      error = got.error();
    }
  };
  auto small = std::make_shared<TraceModel>();
  take(small->meta, reader.meta());
  bool any = false;
  for_each_list([&](auto list, auto seen, auto read) {
    if (error) return;
    auto fresh = (reader.*read)(seen_.*seen);
    if (!fresh) {
      error = fresh.error();
      return;
    }
    for (const auto& row : *fresh) seen_.*seen = std::max(seen_.*seen, row.id);
    any = any || !fresh->empty();
    (now_.lists_.*list).add(*std::move(fresh));
  });
  take(small->processes, reader.processes());
  take(small->devices, reader.devices());
  take(small->sites, reader.sites());
  take(small->interventions, reader.interventions());
  take(small->choices, reader.choices());
  take(small->stats, reader.stats());
  if (error) return *error;
  any = any || small->interventions.size() != now_.small_->interventions.size();
  now_.small_ = std::move(small);
  return any;
}

bool LiveModel::longer_than(std::size_t rows) const {
  bool longer = false;
  for_each_list([&](auto list, auto, auto) { longer = longer || (now_.lists_.*list).size() > rows; });
  return longer;
}

void LiveModel::keep_recent(std::size_t rows) {
  for_each_list([&](auto list, auto, auto) {
    (now_.lists_.*list).keep_last(rows, [&](const auto& row) {
      if constexpr (requires { row.resumed; }) {
        now_.known_from_ = std::max(now_.known_from_, row.resumed);
      } else if constexpr (std::is_same_v<decltype(row), const store::HostWaitRow&>) {
        now_.known_from_ = std::max(now_.known_from_, row.end);
      }
    });
  });
}

}  // namespace wicprof::gui
