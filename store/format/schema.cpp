#include "store/format/schema.h"

namespace wicprof::store {

namespace {

template <class Table>
void append_table(std::string& sql) {
  sql += std::string("CREATE TABLE ") + Table::kName + " (";
  if (!has_own_id<Table>()) sql += std::string("id ") + kId + ", " + kProcessColumn + " " + kInteger + ", ";
  const char* comma = "";
  const auto append = [&](const auto& column) {
    sql += std::string(comma) + column.name + " " + column.type;
    comma = ", ";
  };
  Table::kColumns.for_each(append);
  sql += ") STRICT;\n";
}

}  // namespace

std::string create_tables_sql() {
  std::string sql = "PRAGMA application_id = " + std::to_string(kApplicationId) +
                    ";\nPRAGMA user_version = " + std::to_string(kSchemaVersion) + ";\n";
  // Tables whose rows do not come from one event each.
  sql +=
      "CREATE TABLE meta (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value TEXT NOT NULL) STRICT;\n"
      "CREATE TABLE string (id INTEGER PRIMARY KEY, value TEXT NOT NULL) STRICT;\n"
      "CREATE TABLE stat (id INTEGER PRIMARY KEY, name_id INTEGER NOT NULL, detail_id INTEGER, "
      "severity INTEGER NOT NULL, value INTEGER NOT NULL) STRICT;\n"
      "CREATE TABLE sass (id INTEGER PRIMARY KEY, module INTEGER NOT NULL, symbol_id INTEGER NOT NULL, "
      "pc_offset INTEGER NOT NULL, text_id INTEGER NOT NULL, target_offset INTEGER, file_id INTEGER, line INTEGER) "
      "STRICT;\n"
      "CREATE TABLE digest_sum (id INTEGER PRIMARY KEY, process_id INTEGER, sum_of INTEGER NOT NULL, detail INTEGER "
      "NOT "
      "NULL, name_id INTEGER, row_count INTEGER NOT NULL, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, total_ns "
      "INTEGER NOT NULL, longest_ns INTEGER NOT NULL) STRICT;\n";
  for_each_table<EventTables>([&]<class Table>(Type<Table>) { append_table<Table>(sql); });
  return sql;
}

std::string used_texts_sql() {
  std::string sql = "SELECT name_id FROM stat UNION ALL SELECT detail_id FROM stat";
  for (const char* column : {"symbol_id", "text_id", "file_id"})
    sql += std::string(" UNION ALL SELECT ") + column + " FROM sass";
  for_each_table<EventTables>([&]<class Table>(Type<Table>) {
    Table::kColumns.for_each([&](const auto& column) {
      if constexpr (std::remove_cvref_t<decltype(column)>::kIsText)
        sql += std::string(" UNION ALL SELECT ") + column.name + " FROM " + Table::kName;
    });
  });
  return sql;
}

std::string copy_lasting_rows_sql() {
  std::string sql;
  for_each_table<EventTables>([&]<class Table>(Type<Table>) {
    if (lasting_rows<Table>() == nullptr) return;
    const std::string name = Table::kName;
    sql += "INSERT INTO main." + name + " SELECT * FROM earlier." + name + " WHERE " + lasting_rows<Table>() + ";";
  });
  return sql + "INSERT INTO main.string SELECT id, value FROM earlier.string WHERE id IN (" + used_texts_sql() + ");";
}

std::string create_signal_index_sql() {
  return "CREATE INDEX signal_by_site ON signal (site_id, iteration, at_ns);"
         "CREATE INDEX signal_by_word ON signal (site_id, iteration, word_tag, at_ns);";
}

std::string create_indexes_sql() {
  return "CREATE INDEX wait_by_time ON wait (arrived_ns);"
         "CREATE INDEX wait_by_site ON wait (site_id, iteration);"
         "CREATE INDEX signal_by_time ON signal (at_ns);"
         "CREATE INDEX kernel_by_time ON kernel (start_ns);"
         "CREATE INDEX copy_by_time ON copy (start_ns);"
         "CREATE INDEX host_wait_by_time ON host_wait (begin_ns);"
         "CREATE INDEX host_wait_by_site ON host_wait (site_id, iteration);"
         "CREATE INDEX call_by_time ON call (start_ns);"
         "CREATE INDEX pc_sample_by_time ON pc_sample (at_ns);"
         "CREATE INDEX uvm_by_time ON uvm (start_ns);"
         "CREATE INDEX nvtx_by_time ON nvtx (start_ns);"
         "CREATE INDEX choice_by_site ON choice (site_id, at_ns);";
}

}  // namespace wicprof::store
