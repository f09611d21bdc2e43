#include "store/format/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "protocol/limit_words.h"
#include "protocol/own_file.h"
#include "store/format/schema.h"
#include "store/sqlite/companions.h"

namespace wicprof::store {

namespace {

// Offsets in the header of every SQLite file (the SQLite file format, section 1.3); numbers are big-endian.
constexpr std::size_t kHeaderBytes = 100;
constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kPageSizeAt = 16;
constexpr std::size_t kReadVersionAt = 19;
constexpr std::uint64_t kReadVersionOfWal = 2;
constexpr std::size_t kPageCountAt = 28;
constexpr std::size_t kUserVersionAt = 60;
constexpr std::size_t kApplicationIdAt = 68;

using Header = std::array<unsigned char, kHeaderBytes>;

std::uint32_t big_endian(const Header& header, std::size_t at, std::size_t bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | header[at + i];
  return value;
}

// SQLite can neither write into a device or a pipe, nor keep a link: such names are refused, never removed.
Result<> check_place(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) return ok();
  const char* const kind = S_ISDIR(info.st_mode)    ? "a folder; name a file"
                           : S_ISLNK(info.st_mode)  ? "a symbolic link; name its target or another file"
                           : S_ISCHR(info.st_mode)  ? "a device, and a trace is a database; name a file"
                           : S_ISBLK(info.st_mode)  ? "a disk, and a trace is a database; name a file"
                           : S_ISFIFO(info.st_mode) ? "a pipe, and a trace is a database; name a file"
                                                    : "not a file; name one";
  return bad_input(path + " is " + kind + " with -o");
}

Result<> remove_old(const std::string& path) {
  if (TraceLock::is_held(path)) {
    return bad_input(path + " is being recorded by another wic-prof; end that run first, or name another file with -o");
  }
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    const std::string file = path + suffix;
    if (unlink(file.c_str()) != 0 && errno != ENOENT) {
      return bad_input("cannot replace " + file + ": " + std::strerror(errno) + "; name another file with -o");
    }
  }
  return ok();
}

Error cannot_create(const std::string& path, int error) {
  const std::string reason = "cannot create the trace " + path + ": " + std::strerror(error);
  switch (error) {
    case EEXIST:
      return bad_input(path + " already exists; overwrite it with -f, or name another file with -o");
    case ENOENT:
    case ENOTDIR:
      return bad_input(reason + "; create its folder first, or name another with -o");
    case EACCES:
    case EPERM:
    case EROFS:
      return bad_input(reason + "; name a file in a folder that you can write to with -o");
    case ENOSPC:
    case EDQUOT:
      return unavailable(reason + "; free some space, or write the trace elsewhere with -o");
    default:
      return bad_input(reason + "; name another file with -o");
  }
}

}  // namespace

std::string wal_of(const std::string& path) { return path + "-wal"; }

bool has_wal_file(const std::string& path) { return access(wal_of(path).c_str(), F_OK) == 0; }

bool has_wal(const std::string& path) {
  struct stat info {};
  return stat(wal_of(path).c_str(), &info) == 0 && info.st_size > 0;
}

bool lacks_log(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  Header header{};
  const std::size_t bytes = read_bytes(file, header.data(), header.size());
  ::close(file);
  return bytes == kHeaderBytes && big_endian(header, kReadVersionAt, 1) == kReadVersionOfWal && !has_wal_file(path);
}

void remove_log(const std::string& path) {
  unlink(wal_of(path).c_str());
  unlink((path + "-shm").c_str());
}

NewTrace::NewTrace(const std::string& path) {
  names_.push_back(path);
  for (const char* const companion : kCompanions) names_.push_back(path + companion);
}

NewTrace::~NewTrace() {
  if (!there_) return;
  for (const std::string& name : names_) unlink(name.c_str());
}

