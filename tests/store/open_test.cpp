// Files that are not traces or are incomplete: each error names the file and a cure, and nothing crashes.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>

#include "store/format/schema.h"
#include "store/sqlite/sqlite.h"
#include "tests/store/support.h"

namespace wicprof::store {
namespace {

class OpenTest : public testing::Test {
 protected:
  void expect_refused(const std::string& path, const std::string& words) {
    const Result<Reader> reader = Reader::open(path);
    ASSERT_FALSE(reader) << words;
    EXPECT_EQ(reader.error().kind, ErrorKind::bad_input);
    EXPECT_NE(reader.error().message.find(path), std::string::npos) << reader.error().message;
    EXPECT_NE(reader.error().message.find(words), std::string::npos) << reader.error().message;
    EXPECT_NE(reader.error().message.find("; "), std::string::npos) << "no cure: " << reader.error().message;
  }
  TempFolder folder_;
  std::string path_ = folder_ / "trace.wicprof";
};

TEST_F(OpenTest, NoSuchFile) { expect_refused(path_, "no such trace"); }

TEST_F(OpenTest, AFolder) { expect_refused(folder_.path(), "is a folder"); }

TEST_F(OpenTest, AnEmptyFile) {
  write_contents(path_, "");
  expect_refused(path_, "is empty");
}

TEST_F(OpenTest, NotSqlite) {
  write_contents(path_,
                 "This is a letter to a friend, and a rather long one, so that it is longer than any header. "
                 "It goes on for another line at least, to be sure that there is enough of it.");
  expect_refused(path_, "is not a trace");
}

TEST_F(OpenTest, SqliteButNoTrace) {
  Database database;
  ASSERT_EQ(database.open(path_, OpenMode::create), 0);
  ASSERT_EQ(database.execute("CREATE TABLE wait (id INTEGER PRIMARY KEY)"), 0);
  database.close();
  expect_refused(path_, "not a trace");
}

TEST_F(OpenTest, ANewerAndAnOlderVersion) {
  record_waits(path_, 1);
  const auto set_version = [&](std::int64_t version) {
    Database database;
    ASSERT_EQ(database.open(path_, OpenMode::read_write), 0);
    ASSERT_EQ(database.execute("PRAGMA user_version = " + std::to_string(version)), 0);
  };
  set_version(kSchemaVersion + 1);
  expect_refused(path_, "newer wic-prof: version " + std::to_string(kSchemaVersion + 1));
  expect_refused(path_, "reads up to " + std::to_string(kSchemaVersion));
  expect_refused(path_, "update wic-prof");
  set_version(0);
  expect_refused(path_, "older wic-prof: version 0");
  set_version(kSchemaVersion);
  EXPECT_TRUE(Reader::open(path_));
}

TEST_F(OpenTest, ATableThatAnOlderTraceLacksIsEmpty) {
  record_waits(path_, 3);
  {
    Database database;
    ASSERT_EQ(database.open(path_, OpenMode::read_write), 0);
    ASSERT_EQ(database.execute("DROP TABLE notice; ALTER TABLE wait DROP COLUMN wanted; "
                               "ALTER TABLE host_wait DROP COLUMN value; "
                               "ALTER TABLE host_wait DROP COLUMN wanted; "
                               "PRAGMA user_version = " +
                               std::to_string(kOldestReadable)),
              0);
  }
  const Result<Reader> reader = Reader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  const auto notices = reader->rows<NoticeTable>();
  ASSERT_TRUE(notices) << notices.error().message;
  EXPECT_TRUE(notices->empty());
  EXPECT_EQ(reader->rows<WaitTable>()->size(), 3u);
}

// The file's content, packed with gzip.
void pack(const std::string& from, const std::string& to) {
  const std::string data = contents(from);
  gzFile file = gzopen(to.c_str(), "wb9");
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(gzwrite(file, data.data(), static_cast<unsigned>(data.size())), static_cast<int>(data.size()));
  ASSERT_EQ(gzclose(file), Z_OK);
}

TEST_F(OpenTest, APackedTraceReadsAsTheTraceAndLeavesNothingBehind) {
  const TempFolder temporary;
  ASSERT_EQ(setenv("TMPDIR", temporary.path().c_str(), 1), 0);
  record_waits(path_, 500);
  const std::string packed = path_ + ".gz";
  pack(path_, packed);
  EXPECT_LT(contents(packed).size(), contents(path_).size() / 4);
  {
    const Result<Reader> reader = Reader::open(packed), plain = Reader::open(path_);
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(reader->rows<WaitTable>()->size(), 500u);
    EXPECT_EQ(*reader->meta(), *plain->meta());
    EXPECT_FALSE(std::filesystem::is_empty(temporary.path()));
  }
  EXPECT_TRUE(std::filesystem::is_empty(temporary.path()));

  const std::string whole = contents(packed);
  write_contents(packed, whole.substr(0, whole.size() / 2));
  expect_refused(packed, "damaged or truncated");
  write_contents(packed, whole.substr(0, 2));
  EXPECT_FALSE(Reader::open(packed));
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 0x20);
  write_contents(packed, flipped);
  expect_refused(packed, "damaged or truncated");
  write_contents(path_,
                 "This is a letter to a friend, and a rather long one, so that it is longer than any header. "
                 "It goes on for another line at least, to be sure that there is enough of it.");
  pack(path_, packed);
  expect_refused(packed, "is not a trace");
  EXPECT_TRUE(std::filesystem::is_empty(temporary.path()));
  ASSERT_EQ(setenv("TMPDIR", (temporary / "missing").c_str(), 1), 0);
  const Result<Reader> nowhere = Reader::open(packed);
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().message.find("TMPDIR"), std::string::npos) << nowhere.error().message;
  unsetenv("TMPDIR");
}

