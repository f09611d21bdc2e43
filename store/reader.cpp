#include "store/reader.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "store/connection.h"
#include "store/packed_trace.h"
#include "store/schema.h"
#include "store/sort_rows.h"
#include "store/sqlite.h"
#include "store/trace_file.h"

namespace wicprof::store {

namespace {

constexpr RowId kWorthTwo = 100'000;  // rows from which a second thread reads half of them

/// The texts that rows name by number: each is asked for once.
class Texts {
 public:
  explicit Texts(Database& database) : database_(database) {}

  Name name(std::int64_t id) {
    if (id == last_id_) return last_;
    const auto [at, added] = known_.try_emplace(id);
    if (added) at->second = look_up(id);
    last_id_ = id;
    return last_ = at->second;
  }

  /// What went wrong, if anything has. The connection then has words for it.
  int outcome() {
    if (code_ != 0) look_up(failed_);
    return code_;
  }

 private:
  Name look_up(std::int64_t id) {
    int code = 0;
    if (!select_) select_ = database_.prepare("SELECT value FROM string WHERE id = ?", code);
    Name name;
    if (code == 0) {
      select_.bind(1, id);
      if (select_.next(code)) name = select_.text(0);
      select_.reset();
    }
    if (code != 0 && code_ == 0) {
      code_ = code;
      failed_ = id;
    }
    return name;
  }

  Database& database_;
  Statement select_;
  std::unordered_map<std::int64_t, Name> known_;
  std::int64_t last_id_ = 0;  // no text's number
  Name last_;
  int code_ = 0;
  std::int64_t failed_ = 0;
};

// Reads a row column by column, in the order of the SELECT.
class Row {
 public:
  explicit Row(const Statement& statement) : statement_(&statement) {}
  Row(const Values& values, Texts& texts) : values_(&values), texts_(&texts) {}

  template <class Number>
  Row& operator>>(Number& to) {
    to = static_cast<Number>(values_ != nullptr ? values_->integer(column_) : statement_->integer(column_));
    ++column_;
    return *this;
  }
  Row& operator>>(std::string& to) {
    to = values_ != nullptr ? values_->text(column_) : statement_->text(column_);
    ++column_;
    return *this;
  }
  /// The column has the text's number. In queries by id.
  Row& operator>>(Name& to) {
    to = is_null() ? Name() : texts_->name(values_->integer(column_));
    ++column_;
    return *this;
  }
  template <class Number>
  Row& operator>>(std::optional<Number>& to) {
    if (is_null()) {
      to.reset();
      ++column_;
    } else {
      *this >> to.emplace();
    }
    return *this;
  }
  Row& operator>>(OptionalTime& to) {
    if (is_null()) {
      to.reset();
      ++column_;
    } else {
      *this >> *to;
    }
    return *this;
  }

 private:
  bool is_null() const { return values_ != nullptr ? values_->is_null(column_) : statement_->is_null(column_); }

  const Statement* statement_ = nullptr;  // one of the two
  const Values* values_ = nullptr;
  Texts* texts_ = nullptr;
  int column_ = 0;
};

// What is wrong with the copy is wrong with the packed file.
Error said_of(const std::string& packed, const std::string& copy, Error error) {
  for (std::size_t at = 0; (at = error.message.find(copy, at)) != std::string::npos; at += packed.size()) {
    error.message.replace(at, copy.size(), packed);
  }
  return error;
}

}  // namespace

// On which lanes rows of a type lie.
template <class RowType>
constexpr std::optional<RowKind> kind_of() {
  if constexpr (std::is_same_v<RowType, WaitRow>) return RowKind::wait;
  if constexpr (std::is_same_v<RowType, SignalRow>) return RowKind::signal;
  if constexpr (std::is_same_v<RowType, HostWaitRow>) return RowKind::host_wait;
  if constexpr (std::is_same_v<RowType, KernelRow>) return RowKind::kernel;
  if constexpr (std::is_same_v<RowType, CopyRow>) return RowKind::copy;
  if constexpr (std::is_same_v<RowType, CallRow>) return RowKind::call;
  if constexpr (std::is_same_v<RowType, NvtxRow>) return RowKind::nvtx;
  if constexpr (std::is_same_v<RowType, UvmRow>) return RowKind::migration;
  if constexpr (std::is_same_v<RowType, ThreadSampleRow>) return RowKind::thread_sample;
  return std::nullopt;
}

struct Reader::State {
  explicit State(std::string file) : path(std::move(file)) {}

