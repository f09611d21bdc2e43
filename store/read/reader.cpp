#include "store/read/reader.h"

#include <algorithm>
#include <functional>
#include <future>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "store/format/meta_key.h"
#include "store/format/schema.h"
#include "store/read/reader_state.h"

namespace wicprof::store {

std::future<int> run_aside(const std::function<int()>& work) {
  // A copy: where the thread is refused, the library has moved from what it was given, and calls it nevertheless.
  return std::async(std::launch::async | std::launch::deferred, work);
}

Error refused_digest(const std::string& path, const std::string& trace) {
  return bad_input(path + " is a digest, which has only the calls of MPI; name the trace that it was made of, " +
                   trace + ", or read the digest with wic-prof analyze or report");
}

Result<Reader> Reader::open(const std::string& path) {
  std::optional<Reader> only;
  const Result<> opened = each(path, [&](Reader reader) -> Result<> {
    if (const std::string& trace = reader.state_->digest_of; !trace.empty()) return refused_digest(path, trace);
    if (only) return bad_input(path + " holds several traces; unpack it, and name one");
    only = std::move(reader);
    return ok();
  });
  if (!opened) return opened.error();
  return *std::move(only);
}

Result<> Reader::each(const std::string& path, const std::function<Result<>(Reader)>& visit) {
  if (!is_packed(path)) {
    Result<Reader> reader = open_unpacked(path);
    return reader ? visit(*std::move(reader)) : reader.error();
  }
  Result<PackedTraces> traces = PackedTraces::open(path);
  if (!traces) return traces.error();
  while (traces->more()) {
    Result<std::optional<UnpackedTrace>> unpacked = traces->next();
    if (!unpacked) return unpacked.error();
    if (is_packed((*unpacked)->path())) return bad_input(path + " is packed twice; unpack it with gunzip");
    Result<Reader> reader = open_unpacked((*unpacked)->path());
    if (!reader) return renamed_to(path, (*unpacked)->path(), reader.error());
    reader->state_->packed = path;
    reader->state_->unpacked = **std::move(unpacked);
    if (Result<> visited = visit(*std::move(reader)); !visited) return visited;
  }
  return ok();
}

Result<Reader> Reader::open_unpacked(const std::string& path) {
  if (Result<> checked = check_trace(path); !checked) return checked.error();
  if (has_wal_file(path)) {
    fold_abandoned_log(path);
    if (Result<> checked = check_trace(path); !checked) return checked.error();
  }
  auto state = std::make_unique<State>(path);
  state->without_log = lacks_log(path);
  if (Result<> checked = state->check_schema(); !checked) return checked.error();
  Reader reader(std::move(state));
  Result<std::map<std::string, std::string>> meta = reader.meta();
  if (!meta) return meta.error();
  reader.state_->digest_of = (*meta)[std::string(name_of(MetaKey::digest_of))];
  reader.state_->complete = (*meta)[std::string(name_of(MetaKey::state))] == "complete" && !has_wal_file(path);
  return reader;
}

std::optional<Reader> Reader::another() const {
  // A digest is small: another connection would cost more than it saves.
  if (!state_->complete || !state_->digest_of.empty()) return std::nullopt;
  auto state = std::make_unique<State>(state_->path);
  state->packed = state_->packed;
  state->complete = true;
  return Reader(std::move(state));
}

Reader::Reader(std::unique_ptr<State> state) : state_(std::move(state)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Result<std::map<std::string, std::string>> Reader::meta() const {
  using Pair = std::pair<std::string, std::string>;
  // No texts for people: the phases of a comparison, of which a minute has 600 of 36 bytes and an hour 2.6 MB; and what
  // a program was in at its end, with some 200 bytes per wait and thread.
  constexpr std::size_t kMostOfDocument = 16 << 20;
  Result<std::vector<Pair>> rows =
      state_->list<std::vector<Pair>>("SELECT key, value FROM meta", 0, [](RowReader& row, Pair& to) {
        row >> to.first;
        if (to.first == name_of(MetaKey::ab_phases) || to.first == name_of(MetaKey::open_work)) {
          row.whole_text(to.second, kMostOfDocument);
        } else {
          row >> to.second;
        }
      });
  if (!rows) return rows.error();
  std::map<std::string, std::string> meta;
  for (Pair& pair : *rows) meta.insert(std::move(pair));
  // Readers that kept the trace open may also have kept the recorder from emptying its log.
  const std::string state_key(name_of(MetaKey::state));
  const auto state = meta.find(state_key);
  const bool complete = state != meta.end() && state->second == "complete";
  const bool in_wal_mode = state_->without_log || has_wal_file(state_->path);
  if (!state_->complete && complete && in_wal_mode) fold_abandoned_log(state_->path);
  if (state_->without_log && !complete) meta[state_key] = kWithoutLog;
  return meta;
}

Result<Overview> Reader::overview(const SummaryWatch& watch) const {
  Database database;
  if (const int code = connect(state_->path, database); code != 0)
    return cannot_read(state_->path, code, database.message());
  const std::string& named = state_->unpacked ? state_->packed : state_->path;
  return Overview::open(std::move(database), named, watch);
}

void Reader::within(std::optional<RowRange> range) { state_->range = std::move(range); }

Result<NamedRows> Reader::named(const NameFilter& wanted, std::size_t most, TimeNs longer, TimeNs shorter) const {
  using Text = std::pair<std::int64_t, std::string>;
  const auto take_name = [](RowReader& row, Text& to) { row >> to.first >> to.second; };
  Result<std::vector<Text>> texts = state_->list<std::vector<Text>>("SELECT id, value FROM string", 0, take_name);
  if (!texts) return texts.error();
  Result<std::vector<SiteRow>> sites = rows<SiteTable>();
  if (!sites) return sites.error();
  NamedRows found;
  const auto look = [&](RowKind kind, const char* column, bool by_site) -> Result<> {
    std::string ids;
    const auto ask = [&](std::int64_t id, std::string_view name) {
      if (wanted(kind, name)) ids += (ids.empty() ? "" : ", ") + std::to_string(id);
    };
    if (by_site) {
      for (const SiteRow& site : *sites) ask(site.id, site.name);
    } else {
      for (const auto& [id, text] : *texts) ask(id, text);
    }
    if (ids.empty()) return ok();
    const LaneTable& table = table_of(kind);
    const std::string length = std::string(table.end) + " - " + table.begin;
    const std::string from = std::string(" FROM ") + table.name + " WHERE " + column + " IN (" + ids + ") AND " +
                             length + " > " + std::to_string(longer) + " AND " + length + " < " +
                             std::to_string(shorter);
    Result<std::vector<std::uint64_t>> count = state_->list<std::vector<std::uint64_t>>(
        "SELECT count(*)" + from, 0, [](RowReader& row, std::uint64_t& to) { row >> to; });
    if (!count) return count.error();
    found.total += count->empty() ? 0 : count->front();
    const std::string select = std::string("SELECT id, ") + table.begin + ", " + table.end + from + " ORDER BY " +
                               table.begin + " LIMIT " + std::to_string(most);
    Result<std::vector<NamedRows::One>> rows =
        state_->list<std::vector<NamedRows::One>>(select, 0, [kind](RowReader& row, NamedRows::One& to) {
          to.kind = kind;
          row >> to.id >> to.begin >> to.end;
        });
    if (!rows) return rows.error();
    found.rows.insert(found.rows.end(), rows->begin(), rows->end());
    return ok();
  };
  for (const auto& [kind, column, by_site] : {std::tuple{RowKind::kernel, "name_id", false},
                                              {RowKind::nvtx, "name_id", false},
                                              {RowKind::call, "name_id", false},
                                              {RowKind::host_wait, "call_id", false},
                                              {RowKind::host_wait, "site_id", true},
                                              {RowKind::wait, "site_id", true},
                                              {RowKind::signal, "site_id", true}}) {
    if (Result<> looked = look(kind, column, by_site); !looked) return looked.error();
  }
  std::stable_sort(found.rows.begin(), found.rows.end(),
                   [](const auto& a, const auto& b) { return a.begin < b.begin; });
  if (found.rows.size() > most) found.rows.resize(most);
  return found;
}

}  // namespace wicprof::store
