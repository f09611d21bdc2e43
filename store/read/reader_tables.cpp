// How each table is read.
#include <limits>
#include <string>

#include "store/format/schema.h"
#include "store/read/reader_state.h"
#include "store/read/sort_rows.h"

namespace wicprof::store {

namespace {

template <class Table>
void read_row(RowReader& from, typename Table::Row& to) {
  if constexpr (!has_own_id<Table>()) from >> to.id;
  if constexpr (has_process<Table>()) from >> to.process;
  Table::kColumns.for_each([&](const auto& column) {
    if constexpr (std::remove_cvref_t<decltype(column)>::kIsRead) column.read(from, to);
  });
  if constexpr (requires { Table::complete(to); }) Table::complete(to);
}

}  // namespace

template <class Table>
Result<RowsOf<Table>> Reader::rows(RowId after) const {
  // Most tables are the same in all readable versions, and need no look at the file's.
  const std::int64_t version = newest_column<Table>() > kOldestReadable ? state_->version() : kSchemaVersion;
  if (version < since<Table>()) return RowsOf<Table>();
  if constexpr (has_own_id<Table>()) after = std::numeric_limits<RowId>::min();
  Result<RowsOf<Table>> rows = state_->list<RowsOf<Table>>(select_sql<Table>(version), after, read_row<Table>);
  if constexpr (std::is_same_v<RowsOf<Table>, std::vector<typename Table::Row>>) {
    if (rows) sort_by_time<Table>(*rows);
  }
  return rows;
}

namespace {

template <class... Tables>
constexpr auto readers_of(const std::tuple<Tables...>*) {
  return std::tuple{&Reader::rows<Tables>...};
}
// Makes Reader::rows for every table, for other files to call.
[[gnu::used]] const auto kReaders = readers_of(static_cast<const ReadTables*>(nullptr));

}  // namespace

Result<std::vector<Reader::SignalOfProcess>> Reader::last_signals() const {
  const std::string writer = state_->version() < newest_column<SignalTable>() ? "NULL" : "writer";
  return state_->list<std::vector<SignalOfProcess>>(
      "SELECT process_id, id, site_id, device_id, block, sm, iteration, value, at_ns, word_tag, " + writer +
          " FROM signal WHERE id IN "
          "(SELECT max(id) FROM signal WHERE id > (SELECT max(id) FROM signal) - 1000000 GROUP BY process_id, site_id, "
          "device_id, block, word_tag) ORDER BY id",
      0, [](RowReader& row, SignalOfProcess& to) {
        SignalRow& s = to.signal;
        row >> to.process >> s.id >> s.site >> s.device >> s.block >> s.sm >> s.iteration >> s.value >> s.at >>
            s.word >> s.writer;
        SignalTable::complete(s);
      });
}

Result<std::vector<Reader::MessagesOfProcess>> Reader::last_messages() const {
  if (state_->version() < MpiCallTable::kSince) return std::vector<MessagesOfProcess>();
  const auto list = [](std::initializer_list<MpiOperation> operations) {
    std::string text;
    for (const MpiOperation each : operations)
      text += (text.empty() ? "(" : ", ") + std::to_string(static_cast<int>(each));
    return text + ")";
  };
  using enum MpiOperation;
  const auto rows = [](const std::string& received, const std::string& table, const std::string& operations) {
    return "SELECT process_id, " + received + " AS received, communicator, peer, tag, sequence, end_ns FROM " + table +
           " WHERE id > (SELECT max(id) FROM " + table + ") - 1000000 AND operation IN " + operations +
           " AND communicator IS NOT NULL AND peer IS NOT NULL AND tag IS NOT NULL AND sequence IS NOT NULL";
  };
  const std::string all =
      rows("0", "mpi_call",
           list({send, ssend, sendrecv, isend, issend, bsend, rsend, ibsend, irsend, sendrecv_replace, start_send})) +
      " UNION ALL " + rows("1", "mpi_call", list({recv, mprobe})) + " UNION ALL " +
      rows("1", "mpi_request", list({recv, irecv, start_recv}));
  return state_->list<std::vector<MessagesOfProcess>>(
      "SELECT process_id, received, communicator, peer, tag, max(sequence), max(end_ns) FROM (" + all +
          ") GROUP BY 1, 2, 3, 4, 5",
      0, [](RowReader& row, MessagesOfProcess& to) {
        row >> to.process >> to.received >> to.communicator >> to.peer >> to.tag >> to.number >> to.at;
      });
}

Result<std::vector<PcTotalRow>> Reader::pc_totals() const {
  return state_->list<std::vector<PcTotalRow>>(
      "SELECT t.process_id, t.device_id, f.value, s.value, t.module, t.pc_offset, r.value, t.samples, n.value, t.line, "
      "t.begin_ns, t.at_ns FROM (SELECT process_id, device_id, function_id, symbol_id, module, pc_offset, "
      "stall_reason_id, sum(samples) AS samples, max(file_id) AS file_id, max(line) AS line, min(begin_ns) AS "
      "begin_ns, "
      "max(at_ns) AS at_ns FROM pc_sample GROUP BY process_id, device_id, symbol_id, function_id, module, pc_offset, "
      "stall_reason_id) t LEFT JOIN string f ON f.id = t.function_id LEFT JOIN string s ON s.id = t.symbol_id "
      "LEFT JOIN string r ON r.id = t.stall_reason_id LEFT JOIN string n ON n.id = t.file_id "
      "ORDER BY t.process_id, t.device_id, t.module, s.value, t.pc_offset, r.value",
      0, [](RowReader& row, PcTotalRow& to) {
        row >> to.process >> to.device >> to.function >> to.symbol >> to.module >> to.offset >> to.reason >>
            to.samples >> to.file >> to.line >> to.begin >> to.end;
      });
}

Result<std::vector<SassRow>> Reader::sass() const {
  return state_->list<std::vector<SassRow>>(
      "SELECT t.module, s.value, t.pc_offset, x.value, t.target_offset, f.value, t.line FROM sass t "
      "LEFT JOIN string s ON s.id = t.symbol_id LEFT JOIN string x ON x.id = t.text_id "
      "LEFT JOIN string f ON f.id = t.file_id ORDER BY t.module, s.value, t.pc_offset",
      0, [](RowReader& row, SassRow& to) {
        row >> to.module >> to.symbol >> to.offset >> to.text >> to.target >> to.file >> to.line;
      });
}

Result<std::vector<StatRow>> Reader::stats() const {
  return state_->list<std::vector<StatRow>>(
      "SELECT n.value, d.value, t.severity, t.value FROM stat t "
      "LEFT JOIN string n ON n.id = t.name_id LEFT JOIN string d ON d.id = t.detail_id ORDER BY t.id",
      0, [](RowReader& row, StatRow& to) { row >> to.name >> to.detail >> to.severity >> to.value; });
}

Result<std::vector<DigestSumRow>> Reader::digest_sums() const {
  if (state_->version() < kDigestsSince) return std::vector<DigestSumRow>();
  return state_->list<std::vector<DigestSumRow>>(
      "SELECT t.process_id, t.sum_of, t.detail, n.value, t.row_count, t.begin_ns, t.end_ns, t.total_ns, t.longest_ns "
      "FROM digest_sum t LEFT JOIN string n ON n.id = t.name_id ORDER BY t.id",
      0, [](RowReader& row, DigestSumRow& to) {
        row >> to.process >> to.of >> to.detail >> to.name >> to.rows >> to.begin >> to.end >> to.total >> to.longest;
      });
}

}  // namespace wicprof::store