Result<Database> create_trace(const std::string& path, bool overwrite, TraceLock& lock,
                              const std::string& more_tables) {
  if (path.empty()) return bad_input("the trace has no file name; name one with -o");
  if (Result<> place = check_place(path); !place) return place.error();
  if (overwrite) {
    if (Result<> removed = remove_old(path); !removed) return removed.error();
  }
  NewTrace made(path);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kTraceMode);
  if (file < 0) return cannot_create(path, errno);
  made.made();
  lock = TraceLock(file);
  // What a killed recorder of an earlier trace with this name left would be read as this trace's.
  for (const char* const companion : kCompanions) {
    const std::string name = path + companion;
    if (unlink(name.c_str()) == 0 || errno == ENOENT) continue;
    return bad_input("cannot create the trace " + path + ": " + name + " is in the way (" + std::strerror(errno) +
                     "); remove it, or name another file with -o");
  }

  Database database;
  int code = database.open(path, OpenMode::read_write);
  // The schema is written to the file itself before the log begins, so that the file is a recognisable trace from then
  // on. Until the trace is folded, the system decides when to write to the disk: syncing would stall the recorder for a
  // tenth of a second at times.
  if (code == 0)
    code = database.execute("PRAGMA synchronous = OFF; BEGIN;" + create_tables_sql() + more_tables + "COMMIT;");
  // Where the file system cannot share memory, SQLite keeps its rollback journal: slower, but as safe.
  if (code == 0) code = database.execute("PRAGMA journal_mode = WAL");
  if (code == 0) {
    made.keep();
    return database;
  }
  const std::string reason = database.message();
  const char* const cure = fault_of(code) == Fault::no_room ? "; free some space, or write the trace elsewhere with -o"
                           : fault_of(code) == Fault::busy
                               ? "; end the program that has it open, or name another file with -o"
                               : "; write the trace elsewhere with -o";
  if (fault_of(code) == Fault::no_memory)
    return unavailable("cannot create the trace " + path + ": " + reason + "; " + memory_cure());
  return unavailable("cannot create the trace " + path + ": " + reason + cure);
}

Result<> check_trace(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT)
      return bad_input("no such trace: " + path + "; check the name, or record one with wic-prof run");
    return bad_input("cannot open " + path + ": " + std::strerror(errno));
  }
  if (S_ISDIR(info.st_mode)) return bad_input(path + " is a folder; name the trace in it");
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    const bool too_many = errno == EMFILE || errno == ENFILE;
    const std::string reason = "cannot open " + path + ": " + std::strerror(errno);
    return too_many ? unavailable(reason + "; raise ulimit -n") : bad_input(reason + "; check who may read it");
  }
  Header header{};
  const std::size_t bytes = read_bytes(file, header.data(), header.size());
  ::close(file);

  const std::size_t magic_bytes = std::min(kMagic.size(), bytes);
  if (magic_bytes == 0) return bad_input(path + " is empty, not a trace; record again with wic-prof run");
  if (std::memcmp(header.data(), kMagic.data(), magic_bytes) != 0) {
    return bad_input(path + " is not a trace; name a file that wic-prof run has written");
  }
  if (bytes < kHeaderBytes) {
    return bad_input(path + " is truncated: it ends after " + std::to_string(bytes) +
                     " bytes; copy it again, or record again");
  }
  if (const std::string what = in_the_way_of(path); !what.empty()) {
    return bad_input("cannot read " + path + ": " + what +
                     "; remove it, or copy the trace to a folder that only you can write to");
  }
  if (big_endian(header, kApplicationIdAt, 4) != kApplicationId) {
    return bad_input(path + " is an SQLite file but not a trace; name a file that wic-prof run has written");
  }
  const std::int64_t version = big_endian(header, kUserVersionAt, 4);
  if (version > kSchemaVersion) {
    return bad_input(path + " was written by a newer wic-prof: version " + std::to_string(version) +
                     " of the trace file, and this one reads up to " + std::to_string(kSchemaVersion) +
                     "; update wic-prof");
  }
  if (version < kOldestReadable) {
    return bad_input(path + " was written by an older wic-prof: version " + std::to_string(version) +
                     " of the trace file, and this one reads from " + std::to_string(kOldestReadable) +
                     "; record again, or read it with the wic-prof that wrote it");
  }
  // The file may lack pages that its log has; SQLite then reads them from the log.
  const std::uint64_t page_size = big_endian(header, kPageSizeAt, 2);
  const std::uint64_t wanted = big_endian(header, kPageCountAt, 4) * (page_size == 1 ? 65536 : page_size);
  if (static_cast<std::uint64_t>(info.st_size) < wanted && !has_wal(path)) {
    return bad_input(path + " is truncated: " + std::to_string(info.st_size) + " of " + std::to_string(wanted) +
                     " bytes are present; copy it again, or record again");
  }
  return ok();
}

}  // namespace wicprof::store
