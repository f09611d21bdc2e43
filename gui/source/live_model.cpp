#include "gui/source/live_model.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

namespace wicprof::gui {

using analyzer::TraceModel;

TraceModel LiveMoment::model(std::size_t rows) const {
  TraceModel model = *small_;
  lists_.for_each(
      [&]<class Table>(store::Type<Table>, const auto& list, auto) { model.*Table::kRows = list.last(rows); });
  analyzer::settle(model);
  return model;
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
  now_.lists_.for_each([&]<class Table>(store::Type<Table>, auto& list, store::RowId& newest) {
    if (error) return;
    auto fresh = reader.rows<Table>(newest);
    if (!fresh) {
      error = fresh.error();
      return;
    }
    for (const auto& row : *fresh) newest = std::max(newest, row.id);
    any = any || !fresh->empty();
    list.add({fresh->begin(), fresh->end()});
  });
  store::for_each_table<store::DeclarationTables>(
      [&]<class Table>(store::Type<Table>) { take(*small.*Table::kRows, reader.rows<Table>()); });
  take(small->stats, reader.stats());
  if (error) return *error;
  any = any || small->interventions.size() != now_.small_->interventions.size();
  now_.small_ = std::move(small);
  return any;
}

bool LiveModel::longer_than(std::size_t rows) const {
  bool longer = false;
  now_.lists_.for_each([&](auto, const auto& list, auto) { longer = longer || list.size() > rows; });
  return longer;
}

void LiveModel::keep_recent(std::size_t rows) {
  now_.lists_.for_each([&]<class Table>(store::Type<Table>, auto& list, auto) {
    using Row = typename Table::Row;
    list.keep_last(rows, [&](const Row& row) {
      if constexpr (std::is_same_v<Row, store::WaitRow>) {
        now_.known_from_ = std::max(now_.known_from_, row.resumed);
      } else if constexpr (std::is_same_v<Row, store::HostWaitRow> || std::is_same_v<Row, store::KernelRow> ||
                           std::is_same_v<Row, store::NvtxRow>) {
        now_.known_from_ = std::max(now_.known_from_, row.end);
      }
    });
  });
}

}  // namespace wicprof::gui