  struct Ids {
    RowId first = 0, last = -1;
  };

  /// Runs `select` (its only parameter, if any, being `after`), and gives each row to `take`.
  template <class RowType, class Take>
  Result<std::vector<RowType>> list(std::string_view select, RowId after, Take&& take) {
    if (!database) {
      if (const int code = connect(path, database); code != 0) return failed(code);
    }
    std::vector<RowType> rows;
    int code = 0;
    const bool by_id = select.find('?') != std::string_view::npos;
    std::string part;
    if (by_id && range && rows_within<RowType>(select, part)) select = part;
    const std::optional<Ids> many = by_id && complete && after == 0 && part.empty() ? many_ids(select) : std::nullopt;
    if (many) {
      code = read_halves(select, *many, rows, take);
    } else {
      code = read(database, select, by_id, after, rows, take);
    }
    if (code != 0) return failed(code);
    if (!complete) {
      database.close();
      if (has_wal_file(path) && !has_wal(path)) fold_abandoned_log(path);
    }
    return rows;
  }

  /// Rows with id > after.
  template <class RowType, class Take>
  static int read(Database& from, std::string_view select, bool by_id, RowId after, std::vector<RowType>& rows, Take& take) {
    if (by_id) {
      Texts texts(from);
      const int code = from.scan(select, after, [&](const Values& values) {
        Row row(values, texts);
        take(row, rows.emplace_back());
      });
      return code != 0 ? code : texts.outcome();
    }
    int code = 0;
    Statement statement = from.prepare(select, code);
    while (code == 0 && statement.next(code)) {
      Row row(statement);
      take(row, rows.emplace_back());
    }
    return code;
  }

  /// A large table of a finished trace, by two threads with a connection each: both write where their rows belong, so that
  /// no row is held twice.
  template <class RowType, class Take>
  int read_halves(std::string_view select, const Ids& ids, std::vector<RowType>& rows, Take& take) {
    const RowId middle = ids.first + (ids.last - ids.first) / 2;
    const auto lower_room = static_cast<std::size_t>(middle - ids.first + 1);
    rows.resize(static_cast<std::size_t>(ids.last - ids.first + 1));
    std::size_t lower = 0, upper = 0;
    int code = 0, upper_code = 0;
    {
      const std::jthread reader([&] {
        try {
          Database other;
          upper_code = connect(path, other);
          if (upper_code == 0) upper_code = fill(other, select, middle, rows.data() + lower_room, upper, take);
        } catch (...) {  // no memory: said by the one that asked
          upper_code = -1;
        }
      });
      code = fill(database, up_to(select, middle), ids.first - 1, rows.data(), lower, take);
    }
    if (code == 0 && upper_code != 0) {
      // The same again by this connection, which then has the words for what is wrong.
      rows.clear();
      return read(database, select, true, 0, rows, take);
    }
    if (lower < lower_room) {  // else they are where they belong, and a row moved to itself may lose what it holds
      const auto from = rows.begin() + static_cast<std::ptrdiff_t>(lower_room);
      std::move(from, from + static_cast<std::ptrdiff_t>(upper), rows.begin() + static_cast<std::ptrdiff_t>(lower));
    }
    rows.resize(lower + upper);
    return code;
  }

  /// There is room for every id that can come.
  template <class RowType, class Take>
  static int fill(Database& from, std::string_view select, RowId after, RowType* to, std::size_t& count, Take& take) {
    Texts texts(from);
    const int code = from.scan(select, after, [&](const Values& values) {
      Row row(values, texts);
      take(row, to[count++]);
    });
    return code != 0 ? code : texts.outcome();
  }

  /// Every query by id ends with "id > ? ORDER BY id".
  static std::string up_to(std::string_view select, RowId last) {
    return std::string(select).insert(select.find("id > ?") + 6, " AND id <= " + std::to_string(last));
  }

