// docs/schema.md against the schema itself: the same tables, the same columns, the same stat names.
#include <map>
#include <set>
#include <sstream>

#include "store/format/meta_key.h"
#include "store/format/stat_list.h"
#include "store/sqlite/sqlite.h"
#include "tests/store/support.h"

namespace wicprof::store {
namespace {

// The names in backquotes that begin the rows of the table below each `### name` heading.
std::map<std::string, std::vector<std::string>> documented() {
  std::map<std::string, std::vector<std::string>> tables;
  std::istringstream document(contents(std::string(WIC_SOURCE_DIR) + "/docs/schema.md"));
  std::string table;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("#")) table = line.starts_with("### ") ? line.substr(4) : "";
    if (!table.empty() && line.starts_with("| `")) tables[table].push_back(line.substr(3, line.find('`', 3) - 3));
  }
  return tables;
}

TEST(SchemaDoc, ListsEveryTableAndColumn) {
  const TempFolder folder;
  const std::string path = folder / "trace.wicprof";
  record_waits(path, 1);
  Database database;
  ASSERT_EQ(database.open(path, OpenMode::read_only), 0);
  std::map<std::string, std::vector<std::string>> real;
  int code = 0;
  Statement columns = database.prepare(
      "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' "
      "ORDER BY t.name, c.cid",
      code);
  while (columns.next(code)) real[std::string(columns.text(0))].emplace_back(columns.text(1));
  ASSERT_FALSE(real.empty());

  auto listed = documented();
  listed.erase("Names in stat");
  listed.erase("Keys of meta");
  EXPECT_EQ(listed, real);
}

TEST(SchemaDoc, EveryTableIsStrict) {
  const TempFolder folder;
  record_waits(folder / "trace.wicprof", 1);
  Database database;
  ASSERT_EQ(database.open(folder / "trace.wicprof", OpenMode::read_only), 0);
  EXPECT_EQ(database.integer("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
                             "AND name NOT LIKE 'sqlite_%' AND NOT strict",
                             -1),
            0);
}

TEST(SchemaDoc, ListsEveryStat) {
  const auto names = documented()["Names in stat"];
  std::vector<std::string> real;
  for (const StatInfo& info : kStats) real.emplace_back(info.name);
  EXPECT_EQ(names, real);
}

TEST(SchemaDoc, ListsEveryKeyOfMeta) {
  std::vector<std::string> real;
  for (const MetaKeyText& key : kMetaKeys) real.emplace_back(key.name);
  EXPECT_EQ(documented()["Keys of meta"], real);
}

}  // namespace
}  // namespace wicprof::store
