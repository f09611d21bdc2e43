#include "import/kind.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "protocol/own_file.h"
#include "protocol/shell_words.h"

namespace wicprof::imports {

namespace {

constexpr std::size_t kHead = 64;

/// The first bytes of a regular file.
Result<std::string> head_of(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return bad_input(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  struct stat info {};
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(file);
    return bad_input(path + " is no file; name the file that the other tool wrote");
  }
  std::string head(kHead, '\0');
  head.resize(read_bytes(file, head.data(), head.size()));
  ::close(file);
  if (head.empty()) return bad_input(path + " is empty; copy it again");
  return head;
}

Error to_convert(const std::string& path, std::string_view tool, std::string_view command) {
  return bad_input(fmt::format("{} is a report of {}, whose format only NVIDIA's tools read; convert it first: {} {}",
                               path, tool, command, shell_word(path)));
}

bool ends_with(std::string_view path, std::string_view end) { return path.ends_with(end); }

}  // namespace

Result<FileKind> kind_of(const std::string& path) {
  const Result<std::string> read = head_of(path);
  if (!read) return read.error();
  const std::string_view head = *read;
  if (head.starts_with("SQLite format 3")) return FileKind::nsys_sqlite;
  if (ends_with(path, ".nsys-rep") || ends_with(path, ".qdrep") || head.starts_with("NVIDIA Tegra Profiler Report"))
    return to_convert(path, "Nsight Systems", "nsys export --type sqlite");
  if (ends_with(path, ".ncu-rep") || head.starts_with("NVR\0"))
    return bad_input(fmt::format(
        "{} is a report of Nsight Compute: counters of single kernels, replayed, without a timeline. wic-prof has no "
        "use "
        "for them; to read them: ncu --import {} --csv --page raw. To record a timeline: wic-prof run -- APP",
        path, shell_word(path)));
  if (head.starts_with("\x1f\x8b")) return FileKind::kineto_json;
  if (head.starts_with("\x80") && head.size() > 1 && head[1] >= 2 && head[1] <= 5) return FileKind::flight_recorder;
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (head[first] == '{' || head[first] == '[')) return FileKind::kineto_json;
  return bad_input(path +
                   " is of no kind that wic-prof import reads: Nsight Systems' SQLite export, JSON of torch.profiler "
                   "(.json or .json.gz), a dump of PyTorch's Flight Recorder");
}

}  // namespace wicprof::imports