  /// `select` for rows that reach into the range; false where this kind of row does not lie on a lane. What is short begins at
  /// most its length before the range, so that the index on time finds it; what is long is named by its id.
  template <class RowType>
  bool rows_within(std::string_view select, std::string& to) const {
    constexpr std::optional<RowKind> kind = kind_of<RowType>();
    if constexpr (!kind) {
      return false;
    } else {
      const LaneTable& table = table_of(*kind);
      const RowRange::Kind& its = range->kinds[static_cast<std::size_t>(*kind)];
      const std::string begin = std::to_string(range->begin), end = std::to_string(range->end);
      std::string ids = std::string("SELECT id FROM ") + table.name + " WHERE " + table.begin +
                        " >= " + std::to_string(range->begin - its.short_ns) + " AND " + table.begin + " < " + end + " AND " + table.end +
                        " >= " + begin;
      for (std::size_t i = 0; i < its.named.size(); ++i) ids += (i == 0 ? " UNION VALUES (" : "), (") + std::to_string(its.named[i]);
      if (!its.named.empty()) ids += ")";
      to = select;
      to.insert(to.find("id > ?") + 6, " AND id IN (" + ids + ")");
      return true;
    }
  }

  /// Of the table that `select` reads, if it is large and most ids in between are there.
  std::optional<Ids> many_ids(std::string_view select) {
    const std::size_t from = select.find(" FROM ") + 6;
    const std::string table(select.substr(from, select.find(' ', from) - from));
    const Ids ids{database.integer("SELECT min(id) FROM " + table), database.integer("SELECT max(id) FROM " + table, -1)};
    if (ids.last - ids.first < kWorthTwo) return std::nullopt;
    const bool dense = database.integer("SELECT count(*) FROM " + table) * 2 > ids.last - ids.first;
    return dense ? std::optional(ids) : std::nullopt;
  }

  Error failed(int code) {
    Error error = cannot_read(path, code, database.message());
    database.close();
    return packed.empty() ? error : said_of(packed, path, std::move(error));
  }

