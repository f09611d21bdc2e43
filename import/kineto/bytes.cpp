#include "import/kineto/bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace wicprof::imports {

namespace {
constexpr std::size_t kPiece = std::size_t{256} << 10;
}

struct Bytes::Packed {
  z_stream stream{};
  bool between_members = true;  ///< at the end of a part that gzip closed
  Packed() { inflateInit2(&stream, 15 + 16); }
  Packed(const Packed&) = delete;
  ~Packed() { inflateEnd(&stream); }
};

Bytes::Bytes() = default;
Bytes::Bytes(std::string_view bytes)
    : file_bytes_(bytes.size()), begin_(bytes.data()), next_(begin_), end_(begin_ + bytes.size()) {}

Bytes::Bytes(Bytes&& other) noexcept { *this = std::move(other); }
Bytes& Bytes::operator=(Bytes&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(file_bytes_, other.file_bytes_);
  std::swap(read_, other.read_);
  std::swap(before_, other.before_);
  std::swap(since_text_, other.since_text_);
  std::swap(raw_, other.raw_);
  std::swap(unpacked_, other.unpacked_);
  std::swap(begin_, other.begin_);
  std::swap(next_, other.next_);
  std::swap(end_, other.end_);
  std::swap(packed_, other.packed_);
  std::swap(error_, other.error_);
  return *this;
}
Bytes::~Bytes() {
  if (file_ >= 0) ::close(file_);
}

Result<Bytes> Bytes::open(const std::string& path) {
  Bytes bytes;
  bytes.file_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat info {};
  if (bytes.file_ < 0 || fstat(bytes.file_, &info) != 0)
    return bad_input(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  bytes.file_bytes_ = static_cast<std::uint64_t>(info.st_size);
  bytes.raw_.resize(kPiece);
  char head[2] = {};
  if (pread(bytes.file_, head, 2, 0) == 2 && head[0] == '\x1f' && head[1] == '\x8b') {
    bytes.packed_ = std::make_unique<Packed>();
    bytes.unpacked_.resize(4 * kPiece);
  }
  return Result<Bytes>(std::move(bytes));
}

double Bytes::part() const {
  return file_bytes_ == 0 ? 1 : std::min(1.0, static_cast<double>(read_) / static_cast<double>(file_bytes_));
}

/// Reads from the file what the piece has room for; false at the file's end.
bool Bytes::read_more() {
  if (file_ < 0) return false;
  ssize_t got = 0;
  do {
    got = ::read(file_, raw_.data(), raw_.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) error_ = std::strerror(errno);
  if (got <= 0) return false;
  read_ += static_cast<std::uint64_t>(got);
  begin_ = next_ = raw_.data();
  end_ = begin_ + got;
  return true;
}

bool Bytes::refill() {
  if (!error_.empty()) return false;
  if (position() - since_text_ > kMostPerText) {
    error_ = "one text of it has more than 64 MiB";
    return false;
  }
  before_ = position();
  begin_ = next_ = end_;
  if (packed_ == nullptr) return read_more();
  z_stream& stream = packed_->stream;
  stream.next_out = reinterpret_cast<Bytef*>(unpacked_.data());
  stream.avail_out = static_cast<uInt>(unpacked_.size());
  while (stream.avail_out == unpacked_.size()) {
    if (stream.avail_in == 0) {
      if (!read_more()) {
        if (error_.empty() && !packed_->between_members) error_ = "the packed file ends early";
        begin_ = next_ = end_ = unpacked_.data();
        return false;
      }
      stream.next_in = reinterpret_cast<Bytef*>(raw_.data());
      stream.avail_in = static_cast<uInt>(end_ - begin_);
    }
    packed_->between_members = false;
    const int code = inflate(&stream, Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
      packed_->between_members = true;
      inflateReset(&stream);
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      error_ = fmt::format("its gzip data is damaged ({})", stream.msg == nullptr ? "no reason" : stream.msg);
      begin_ = next_ = end_ = unpacked_.data();
      return false;
    }
  }
  begin_ = next_ = unpacked_.data();
  end_ = begin_ + (unpacked_.size() - stream.avail_out);
  return true;
}

}  // namespace wicprof::imports
