#include "store/read/schema_check.h"

#include <string_view>
#include <vector>

#include "store/format/event_tables.h"
#include "store/sqlite/text_table.h"

namespace wicprof::store {

namespace {

// A name from the file in a message.
std::string shown(std::string_view name) {
  constexpr std::size_t kMaxShown = 60;
  std::string text = valid_utf8(name.substr(0, kMaxShown));
  for (char& c : text) c = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return text;
}

std::string in_sql(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

bool is_ours(std::string_view table) {
  bool ours = table == "meta" || table == "string" || table == "stat" || table == "sass" || table == "digest_sum";
  for (const std::string_view summary : {"lane", "lane_block", "lane_extent", "row_kind", "long_row"})
    ours = ours || table == summary;
  for_each_table<EventTables>([&]<class Table>(Type<Table>) { ours = ours || table == Table::kName; });
  return ours;
}

struct Object {
  std::string type, name;
  bool stored;  // has pages of its own: a view, a trigger and a virtual table have none
};

// What is wrong with the columns of a table.
std::string foreign_column(Database& database, const std::string& table, int& code) {
  Statement columns = database.prepare("PRAGMA table_xinfo(" + in_sql(table) + ")", code);
  bool numbered = false;
  while (code == 0 && columns.next(code)) {
    // Columns of the answer: number, name, type, not null, default, place in the primary key, hidden.
    if (columns.integer(6) != 0) return "the generated column " + shown(columns.text(1)) + " of " + shown(table);
    numbered = numbered || (columns.text(1) == "id" && columns.text(2) == "INTEGER" && columns.integer(5) == 1);
  }
  if (code == 0 && is_ours(table) && !numbered) return "the table " + shown(table) + " without a primary key id";
  return {};
}

bool has_expression(Database& database, const std::string& index, int& code) {
  constexpr std::int64_t kExpression = -2;
  Statement columns = database.prepare("PRAGMA index_xinfo(" + in_sql(index) + ")", code);
  while (code == 0 && columns.next(code)) {
    if (columns.integer(1) == kExpression) return true;
  }
  return false;
}

}  // namespace

std::string foreign_schema(Database& database, int& code) {
  constexpr std::size_t kMaxObjects = 1000;  // a trace has about 50
  std::vector<Object> objects;
  Statement schema = database.prepare("SELECT type, name, rootpage FROM sqlite_master", code);
  while (code == 0 && schema.next(code)) {
    if (objects.size() == kMaxObjects) return "more than 1,000 tables and indexes";
    objects.push_back({std::string(schema.text(0)), std::string(schema.text(1)), schema.integer(2) > 0});
  }
  for (const Object& object : objects) {
    if (code != 0) return {};
    const bool table = object.type == "table";
    if (!table && object.type != "index") return "the " + shown(object.type) + " " + shown(object.name);
    if (!object.stored) return "the virtual table " + shown(object.name);
    if (table) {
      if (std::string wrong = foreign_column(database, object.name, code); !wrong.empty()) return wrong;
    } else if (has_expression(database, object.name, code)) {
      return "the index " + shown(object.name) + " on an expression";
    }
  }
  return {};
}

}  // namespace wicprof::store
