// Preloaded by system_calls.py into wic-prof alone: what happens at one of its calls of the C library.
//
//   WICPROF_TEST_TALLY=FILE          how often each call was made, in the order of the first, one "NAME COUNT" per line
//   WICPROF_TEST_AT="NAME N ACTION"  at the Nth call of NAME; "N+": at each from the Nth on. ACTION: "short", which
//   lets
//                                    the call move half of its bytes, or a signal's number, which the process gets.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kShort = -1;

struct Counted {
  const char* name;
  std::atomic<unsigned> calls{0};
};

Counted counted[64];
std::atomic<unsigned> names{0};
pid_t process = 0;  // whose calls are meant; 0: none
char wanted[64];
unsigned first = 0;
bool ever = false;
int action = 0;

Counted& count_of(const char* name) {
  Counted& one = counted[names.fetch_add(1) % std::size(counted)];
  one.name = name;
  return one;
}

// Returns whether the call is to be short.
bool is_short(Counted& one) {
  if (process == 0 || process != getpid()) return false;
  const unsigned at = one.calls.fetch_add(1) + 1;
  if (std::strcmp(one.name, wanted) != 0 || (ever ? at < first : at != first)) return false;
  if (action == kShort) return true;
  const int error = errno;
  kill(process, action);
  errno = error;
  return false;
}

size_t half(size_t bytes, bool is) { return is && bytes > 1 ? bytes / 2 : bytes; }

[[gnu::constructor]] void begin() {
  if (std::strcmp(program_invocation_short_name, "wic-prof") != 0) return;
  process = getpid();
  const char* const at = std::getenv("WICPROF_TEST_AT");
  char number[16] = {}, what[16] = {};
  if (at == nullptr || std::sscanf(at, "%63s %15s %15s", wanted, number, what) != 3) return;
  first = static_cast<unsigned>(std::atoi(number));
  ever = std::strchr(number, '+') != nullptr;
  action = std::strcmp(what, "short") == 0 ? kShort : std::atoi(what);
}

[[gnu::destructor]] void end() {
  const char* const path = std::getenv("WICPROF_TEST_TALLY");
  if (path == nullptr || process != getpid()) return;
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) return;
  for (unsigned i = 0; i < names.load() && i < std::size(counted); ++i)
    std::fprintf(file, "%s %u\n", counted[i].name, counted[i].calls.load());
  std::fclose(file);
}

}  // namespace

