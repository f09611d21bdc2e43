// Files that are traces by their header, and were made to keep a reader busy: each is refused or read at once.
#include <gtest/gtest.h>

#include "store/sqlite/sqlite.h"
#include "store/sqlite/text_table.h"
#include "tests/store/support.h"

namespace wicprof::store {
namespace {

class HostileTrace : public testing::Test {
 protected:
  HostileTrace() { record_waits(path_, 10); }
  void change(const std::string& sql) {
    Database database;
    ASSERT_EQ(database.open(path_, OpenMode::read_write), 0);
    ASSERT_EQ(database.execute(sql), 0) << database.message();
  }
  void expect_refused(const std::string& words) {
    const Result<Reader> reader = Reader::open(path_);
    ASSERT_FALSE(reader) << words;
    EXPECT_EQ(reader.error().kind, ErrorKind::bad_input);
    EXPECT_NE(reader.error().message.find(path_), std::string::npos) << reader.error().message;
    EXPECT_NE(reader.error().message.find(words), std::string::npos) << reader.error().message;
  }
  TempFolder folder_;
  std::string path_ = folder_ / "trace.wicprof";
};

constexpr const char* kWithoutEnd = "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) ";

TEST_F(HostileTrace, AViewInATablesPlace) {
  change(std::string("DROP TABLE kernel; CREATE VIEW kernel AS ") + kWithoutEnd + "SELECT id, 0 AS start_ns FROM n");
  expect_refused("the view kernel");
}

TEST_F(HostileTrace, AViewInThePlaceOfMetaIsNotReadEvenOnce) {
  change(std::string("DROP TABLE meta; CREATE VIEW meta AS ") + kWithoutEnd +
         "SELECT id, 'k' AS key, 'v' AS value FROM n");
  const Result<Reader> reader = Reader::open(path_);
  ASSERT_FALSE(reader);
  EXPECT_NE(reader.error().message.find(path_), std::string::npos);
}

TEST_F(HostileTrace, SummariesOfImpossibleTimes) {
  for (const char* time : {"9223372036854775807", "-9223372036854775807", "4000000000000000000"}) {
    for (const char* column : {"origin_ns", "begin_ns", "end_ns"}) {
      std::filesystem::remove(path_);
      record_waits(path_, 10);
      change(std::string("UPDATE lane_extent SET ") + column + " = " + time);
      const Result<Reader> reader = Reader::open(path_);
      ASSERT_TRUE(reader) << reader.error().message;
      const Result<Overview> overview = reader->overview();
      ASSERT_FALSE(overview) << column << time;
      EXPECT_NE(overview.error().message.find("an impossible time"), std::string::npos) << overview.error().message;
    }
  }
}

TEST_F(HostileTrace, ATrigger) {
  change("CREATE TRIGGER t AFTER UPDATE ON wait BEGIN DELETE FROM signal; END");
  expect_refused("the trigger t");
}

TEST_F(HostileTrace, AGeneratedColumn) {
  change("ALTER TABLE site ADD COLUMN bomb TEXT AS (printf('%.*c', 100000000, 'x'))");
  expect_refused("the generated column bomb of site");
}

TEST_F(HostileTrace, AGeneratedColumnInPlaceOfOurs) {
  change(
      "DROP TABLE string; CREATE TABLE string (id INTEGER PRIMARY KEY, value TEXT AS (printf('%.*c', id * 1000000, "
      "'x')))");
  expect_refused("the generated column value of string");
}

TEST_F(HostileTrace, AnIndexOnAnExpression) {
  change("CREATE INDEX slow ON wait (abs(polls))");
  expect_refused("the index slow on an expression");
}

TEST_F(HostileTrace, AVirtualTable) {
  Database database;
  ASSERT_EQ(database.open(path_, OpenMode::read_write), 0);
  if (database.execute("CREATE VIRTUAL TABLE words USING fts5(word)") != 0) GTEST_SKIP() << database.message();
  database.close();
  expect_refused("the virtual table words");
}

// Readers give every id a place of its own.
TEST_F(HostileTrace, ATableWithoutItsPrimaryKey) {
  change("CREATE TABLE other AS SELECT * FROM wait; DROP TABLE wait; ALTER TABLE other RENAME TO wait");
  expect_refused("the table wait without a primary key id");
}

TEST_F(HostileTrace, AnObjectsNameCannotSpoilTheMessage) {
  change("CREATE VIEW \"" + std::string(100'000, 'x') + "\x1b[2J\" AS SELECT 1");
  const Result<Reader> reader = Reader::open(path_);
  ASSERT_FALSE(reader);
  EXPECT_LT(reader.error().message.size(), 1000u);
}

// People may add what helps them to query a trace.
TEST_F(HostileTrace, APlainTableAndAPlainIndexOfTheUserAreNoHarm) {
  change("CREATE TABLE note (text TEXT); CREATE INDEX mine ON wait (polls)");
  const Result<Reader> reader = Reader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->rows<WaitTable>()->size(), 10u);
}

TEST_F(HostileTrace, ALongTextIsShownByItsBeginAndItsLength) {
  change(
      "INSERT INTO string VALUES (900, printf('%.*c', 200000, 'x')); "
      "INSERT INTO site VALUES (1, 900, 0, 0, 0, 0, NULL, NULL, NULL, NULL);"
      "INSERT INTO meta (key, value) VALUES ('app', printf('%.*c', 200000, 'y'))");
  const Result<Reader> reader = Reader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  const auto sites = reader->rows<SiteTable>();
  ASSERT_TRUE(sites);
  for (const std::string& text : {std::string(sites->front().name), (*reader->meta())["app"]}) {
    EXPECT_LT(text.size(), 5000u);
    EXPECT_TRUE(text.ends_with("... (200000 bytes)")) << text.substr(4000);
  }
}

TEST_F(HostileTrace, DocumentsAreReadWhole) {
  const std::string document(100'000, 'x');
  for (const std::string key : {"ab_phases", "open_work"})
    change("INSERT INTO meta (key, value) VALUES ('" + key + "', '" + document + "')");
  const Result<Reader> reader = Reader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  for (const std::string key : {"ab_phases", "open_work"}) EXPECT_EQ((*reader->meta())[key], document);
}

TEST_F(HostileTrace, NoStatementComputesAHugeValue) {
  Database database;
  ASSERT_EQ(database.open(path_, OpenMode::read_write), 0);
  EXPECT_NE(database.execute("INSERT INTO meta (key, value) VALUES ('big', printf('%.*c', 100000000, 'x'))"), 0);
}

TEST(ClippedText, IsCutBetweenCharacters) {
  EXPECT_EQ(clipped("short"), "short");
  const std::string exact(kMaxShownText, 'x');
  EXPECT_EQ(clipped(exact), exact);
  std::string wide(kMaxShownText - 1, 'x');
  wide +=
      "\xe2\x82\xac"
      "end";
  EXPECT_EQ(clipped(wide), std::string(kMaxShownText - 1, 'x') + "... (" + std::to_string(wide.size()) + " bytes)");
  EXPECT_LT(clipped(std::string(100'000, '\x80')).size(), 5000u);
}

}  // namespace
}  // namespace wicprof::store
