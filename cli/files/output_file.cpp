#include "cli/files/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/files/output_name.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/screen.h"
#include "cli/terminal/write_text.h"
#include "protocol/own_file.h"
#include "protocol/plain_text.h"

namespace wicprof::cli {

namespace {

/// What a name stands for, after its links.
enum class Place {
  absent,
  file,
  own_stdout,    ///< another name of this process's stdout, such as /dev/stdout
  stream,        ///< a terminal, /dev/null, a FIFO: written in place
  foreign_pipe,  ///< of another user, who would read what is written, or let the process wait
  folder,
  other,  ///< a disk, a socket
};

Place place_of(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return Place::absent;
  struct stat own {};
  if (fstat(STDOUT_FILENO, &own) == 0 && own.st_dev == info.st_dev && own.st_ino == info.st_ino)
    return Place::own_stdout;
  if (S_ISREG(info.st_mode)) return Place::file;
  if (S_ISDIR(info.st_mode)) return Place::folder;
  if (S_ISFIFO(info.st_mode)) return is_own_or_roots(info) ? Place::stream : Place::foreign_pipe;
  return S_ISCHR(info.st_mode) ? Place::stream : Place::other;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

Error exists(const std::string& path) {
  return bad_input(fmt::format("{} exists; choose another name with -o, or -f to overwrite it", path));
}

Error cannot_write(const std::string& what, int error) {
  const char* const cure = error == EFBIG                       ? "; raise ulimit -f"
                           : error == EMFILE || error == ENFILE ? "; raise ulimit -n"
                           : what == "stdout"                   ? ""
                                                                : "; choose another place with -o";
  return unavailable(fmt::format("cannot write to {}: {}{}", what, std::strerror(error), cure));
}

Result<> write_in_place(const std::string& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return cannot_write(path, errno);
  int error = write_text(fd, text);
  if (close(fd) != 0 && error == 0) error = errno;
  if (error != 0) return cannot_write(path, error);
  return ok();
}

/// A full disk neither destroys the old file nor leaves half a new one.
Result<> replace_file(const Output& output, std::string_view text) {
  // A link stays, and its file is replaced.
  const Result<std::string> behind = behind_own_links(output.name);
  if (!behind) return behind.error();
  NewFile file(*behind);
  if (file.descriptor() < 0) return cannot_write(*behind, errno);
  int error = write_text(file.descriptor(), text);
  if (error == 0) error = file.take_name(output.overwrite);
  if (error == 0) return ok();
  if (error == EEXIST) return exists(output.name);
  return cannot_write(output.name, error);
}

}  // namespace

Result<Output> prepare_output(const Output& output) {
  if (output.name == "-") return output;
  const Result<std::string> name = expand_output_name(output.name, getpid());
  if (!name) return name.error();
  const Result<std::string> behind = behind_own_links(*name);
  if (!behind) return behind.error();
  switch (place_of(*name)) {
    case Place::folder:
      return bad_input(fmt::format("{} is a folder; name a file in it with -o", *name));
    case Place::other:
      return bad_input(fmt::format("{} is neither a file nor a stream; name a file with -o", *name));
    case Place::foreign_pipe:
      return bad_input(fmt::format("{} is a pipe of another user; name a file with -o", *name));
    case Place::own_stdout:
    case Place::stream:
      if (output.only_file) return bad_input(fmt::format("{} is no file; remove it", *name));
      return Output{*name, output.overwrite};
    case Place::file:
      if (!output.overwrite) return exists(*name);
      break;
    case Place::absent:
      break;
  }
  const std::string folder = folder_of(*behind);
  if (access(folder.c_str(), W_OK) != 0) {
    return bad_input(fmt::format("cannot write {}: the folder {}: {}; choose another place with -o", *name, folder,
                                 std::strerror(errno)));
  }
  return Output{*name, output.overwrite};
}

Result<> write_output(const Output& prepared, std::string_view text) {
  const Colours colours = prepared.name == "-" && screen_of(STDOUT_FILENO).colour ? Colours::ours : Colours::none;
  if (is_plain(text, colours)) return write_bytes_to(prepared, text);
  return write_bytes_to(prepared, plain_text(text, colours));
}

Result<> write_bytes_to(const Output& prepared, std::string_view text) {
  const Place place = prepared.name == "-" ? Place::own_stdout : place_of(prepared.name);
  switch (place) {
    case Place::own_stdout:
      if (const int error = write_text(STDOUT_FILENO, text); error != 0) return cannot_write("stdout", error);
      return ok();
    case Place::stream:
      return write_in_place(prepared.name, text);
    case Place::folder:
    case Place::foreign_pipe:
    case Place::other:
      return bad_input(fmt::format("{} is no longer a file; name another one with -o", prepared.name));
    case Place::file:
    case Place::absent:
      break;
  }
  return replace_file(prepared, text);
}

int print_answer(std::string_view text) {
  const Result<> written = write_output({"-", false}, text);
  return written ? static_cast<int>(kDone) : fail(written.error());
}

Result<int> open_log(const Output& log) {
  const Place place = place_of(log.name);
  if (place != Place::absent && place != Place::file) {
    return bad_input(fmt::format("{} is not a file; choose another place with -o", log.name));
  }
  struct stat info {};
  const bool is_link = lstat(log.name.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
  if (is_link) return cannot_write(log.name, ELOOP);
  // A new file: somebody else may have the old one open, or own it.
  if (log.overwrite && unlink(log.name.c_str()) != 0 && errno != ENOENT) return cannot_write(log.name, errno);
  const int fd = open(log.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd >= 0) return fd;
  if (errno == EEXIST) return exists(log.name);
  return cannot_write(log.name, errno);
}

}  // namespace wicprof::cli