  std::string packed;                     // the file that `path` is a copy of, if so
  std::optional<UnpackedTrace> unpacked;  // before the database, which must be closed first
  std::string path;
  Database database;
  bool complete = false;
  std::optional<RowRange> range;
};

namespace {

// Rows come from the file by id, which is nearly by time already.
template <class RowType>
Result<std::vector<RowType>> by_time(Result<std::vector<RowType>> rows, TimeNs RowType::*time) {
  if (rows) sort_rows(*rows, [time](const RowType& row) { return row.*time; });
  return rows;
}

}  // namespace

Result<Reader> Reader::open(const std::string& path) {
  if (is_packed(path)) {
    Result<UnpackedTrace> unpacked = UnpackedTrace::make(path);
    if (!unpacked) return unpacked.error();
    if (is_packed(unpacked->path())) return bad_input(path + " is packed twice; unpack it with gunzip");
    Result<Reader> reader = open(unpacked->path());
    if (!reader) return said_of(path, unpacked->path(), reader.error());
    reader->state_->packed = path;
    reader->state_->unpacked = *std::move(unpacked);
    return reader;
  }
  if (Result<> checked = check_trace(path); !checked) return checked.error();
  if (has_wal_file(path)) {
    fold_abandoned_log(path);
    if (Result<> checked = check_trace(path); !checked) return checked.error();
  }
  auto state = std::make_unique<State>(path);
  Reader reader(std::move(state));
  Result<std::map<std::string, std::string>> meta = reader.meta();
  if (!meta) return meta.error();
  reader.state_->complete = (*meta)["state"] == "complete" && !has_wal_file(path);
  return reader;
}

std::optional<Reader> Reader::another() const {
  if (!state_->complete) return std::nullopt;
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
  Result<std::vector<Pair>> rows =
      state_->list<Pair>("SELECT key, value FROM meta", 0, [](Row& row, Pair& to) { row >> to.first >> to.second; });
  if (!rows) return rows.error();
  std::map<std::string, std::string> meta;
  for (Pair& pair : *rows) meta.insert(std::move(pair));
  // Readers that were always there may have kept the recorder from emptying its log, too.
  const auto state = meta.find("state");
  const bool complete = state != meta.end() && state->second == "complete";
  if (!state_->complete && complete && has_wal_file(state_->path)) fold_abandoned_log(state_->path);
  return meta;
}

Result<Overview> Reader::overview(const SummaryWatch& watch) const {
  Database database;
  if (const int code = connect(state_->path, database); code != 0) return cannot_read(state_->path, code, database.message());
  const std::string& named = state_->unpacked ? state_->packed : state_->path;
  return Overview::open(std::move(database), named, watch);
}

void Reader::within(std::optional<RowRange> range) { state_->range = std::move(range); }

Result<std::vector<ProcessRow>> Reader::processes() const {
  return by_time(state_->list<ProcessRow>(
                     "SELECT t.id, t.parent, n.value, c.value, t.rank, t.local_rank, t.seen_ns FROM process t "
                     "LEFT JOIN string n ON n.id = t.name_id LEFT JOIN string c ON c.id = t.command_id ORDER BY t.id",
                     0,
                     [](Row& row, ProcessRow& to) {
                       row >> to.id >> to.parent >> to.name >> to.command >> to.rank >> to.local_rank >> to.seen;
                     }),
                 &ProcessRow::seen);
}

Result<std::vector<DeviceRow>> Reader::devices() const {
  return state_->list<DeviceRow>(
      "SELECT t.id, t.kind, n.value, t.sm_count, t.memory_bytes, t.clock_error_ns, t.compute_major, t.compute_minor, "
      "t.max_threads_per_sm, t.max_blocks_per_sm, t.registers_per_sm, t.shared_bytes_per_sm, "
      "t.reserved_shared_bytes_per_block, t.clock_khz, u.value FROM device t "
      "LEFT JOIN string n ON n.id = t.name_id LEFT JOIN string u ON u.id = t.uuid_id ORDER BY t.id",
      0, [](Row& row, DeviceRow& to) {
        row >> to.id >> to.kind >> to.name >> to.sm_count >> to.memory_bytes >> to.clock_error_ns >>
            to.compute_major >> to.compute_minor >> to.max_threads_per_sm >> to.max_blocks_per_sm >>
            to.registers_per_sm >> to.shared_bytes_per_sm >> to.reserved_shared_bytes_per_block >> to.clock_khz >>
            to.uuid;
      });
}

Result<std::vector<SiteRow>> Reader::sites() const {
  return state_->list<SiteRow>(
      "SELECT t.id, n.value, t.word_memory, t.pollers, t.words, t.purpose, coalesce(t.releasing, 0), coalesce(t.waiting, 0) "
      "FROM site t LEFT JOIN string n ON n.id = t.name_id ORDER BY t.id",
      0, [](Row& row, SiteRow& to) {
        row >> to.id >> to.name >> to.word_memory >> to.pollers >> to.words >> to.purpose >> to.releasing >> to.waiting;
      });
}

Result<std::vector<WaitRow>> Reader::waits(RowId after) const {
  return by_time(state_->list<WaitRow>(
                     "SELECT id, site_id, device_id, block, warp, sm, iteration, arrived_ns, resumed_ns, ready_ns, "
                     "polls, strategy_id, status, value, switched_ns, word_tag FROM wait WHERE id > ? ORDER BY id",
                     after,
                     [](Row& row, WaitRow& to) {
                       row >> to.id >> to.site >> to.device >> to.block >> to.warp >> to.sm >> to.iteration >>
                           to.arrived >> to.resumed >> to.ready >> to.polls >> to.strategy >> to.status >> to.value >>
                           to.switched >> to.word;
                     }),
                 &WaitRow::arrived);
}

Result<std::vector<SignalRow>> Reader::signals(RowId after) const {
  return by_time(
      state_->list<SignalRow>("SELECT id, site_id, device_id, block, warp, sm, iteration, value, at_ns, word_tag, "
                              "coalesce(bytes, 0), coalesce(pieces, 0), coalesce(offset_bytes, 0), coalesce(span_bytes, 0), "
                              "coalesce(regular, 0) FROM signal WHERE id > ? ORDER BY id",
                              after,
                              [](Row& row, SignalRow& to) {
                                row >> to.id >> to.site >> to.device >> to.block >> to.warp >> to.sm >> to.iteration >>
                                    to.value >> to.at >> to.word >> to.bytes >> to.pieces >> to.offset >> to.span >>
                                    to.regular;
                                if (to.device == kHostDevice) to.thread = std::exchange(to.block, 0u);
                              }),
      &SignalRow::at);
}

Result<std::vector<HostWaitRow>> Reader::host_waits(RowId after) const {
  return by_time(state_->list<HostWaitRow>(
                     "SELECT id, site_id, call_id, thread, iteration, begin_ns, end_ns, cpu_ns, polls, correlation, status, "
                     "word_tag, involuntary_switches, run_delay_ns, process_id FROM host_wait WHERE id > ? ORDER BY id",
                     after,
                     [](Row& row, HostWaitRow& to) {
                       row >> to.id >> to.site >> to.call >> to.thread >> to.iteration >> to.begin >> to.end >>
                           to.cpu >> to.polls >> to.correlation >> to.status >> to.word >>
                           to.involuntary_switches >> to.run_delay >> to.process;
                     }),
                 &HostWaitRow::begin);
}

Result<std::vector<KernelRow>> Reader::kernels(RowId after) const {
  return by_time(state_->list<KernelRow>(
                     "SELECT id, device_id, name_id, start_ns, end_ns, context, stream, correlation, grid_x, grid_y, grid_z, "
                     "block_x, block_y, block_z, registers_per_thread, static_shared_bytes, dynamic_shared_bytes, "
                     "shared_executed_bytes, local_bytes_per_thread, cluster_x, cluster_y, cluster_z, graph, graph_node, "
                     "process_id FROM kernel WHERE id > ? ORDER BY id",
                     after,
                     [](Row& row, KernelRow& to) {
                       row >> to.id >> to.device >> to.name >> to.start >> to.end >> to.context >> to.stream >>
                           to.correlation;
                       for (std::uint32_t& size : to.grid) row >> size;
                       for (std::uint32_t& size : to.block) row >> size;
                       row >> to.registers_per_thread >> to.static_shared_bytes >> to.dynamic_shared_bytes >>
                           to.shared_executed_bytes >> to.local_bytes_per_thread;
                       for (std::uint32_t& size : to.cluster) row >> size;
                       row >> to.graph >> to.graph_node >> to.process;
                     }),
                 &KernelRow::start);
}

Result<std::vector<CopyRow>> Reader::copies(RowId after) const {
  return by_time(
      state_->list<CopyRow>(
          "SELECT id, device_id, peer_device_id, kind, start_ns, end_ns, bytes, context, stream, correlation, "
          "source_memory, destination_memory, asynchronous, graph, graph_node, process_id "
          "FROM copy WHERE id > ? ORDER BY id",
          after,
          [](Row& row, CopyRow& to) {
            row >> to.id >> to.device >> to.peer_device >> to.kind >> to.start >> to.end >> to.bytes >> to.context >>
                to.stream >> to.correlation >> to.source >> to.destination >> to.asynchronous >> to.graph >>
                to.graph_node >> to.process;
          }),
      &CopyRow::start);
}

Result<std::vector<CallRow>> Reader::calls(RowId after) const {
  return by_time(
      state_->list<CallRow>("SELECT id, name_id, api, thread, correlation, result, start_ns, end_ns, process_id "
                            "FROM call WHERE id > ? ORDER BY id",
                            after,
                            [](Row& row, CallRow& to) {
                              row >> to.id >> to.name >> to.api >> to.thread >> to.correlation >> to.result >>
                                  to.start >> to.end >> to.process;
                            }),
      &CallRow::start);
}

Result<std::vector<SyncRow>> Reader::syncs(RowId after) const {
  return by_time(state_->list<SyncRow>("SELECT id, kind, start_ns, end_ns, context, stream, event, event_sync, "
                                       "correlation, result, process_id FROM sync WHERE id > ? ORDER BY id",
                                       after,
                                       [](Row& row, SyncRow& to) {
                                         row >> to.id >> to.kind >> to.start >> to.end >> to.context >> to.stream >>
                                             to.event >> to.event_sync >> to.correlation >> to.result >> to.process;
                                       }),
                 &SyncRow::start);
}

Result<std::vector<CudaEventRow>> Reader::cuda_events(RowId after) const {
  // The device may not have said when it reached an event: those come first, in the order of their rows.
  Result<std::vector<CudaEventRow>> rows = state_->list<CudaEventRow>(
      "SELECT id, device_id, event, event_sync, at_ns, context, stream, correlation, process_id FROM cuda_event "
      "WHERE id > ? ORDER BY id",
      after, [](Row& row, CudaEventRow& to) {
        row >> to.id >> to.device >> to.event >> to.event_sync >> to.at >> to.context >> to.stream >>
            to.correlation >> to.process;
      });
  if (rows) {
    std::stable_sort(rows->begin(), rows->end(),
                     [](const CudaEventRow& a, const CudaEventRow& b) { return a.at.value_or(0) < b.at.value_or(0); });
  }
  return rows;
}

Result<std::vector<OverheadRow>> Reader::overheads(RowId after) const {
  return by_time(
      state_->list<OverheadRow>("SELECT id, what_id, thread, correlation, start_ns, end_ns, process_id "
                                "FROM overhead WHERE id > ? ORDER BY id",
                                after,
                                [](Row& row, OverheadRow& to) {
                                  row >> to.id >> to.what >> to.thread >> to.correlation >> to.start >> to.end >>
                                      to.process;
                                }),
      &OverheadRow::start);
}

Result<std::vector<ThreadSampleRow>> Reader::thread_samples(RowId after) const {
  return by_time(state_->list<ThreadSampleRow>(
                     "SELECT id, thread, name_id, begin_ns, end_ns, cpu_ns, run_delay_ns, voluntary_switches, "
                     "involuntary_switches, process_id FROM thread_sample WHERE id > ? ORDER BY id",
                     after,
                     [](Row& row, ThreadSampleRow& to) {
                       row >> to.id >> to.thread >> to.name >> to.begin >> to.end >> to.cpu >> to.run_delay >>
                           to.voluntary_switches >> to.involuntary_switches >> to.process;
                     }),
                 &ThreadSampleRow::begin);
}

Result<std::vector<NvtxRow>> Reader::nvtx(RowId after) const {
  return by_time(
      state_->list<NvtxRow>("SELECT id, kind, name_id, domain_id, thread, start_ns, end_ns, process_id "
                            "FROM nvtx WHERE id > ? ORDER BY id",
                            after,
                            [](Row& row, NvtxRow& to) {
                              row >> to.id >> to.kind >> to.name >> to.domain >> to.thread >> to.start >> to.end >>
                                  to.process;
                            }),
      &NvtxRow::start);
}

Result<std::vector<UvmRow>> Reader::uvm(RowId after) const {
  return by_time(state_->list<UvmRow>("SELECT id, kind, device_id, peer_device_id, address, bytes, start_ns, end_ns, count, "
                                      "cause_id, process_id FROM uvm WHERE id > ? ORDER BY id",
                                      after,
                                      [](Row& row, UvmRow& to) {
                                        row >> to.id >> to.kind >> to.device >> to.peer_device >> to.address >> to.bytes >>
                                            to.start >> to.end >> to.count >> to.cause >> to.process;
                                      }),
                 &UvmRow::start);
}

Result<std::vector<InterventionRow>> Reader::interventions() const {
  return by_time(state_->list<InterventionRow>(
                     "SELECT id, site_id, old_mode, new_mode, old_strategy_id, new_strategy_id, requested_ns, "
                     "effective_ns FROM intervention ORDER BY id",
                     0,
                     [](Row& row, InterventionRow& to) {
                       row >> to.id >> to.site >> to.old_mode >> to.new_mode >> to.old_strategy >> to.new_strategy >>
                           to.requested >> to.effective;
                     }),
                 &InterventionRow::effective);
}

Result<std::vector<ChoiceRow>> Reader::choices() const {
  return by_time(state_->list<ChoiceRow>(
                     "SELECT t.id, t.site_id, t.strategy_id, t.at_ns, n.value, t.waits, t.waiters_a_word, t.words, "
                     "t.median_wait_ns, t.look_ns FROM choice t LEFT JOIN string n ON n.id = t.reason_id ORDER BY t.id",
                     0,
                     [](Row& row, ChoiceRow& to) {
                       row >> to.id >> to.site >> to.strategy >> to.at >> to.reason >> to.waits >> to.waiters_a_word >>
                           to.words >> to.median_wait >> to.look;
                     }),
                 &ChoiceRow::at);
}

Result<std::vector<PcTotalRow>> Reader::pc_totals() const {
  return state_->list<PcTotalRow>(
      "SELECT t.process_id, t.device_id, f.value, s.value, t.module, t.pc_offset, r.value, t.samples, n.value, t.line, "
      "t.begin_ns, t.at_ns FROM (SELECT process_id, device_id, function_id, symbol_id, module, pc_offset, "
      "stall_reason_id, sum(samples) AS samples, max(file_id) AS file_id, max(line) AS line, min(begin_ns) AS begin_ns, "
      "max(at_ns) AS at_ns FROM pc_sample GROUP BY process_id, device_id, symbol_id, function_id, module, pc_offset, "
      "stall_reason_id) t LEFT JOIN string f ON f.id = t.function_id LEFT JOIN string s ON s.id = t.symbol_id "
      "LEFT JOIN string r ON r.id = t.stall_reason_id LEFT JOIN string n ON n.id = t.file_id "
      "ORDER BY t.process_id, t.device_id, t.module, s.value, t.pc_offset, r.value",
      0, [](Row& row, PcTotalRow& to) {
        row >> to.process >> to.device >> to.function >> to.symbol >> to.module >> to.offset >> to.reason >>
            to.samples >> to.file >> to.line >> to.begin >> to.end;
      });
}

Result<std::vector<PcIntervalRow>> Reader::pc_intervals(RowId after) const {
  return by_time(state_->list<PcIntervalRow>(
                     "SELECT id, device_id, begin_ns, end_ns, samples, dropped, foreign_samples, period_cycles "
                     "FROM pc_interval WHERE id > ? ORDER BY id",
                     after,
                     [](Row& row, PcIntervalRow& to) {
                       row >> to.id >> to.device >> to.begin >> to.end >> to.samples >> to.dropped >> to.foreign >>
                           to.period_cycles;
                     }),
                 &PcIntervalRow::begin);
}

Result<std::vector<SassRow>> Reader::sass() const {
  return state_->list<SassRow>(
      "SELECT t.module, s.value, t.pc_offset, x.value, t.target_offset, f.value, t.line FROM sass t "
      "LEFT JOIN string s ON s.id = t.symbol_id LEFT JOIN string x ON x.id = t.text_id "
      "LEFT JOIN string f ON f.id = t.file_id ORDER BY t.module, s.value, t.pc_offset",
      0, [](Row& row, SassRow& to) {
        row >> to.module >> to.symbol >> to.offset >> to.text >> to.target >> to.file >> to.line;
      });
}

Result<std::vector<StatRow>> Reader::stats() const {
  return state_->list<StatRow>(
      "SELECT n.value, d.value, t.severity, t.value FROM stat t "
      "LEFT JOIN string n ON n.id = t.name_id LEFT JOIN string d ON d.id = t.detail_id ORDER BY t.id",
      0, [](Row& row, StatRow& to) { row >> to.name >> to.detail >> to.severity >> to.value; });
}

Result<NamedRows> Reader::named(const NameFilter& wanted, std::size_t most) const {
  using Text = std::pair<std::int64_t, std::string>;
  const auto take_name = [](Row& row, Text& to) { row >> to.first >> to.second; };
  Result<std::vector<Text>> texts = state_->list<Text>("SELECT id, value FROM string", 0, take_name);
  if (!texts) return texts.error();
  Result<std::vector<SiteRow>> sites = this->sites();
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
    const std::string from = std::string(" FROM ") + table.name + " WHERE " + column + " IN (" + ids + ")";
    Result<std::vector<std::uint64_t>> count = state_->list<std::uint64_t>("SELECT count(*)" + from, 0, [](Row& row, std::uint64_t& to) { row >> to; });
    if (!count) return count.error();
    found.total += count->empty() ? 0 : count->front();
    const std::string select = std::string("SELECT id, ") + table.begin + ", " + table.end + from + " ORDER BY " + table.begin +
                               " LIMIT " + std::to_string(most);
    Result<std::vector<NamedRows::One>> rows = state_->list<NamedRows::One>(select, 0, [kind](Row& row, NamedRows::One& to) {
      to.kind = kind;
      row >> to.id >> to.begin >> to.end;
    });
    if (!rows) return rows.error();
    found.rows.insert(found.rows.end(), rows->begin(), rows->end());
    return ok();
  };
  for (const auto& [kind, column, by_site] :
       {std::tuple{RowKind::kernel, "name_id", false}, {RowKind::nvtx, "name_id", false}, {RowKind::call, "name_id", false},
        {RowKind::host_wait, "call_id", false}, {RowKind::host_wait, "site_id", true}, {RowKind::wait, "site_id", true},
        {RowKind::signal, "site_id", true}}) {
    if (Result<> looked = look(kind, column, by_site); !looked) return looked.error();
  }
  std::stable_sort(found.rows.begin(), found.rows.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  if (found.rows.size() > most) found.rows.resize(most);
  return found;
}

}  // namespace wicprof::store
