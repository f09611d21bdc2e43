#include "cli/record/last_words.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "analyzer/words/format.h"

namespace wicprof::cli {

namespace {

constexpr char kStderr[] = "/proc/self/fd/2";
constexpr std::string_view kOwnLabel = "wic-prof: ";
constexpr long long kMostBytes = 4096;  // of the end; longer last lines are cut at their beginning

long long size_of_stderr() noexcept {
  struct stat info {};
  return fstat(STDERR_FILENO, &info) == 0 && S_ISREG(info.st_mode) ? static_cast<long long>(info.st_size) : -1;
}

std::string read_between(long long begin, long long end) {
  std::string text;
  // The program's own descriptor may be open for writing only.
  const int fd = open(kStderr, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  text.resize(static_cast<std::size_t>(end - begin));
  const ssize_t n = pread(fd, text.data(), text.size(), begin);
  close(fd);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}

}  // namespace

LastWords::LastWords() noexcept : begin_(size_of_stderr()) {}

void LastWords::program_ended() noexcept { end_ = size_of_stderr(); }

std::string LastWords::line() const {
  if (begin_ < 0 || end_ <= begin_) return {};
  const std::string text = read_between(std::max(begin_, end_ - kMostBytes), end_);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t begin = rest.substr(0, rest.size() - 1).rfind('\n') + 1;  // npos + 1 is 0
    std::string line = analyzer::one_line(rest.substr(begin));
    line = line.substr(0, line.find(kOwnLabel));  // behind a line of the program that has no end yet
    const std::size_t first = line.find_first_not_of(' ');
    if (first != line.npos) return line.substr(first, line.find_last_not_of(' ') + 1 - first);
    rest = rest.substr(0, begin);
  }
  return {};
}

bool LastWords::on_terminal() noexcept { return isatty(STDERR_FILENO) == 1; }

}  // namespace wicprof::cli
