#include "store/read/packed_trace.h"

#include <fcntl.h>
#include <stdlib.h>  // mkostemp
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "protocol/own_file.h"

namespace wicprof::store {

namespace {

constexpr std::array<unsigned char, 2> kMagic = {0x1f, 0x8b};
constexpr std::uint64_t kMaxBytes = std::uint64_t{16} << 30;
constexpr std::size_t kPieceBytes = 256 * 1024;
/// How a trace begins.
constexpr std::string_view kBegin("SQLite format 3\0", 16);

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

/// Reads the members of a gzip file: the output of one is a trace, or the next part of one, as some packers write them.
class PackedTraces::State {
 public:
  State(std::string packed, int file) : packed_(std::move(packed)), file_(file), input_(kPieceBytes) {}
  State(const State&) = delete;
  ~State() {
    if (open_) inflateEnd(&stream_);
    ::close(file_);
  }

  bool open() {
    constexpr int kGzip = 16;  // added to the window's bits
    open_ = inflateInit2(&stream_, MAX_WBITS + kGzip) == Z_OK;
    ended_ = !open_;
    return open_;
  }
  bool more() const { return !ended_ || !next_.empty(); }
  const std::string& packed() const { return packed_; }

  /// Appends the next trace to the file. Nothing, or why not.
  std::optional<Error> unpack(int to, const std::string& folder) {
    std::string piece = std::exchange(next_, {});
    for (std::uint64_t bytes = 0;;) {
      if (!write_all(to, piece.data(), piece.size())) return cannot_unpack(packed_, folder, errno);
      bytes += piece.size();
      if (bytes > kMaxBytes) return bad_input(packed_ + " unpacks to more than 16 GiB; unpack it with gunzip");
      if (ended_) return std::nullopt;
      const bool begins = begins_;
      if (std::optional<Error> error = take(piece)) return error;
      if (begins && bytes > 0 && piece.starts_with(kBegin)) {
        next_ = std::move(piece);
        return std::nullopt;
      }
    }
  }

 private:
  /// The next piece of one member's output.
  std::optional<Error> take(std::string& piece) {
    piece.resize(kPieceBytes);
    stream_.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream_.avail_out = static_cast<uInt>(piece.size());
    begins_ = false;
    while (stream_.avail_out > 0 && !begins_) {
      if (!has_input()) return damaged("unexpected end of file");
      const int code = inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        begins_ = true;
        // As gunzip does, leaves alone what comes behind and is not packed.
        ended_ = !has_input() || inflateReset(&stream_) != Z_OK || *stream_.next_in != kMagic[0];
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return damaged(stream_.msg == nullptr ? "incorrect data" : stream_.msg);
      }
    }
    piece.resize(piece.size() - stream_.avail_out);
    return std::nullopt;
  }

  bool has_input() {
    if (stream_.avail_in > 0) return true;
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(read_bytes(file_, input_.data(), input_.size()));
    return stream_.avail_in > 0;
  }
  Error damaged(std::string_view reason) const {
    return bad_input(packed_ + " is damaged or truncated (" + std::string(reason) + "); copy it again");
  }

  std::string packed_;
  int file_;
  z_stream stream_{};
  std::vector<unsigned char> input_;
  std::string next_;     // the begin of the next trace
  bool open_ = false;    // stream_
  bool begins_ = false;  // a member
  bool ended_ = false;
};

Result<PackedTraces> PackedTraces::open(const std::string& packed) {
  const int file = ::open(packed.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return bad_input("cannot open " + packed + ": " + std::strerror(errno) + "; check who may read it");
  auto state = std::make_unique<State>(packed, file);
  if (!state->open()) return unavailable("cannot unpack " + packed + ": out of memory; free some memory");
  return PackedTraces(std::move(state));
}

PackedTraces::PackedTraces(std::unique_ptr<State> state) : state_(std::move(state)) {}
PackedTraces::PackedTraces(PackedTraces&&) noexcept = default;
PackedTraces::~PackedTraces() = default;

bool PackedTraces::more() const { return state_->more(); }

Result<std::optional<UnpackedTrace>> PackedTraces::next() {
  if (!more()) return std::optional<UnpackedTrace>();
  const std::string folder = temporary_folder();
  std::string name = folder + "/wic-prof.XXXXXX";
  const int to = mkostemp(name.data(), O_CLOEXEC);
  if (to < 0) return cannot_unpack(state_->packed(), folder, errno);
  std::optional<UnpackedTrace> trace(std::in_place, name);  // removes the file on every path
  const std::optional<Error> error = state_->unpack(to, folder);
  ::close(to);
  if (error) return *error;
  return Result<std::optional<UnpackedTrace>>(std::move(trace));
}

UnpackedTrace::~UnpackedTrace() {
  if (path_.empty()) return;
  ::unlink(path_.c_str());
  // Files of a copy that was left in WAL mode.
  ::unlink((path_ + "-wal").c_str());
  ::unlink((path_ + "-shm").c_str());
}

}  // namespace wicprof::store
