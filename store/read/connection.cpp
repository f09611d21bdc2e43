#include "store/read/connection.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "protocol/limit_words.h"
#include "store/format/trace_file.h"

namespace wicprof::store {

namespace {

constexpr int kBusyMilliseconds = 5000;

// 0 if the connection can read the trace's tables.
int try_reading(Database& database) {
  int code = 0;
  Statement statement = database.prepare("SELECT count(*) FROM meta", code);
  if (code == 0) statement.next(code);
  return code;
}

// SQLite reports a lack of file descriptors like any other failure to open a file.
bool lacks_descriptors() {
  std::array<int, 4> files{};  // the trace, its log, the log's index, and the folder of these
  bool lacks = false;
  for (int& file : files) {
    file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    lacks = lacks || (file < 0 && (errno == EMFILE || errno == ENFILE));
  }
  for (const int file : files) {
    if (file >= 0) ::close(file);
  }
  return lacks;
}

}  // namespace

void fold_abandoned_log(const std::string& path) {
  Database database;
  if (database.open(path, OpenMode::read_write) != 0) return;
  if (database.text("PRAGMA journal_mode = DELETE") != "delete") return;  // not an error: readers use the log
  database.close();
  // The trace is now one file. A reader that opened it meanwhile may have created an empty log, which is removed.
  if (has_wal_file(path) && !has_wal(path)) remove_log(path);
}

int connect(const std::string& path, Database& database) {
  // Opened for reading alone, SQLite would make a log, and the file would no longer show that its own is missing.
  if (lacks_log(path) && database.open(path, OpenMode::immutable) == 0 && try_reading(database) == 0) return 0;
  int code = database.open(path, OpenMode::read_only);
  if (code == 0) {
    database.set_busy_timeout(kBusyMilliseconds);
    code = try_reading(database);
  }
  const Fault fault = fault_of(code);
  if (fault != Fault::cannot_open && fault != Fault::input_output) return code;
  if (!has_wal(path)) {
    // Left in WAL mode, in a folder where SQLite cannot create its log.
    if (database.open(path, OpenMode::immutable) == 0 && try_reading(database) == 0) return 0;
  } else if (database.open(path, OpenMode::read_write) == 0) {
    // No space for the log's shared index: with exclusive locking, SQLite keeps the index in memory.
    database.execute("PRAGMA locking_mode = EXCLUSIVE");
    if (try_reading(database) == 0) return 0;
  }
  return code;
}

Error cannot_read(const std::string& path, int code, const std::string& reason) {
  const Error without_log =
      bad_input("cannot read " + path + " (" + reason + "): " + wal_of(path) +
                " is missing, so the trace was copied without it while it was recorded; copy both");
  switch (fault_of(code)) {
    case Fault::corrupt:
      if (lacks_log(path)) return without_log;
      return bad_input(path + " is damaged (" + reason + "); copy it again, or record again");
    case Fault::busy:
      return unavailable(path + " is locked by another program (" + reason +
                         "); try again when that program has ended");
    case Fault::no_memory:
      return unavailable("cannot read " + path + ": " + reason + "; " + memory_cure());
    case Fault::no_room:
      return unavailable("cannot read " + path + ": " + reason +
                         "; SQLite needs space for temporary files: set TMPDIR to a folder with free space");
    case Fault::cannot_open:
    case Fault::input_output:
      if (lacks_descriptors()) return unavailable("cannot read " + path + ": too many open files; raise ulimit -n");
      if (has_wal(path)) {
        return bad_input(
            "cannot read " + path + " together with " + wal_of(path) + " (" + reason +
            "): its recorder did not complete it; copy both to a folder with free space that you can write to");
      }
      [[fallthrough]];
    default:
      if (lacks_log(path)) return without_log;
      if (reason.find("no such table") != std::string::npos || reason.find("no such column") != std::string::npos) {
        return bad_input(path + " lacks a part of a trace (" + reason +
                         "): it was changed after the recording, or its recorder did not get far; record again");
      }
      return bad_input("cannot read " + path + ": " + reason + "; copy it to a folder that you can write to");
  }
}

Error renamed_to(const std::string& packed, const std::string& copy, Error error) {
  for (std::size_t at = 0; (at = error.message.find(copy, at)) != std::string::npos; at += packed.size()) {
    error.message.replace(at, copy.size(), packed);
  }
  return error;
}

}  // namespace wicprof::store
