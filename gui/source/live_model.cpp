#include "gui/source/live_model.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace wicprof::gui {

namespace {

class Fetch {
 public:
  template <class Row, class Read>
  void more(std::vector<Row>& rows, store::RowId& seen, Read read) {
    if (error) return;
    Result<std::vector<Row>> fresh = read(seen);
    if (!fresh) {
      error = fresh.error();
      return;
    }
    for (const Row& row : *fresh) seen = std::max(seen, row.id);
    any = any || !fresh->empty();
    rows.insert(rows.end(), std::make_move_iterator(fresh->begin()), std::make_move_iterator(fresh->end()));
  }
  template <class T>
  void again(T& to, Result<T> read) {
    if (error) return;
    if (read) {
      to = *std::move(read);
    } else {
      error = read.error();
    }
  }
  std::optional<Error> error;
  bool any = false;
};

/// The small lists are taken whole; those that grow are cut by `cut`.
template <class Cut>
analyzer::TraceModel copy(const analyzer::TraceModel& from, Cut cut) {
  analyzer::TraceModel to;
  to.name = from.name;
  to.meta = from.meta;
  to.processes = from.processes;
  to.devices = from.devices;
  to.sites = from.sites;
  to.interventions = from.interventions;
  to.choices = from.choices;
  to.stats = from.stats;
  cut(to.waits, from.waits);
  cut(to.signals, from.signals);
  cut(to.host_waits, from.host_waits);
  cut(to.kernels, from.kernels);
  cut(to.copies, from.copies);
  cut(to.calls, from.calls);
  cut(to.nvtx, from.nvtx);
  cut(to.uvm, from.uvm);
  cut(to.thread_samples, from.thread_samples);
  analyzer::settle(to);
  return to;
}

template <class Row>
void keep_last(std::vector<Row>& rows, std::size_t most) {
  if (rows.size() > most) rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(most));
}

template <class Row>
void copy_last(std::vector<Row>& to, const std::vector<Row>& from, std::size_t most) {
  to.assign(from.size() > most ? from.end() - static_cast<std::ptrdiff_t>(most) : from.begin(), from.end());
}

}  // namespace

Result<bool> LiveModel::fetch(const store::Reader& reader) {
  Fetch fetch;
  const std::size_t changes = model_.interventions.size();
  fetch.again(model_.meta, reader.meta());
  fetch.more(model_.waits, seen_[0], [&](auto after) { return reader.waits(after); });
  fetch.more(model_.signals, seen_[1], [&](auto after) { return reader.signals(after); });
  fetch.more(model_.host_waits, seen_[2], [&](auto after) { return reader.host_waits(after); });
  fetch.more(model_.kernels, seen_[3], [&](auto after) { return reader.kernels(after); });
  fetch.more(model_.copies, seen_[4], [&](auto after) { return reader.copies(after); });
  fetch.more(model_.calls, seen_[5], [&](auto after) { return reader.calls(after); });
  fetch.more(model_.nvtx, seen_[6], [&](auto after) { return reader.nvtx(after); });
  fetch.more(model_.uvm, seen_[7], [&](auto after) { return reader.uvm(after); });
  fetch.more(model_.thread_samples, seen_[8], [&](auto after) { return reader.thread_samples(after); });
  fetch.again(model_.processes, reader.processes());
  fetch.again(model_.devices, reader.devices());
  fetch.again(model_.sites, reader.sites());
  fetch.again(model_.interventions, reader.interventions());
  fetch.again(model_.choices, reader.choices());
  fetch.again(model_.stats, reader.stats());
  if (fetch.error) return *fetch.error;
  return fetch.any || model_.interventions.size() != changes;
}

analyzer::TraceModel LiveModel::whole() const { return recent(~std::size_t{0}); }

analyzer::TraceModel LiveModel::recent(std::size_t rows) const {
  return copy(model_, [rows](auto& to, const auto& from) { copy_last(to, from, rows); });
}

bool LiveModel::longer_than(std::size_t rows) const {
  return std::max({model_.waits.size(), model_.signals.size(), model_.host_waits.size(), model_.kernels.size(),
                   model_.calls.size(), model_.copies.size(), model_.nvtx.size(), model_.uvm.size()}) > rows;
}

void LiveModel::keep_recent(std::size_t rows) {
  if (!longer_than(rows + rows / 4)) return;
  keep_last(model_.waits, rows);
  keep_last(model_.signals, rows);
  keep_last(model_.host_waits, rows);
  keep_last(model_.kernels, rows);
  keep_last(model_.copies, rows);
  keep_last(model_.calls, rows);
  keep_last(model_.nvtx, rows);
  keep_last(model_.uvm, rows);
  keep_last(model_.thread_samples, rows);
}

}  // namespace wicprof::gui