TEST_F(OpenTest, TruncatedAtManyLengths) {
  record_waits(path_, 5000);
  const std::string whole = contents(path_);
  const std::string cut = folder_ / "cut.wicprof";
  std::vector<std::size_t> lengths;
  for (std::size_t length = 0; length < 120; ++length) lengths.push_back(length);
  for (std::size_t length = 120; length < whole.size(); length += 997) lengths.push_back(length);
  for (std::size_t length = 0; length < whole.size(); length += 4096) lengths.push_back(length);
  lengths.push_back(whole.size() - 1);
  for (const std::size_t length : lengths) {
    write_contents(cut, whole.substr(0, length));
    const Result<Reader> reader = Reader::open(cut);
    ASSERT_FALSE(reader) << length;
    ASSERT_EQ(reader.error().kind, ErrorKind::bad_input);
    ASSERT_NE(reader.error().message.find(cut), std::string::npos) << reader.error().message;
    if (length >= 16) {
      ASSERT_NE(reader.error().message.find("truncated"), std::string::npos)
          << length << ": " << reader.error().message;
    }
  }
  write_contents(cut, whole);
  EXPECT_EQ(Reader::open(cut)->rows<WaitTable>()->size(), 5000u);
}

TEST_F(OpenTest, DamageInsideIsReported) {
  record_waits(path_, 5000);
  const std::string whole = contents(path_);
  const std::string damaged = folder_ / "damaged.wicprof";
  int failures = 0;
  for (std::size_t page = 1; page < whole.size() / 4096; ++page) {
    std::string bytes = whole;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(page * 4096), 4096, '\x5a');
    write_contents(damaged, bytes);
    const Result<Reader> reader = Reader::open(damaged);
    const bool all_read = reader && reader->rows<WaitTable>() && reader->stats() && reader->rows<KernelTable>();
    if (all_read) continue;  // an index, which reading does not need
    ++failures;
    const Error error = !reader                      ? reader.error()
                        : !reader->rows<WaitTable>() ? reader->rows<WaitTable>().error()
                        : !reader->stats()           ? reader->stats().error()
                                                     : reader->rows<KernelTable>().error();
    ASSERT_NE(error.message.find(damaged), std::string::npos);
    ASSERT_NE(error.message.find("damaged ("), std::string::npos) << error.message;
  }
  EXPECT_GT(failures, 10);
}

// Reads the waits as a user without write permission: a child process changes from root to nobody. Returns their
// number, or -1 if the trace could not be read.
int waits_seen_by_others(const std::string& path) {
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(254);
    const Result<Reader> reader = Reader::open(path);
    if (!reader) _exit(255);
    const auto waits = reader->rows<WaitTable>();
    _exit(waits ? static_cast<int>(waits->size()) : 255);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) < 254 ? WEXITSTATUS(status) : -1;
}

TEST_F(OpenTest, ACompleteTraceInAFolderThatCannotBeWrittenTo) {
  record_waits(path_, 10);
  chmod(path_.c_str(), 0444);
  chmod(folder_.path().c_str(), 0555);
  EXPECT_EQ(waits_seen_by_others(path_), 10);
  // The same if a reader that stayed open kept the recorder from leaving WAL mode.
  chmod(folder_.path().c_str(), 0755);
  chmod(path_.c_str(), 0644);
  Database database;
  ASSERT_EQ(database.open(path_, OpenMode::read_write), 0);
  ASSERT_EQ(database.execute("PRAGMA journal_mode = WAL; UPDATE wait SET polls = 0"), 0);
  database.close();
  ASSERT_FALSE(std::filesystem::exists(path_ + "-wal"));
  chmod(path_.c_str(), 0444);
  chmod(folder_.path().c_str(), 0555);
  EXPECT_EQ(waits_seen_by_others(path_), 10);
  chmod(folder_.path().c_str(), 0755);
}

TEST_F(OpenTest, NamesWithOddCharacters) {
  for (const char* name : {"a b.wicprof", "what?.wicprof", "50%25#1.wicprof", "file:x.wicprof", "-o.wicprof"}) {
    const std::string path = folder_ / name;
    record_waits(path, 2);
    const Result<Reader> reader = Reader::open(path);
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(reader->rows<WaitTable>()->size(), 2u) << name;
  }
}

}  // namespace
}  // namespace wicprof::store
