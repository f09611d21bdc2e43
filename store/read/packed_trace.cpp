#include "store/read/packed_trace.h"

#include <fcntl.h>
#include <stdlib.h>  // mkostemp
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "protocol/own_file.h"

namespace wicprof::store {

namespace {

constexpr std::array<unsigned char, 2> kMagic = {0x1f, 0x8b};
constexpr std::uint64_t kMaxBytes = std::uint64_t{16} << 30;
constexpr std::size_t kPieceBytes = 256 * 1024;

bool write_all(int file, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = ::write(file, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

Error cannot_unpack(const std::string& packed, const std::string& folder, int error) {
  const bool too_many = error == EMFILE || error == ENFILE;
  return unavailable("cannot unpack " + packed + " to the folder " + folder + ": " + std::strerror(error) +
                     (too_many         ? "; raise ulimit -n"
                      : error == EFBIG ? "; raise ulimit -f"
                                       : "; set TMPDIR to a writable folder with free space"));
}

// TMPDIR may name no folder at all: the message must show what it names.
std::string temporary_folder() {
  const char* const named = ::secure_getenv("TMPDIR");
  return named != nullptr && *named != '\0' ? named : "/tmp";
}

}  // namespace

bool is_packed(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  std::array<unsigned char, 2> begin{};
  const bool whole = read_bytes(file, begin.data(), begin.size()) == begin.size();
  ::close(file);
  return whole && begin == kMagic;
}

Result<UnpackedTrace> UnpackedTrace::make(const std::string& packed) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> from(gzopen(packed.c_str(), "rbe"), gzclose);
  if (from == nullptr)
    return bad_input("cannot open " + packed + ": " + std::strerror(errno) + "; check who may read it");

  const std::string folder = temporary_folder();
  std::string name = folder + "/wic-prof.XXXXXX";
  const int to = mkostemp(name.data(), O_CLOEXEC);
  if (to < 0) return cannot_unpack(packed, folder, errno);
  UnpackedTrace trace(name);  // removes the file on every path

  std::vector<char> piece(kPieceBytes);
  std::uint64_t bytes = 0;
  int read = 0;
  bool written = true;
  while (written && bytes <= kMaxBytes && (read = gzread(from.get(), piece.data(), kPieceBytes)) > 0) {
    written = write_all(to, piece.data(), static_cast<std::size_t>(read));
    bytes += static_cast<std::uint64_t>(read);
  }
  if (!written) {
    const Error failure = cannot_unpack(packed, folder, errno);
    ::close(to);
    return failure;
  }
  ::close(to);
  if (bytes > kMaxBytes) return bad_input(packed + " unpacks to more than 16 GiB; unpack it with gunzip");
  int code = Z_OK;
  const char* const reason = gzerror(from.get(), &code);
  if (read < 0 || code != Z_OK) {
    return bad_input(packed + " is damaged or truncated (" + reason + "); copy it again");
  }
  return Result<UnpackedTrace>(std::move(trace));
}

UnpackedTrace::~UnpackedTrace() {
  if (path_.empty()) return;
  ::unlink(path_.c_str());
  // Files of a copy that was left in WAL mode.
  ::unlink((path_ + "-wal").c_str());
  ::unlink((path_ + "-shm").c_str());
}

}  // namespace wicprof::store