#define NEXT(NAME)                                                                     \
  static const auto next = reinterpret_cast<decltype(&NAME)>(dlsym(RTLD_NEXT, #NAME)); \
  static Counted& mine = count_of(#NAME);                                              \
  [[maybe_unused]] const bool cut = is_short(mine)

// A call that moves no bytes.
#define CALL(RESULT, NAME, PARAMETERS, ARGUMENTS) \
  RESULT NAME PARAMETERS {                        \
    NEXT(NAME);                                   \
    return next ARGUMENTS;                        \
  }

extern "C" {

ssize_t read(int file, void* to, size_t bytes) {
  NEXT(read);
  return next(file, to, half(bytes, cut));
}
ssize_t write(int file, const void* from, size_t bytes) {
  NEXT(write);
  return next(file, from, half(bytes, cut));
}
ssize_t pread64(int file, void* to, size_t bytes, off64_t at) {
  NEXT(pread64);
  return next(file, to, half(bytes, cut), at);
}
ssize_t pwrite64(int file, const void* from, size_t bytes, off64_t at) {
  NEXT(pwrite64);
  return next(file, from, half(bytes, cut), at);
}
ssize_t writev(int file, const iovec* parts, int count) {
  NEXT(writev);
  return next(file, parts, cut && count > 1 ? count - 1 : count);
}
ssize_t recv(int socket, void* to, size_t bytes, int flags) {
  NEXT(recv);
  return next(socket, to, half(bytes, cut), flags);
}
ssize_t send(int socket, const void* from, size_t bytes, int flags) {
  NEXT(send);
  return next(socket, from, half(bytes, cut), flags);
}

CALL(ssize_t, recvmsg, (int socket, msghdr* message, int flags), (socket, message, flags))
CALL(ssize_t, sendmsg, (int socket, const msghdr* message, int flags), (socket, message, flags))
CALL(int, accept4, (int socket, sockaddr* of, socklen_t* bytes, int flags), (socket, of, bytes, flags))
CALL(int, bind, (int socket, const sockaddr* to, socklen_t bytes), (socket, to, bytes))
CALL(int, connect, (int socket, const sockaddr* to, socklen_t bytes), (socket, to, bytes))
CALL(int, listen, (int socket, int backlog), (socket, backlog))
CALL(int, close, (int file), (file))
CALL(int, fchmod, (int file, mode_t mode), (file, mode))
CALL(int, fdatasync, (int file), (file))
CALL(int, ftruncate64, (int file, off64_t bytes), (file, bytes))
CALL(int, posix_fallocate, (int file, off_t at, off_t bytes), (file, at, bytes))
CALL(int, link, (const char* from, const char* to), (from, to))
CALL(int, linkat, (int of, const char* from, int to_folder, const char* to, int flags),
     (of, from, to_folder, to, flags))
CALL(int, mkdir, (const char* path, mode_t mode), (path, mode))
CALL(int, rename, (const char* from, const char* to), (from, to))
CALL(int, rmdir, (const char* path), (path))
CALL(int, unlink, (const char* path), (path))
CALL(int, unlinkat, (int folder, const char* path, int flags), (folder, path, flags))
CALL(ssize_t, readlink, (const char* path, char* to, size_t bytes), (path, to, bytes))
CALL(pid_t, fork, (), ())
CALL(pid_t, waitpid, (pid_t pid, int* status, int options), (pid, status, options))
CALL(int, pipe2, (int* ends, int flags), (ends, flags))
CALL(int, dup, (int file), (file))
CALL(int, dup2, (int from, int to), (from, to))
CALL(int, poll, (pollfd * files, nfds_t count, int timeout), (files, count, timeout))
CALL(int, nanosleep, (const timespec* time, timespec* rest), (time, rest))
CALL(int, sigtimedwait, (const sigset_t* set, siginfo_t* info, const timespec* time), (set, info, time))
CALL(int, pthread_create, (pthread_t * thread, const pthread_attr_t* attributes, void* (*body)(void*), void* with),
     (thread, attributes, body, with))
CALL(int, pthread_join, (pthread_t thread, void** result), (thread, result))
CALL(void*, mmap64, (void* at, size_t bytes, int protection, int flags, int file, off64_t offset),
     (at, bytes, protection, flags, file, offset))
CALL(int, munmap, (void* at, size_t bytes), (at, bytes))

long ptrace(__ptrace_request request, ...) {
  NEXT(ptrace);
  __builtin_va_list rest;
  __builtin_va_start(rest, request);
  const pid_t thread = __builtin_va_arg(rest, pid_t);
  void* const address = __builtin_va_arg(rest, void*);
  void* const data = __builtin_va_arg(rest, void*);
  __builtin_va_end(rest);
  return next(request, thread, address, data);
}

// With a mode that comes only where a file may be made.
int open64(const char* path, int flags, ...) {
  NEXT(open64);
  __builtin_va_list rest;
  __builtin_va_start(rest, flags);
  const int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? __builtin_va_arg(rest, int) : 0;
  __builtin_va_end(rest);
  return next(path, flags, mode);
}
int open(const char* path, int flags, ...) {
  NEXT(open);
  __builtin_va_list rest;
  __builtin_va_start(rest, flags);
  const int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? __builtin_va_arg(rest, int) : 0;
  __builtin_va_end(rest);
  return next(path, flags, mode);
}

}  // extern "C"
