#include "protocol/session_memory.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "protocol/session.h"
#include "protocol/time.h"

namespace wicprof {

namespace {

constexpr TimeNs kAnswerTimeout = kSecond;

struct Pointer {
  static constexpr std::uint64_t kMagic = 0x31504d4553434957;  // "WICSEMP1"
  std::uint64_t magic = kMagic;
  std::int32_t pid = 0, number = 0;     // the tool's, and its descriptor
  std::uint64_t device = 0, inode = 0;  // what that must be
};

bool is_memory(const struct stat& info, const Pointer& pointer) {
  return static_cast<std::uint64_t>(info.st_dev) == pointer.device &&
         static_cast<std::uint64_t>(info.st_ino) == pointer.inode;
}

// Below 0: the tool's process is not to be seen, or not to be looked into.
int open_by_proc(const Pointer& pointer) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", pointer.pid, pointer.number);
  struct stat info {};
  // Before it is opened: in another pid namespace this is a file of some other process.
  if (stat(path, &info) != 0 || !is_memory(info, pointer)) return -1;
  const int memory = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (memory < 0 || (fstat(memory, &info) == 0 && is_memory(info, pointer))) return memory;
  close(memory);
  return -1;
}

bool address_of(const std::string& path, int folder, sockaddr_un& address) {
  address.sun_family = AF_UNIX;
  std::string name = path;
  if (name.size() >= sizeof address.sun_path)
    name = "/proc/self/fd/" + std::to_string(folder) + "/" + path.substr(path.rfind('/') + 1);
  if (name.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  return true;
}

// The descriptor that came with the answer; below 0: none.
int receive_memory(int socket) {
  char line[256];
  iovec data{line, sizeof line};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const TimeNs end = now_ns() + kAnswerTimeout;
  for (;;) {
    const TimeNs left = end - now_ns();
    pollfd ready{socket, POLLIN, 0};
    const int n = left <= 0 ? 0 : poll(&ready, 1, static_cast<int>(left / kMillisecond) + 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) <= 0) return -1;
    break;
  }
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return -1;
  int memory = -1;
  std::memcpy(&memory, CMSG_DATA(header), sizeof memory);
  return memory;
}

int ask_for_memory(const std::string& session_path) {
  constexpr std::string_view kSuffix = ".session";
  if (session_path.size() <= kSuffix.size() || session_path.substr(session_path.size() - kSuffix.size()) != kSuffix)
    return -1;
  const std::string path = session_path.substr(0, session_path.size() - kSuffix.size()) + ".sock";
  const std::size_t slash = path.rfind('/');
  const int folder =
      open(slash == std::string::npos ? "." : path.substr(0, slash + 1).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_un address{};
  const std::string line = std::string(kMemoryRequest) + "\n";
  int memory = -1;
  if (client >= 0 && address_of(path, folder, address) &&
      connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      send(client, line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size())) {
    memory = receive_memory(client);
  }
  if (client >= 0) close(client);
  if (folder >= 0) close(folder);
  return memory;
}

}  // namespace

int make_session_memory(const std::string& name, std::size_t bytes) {
#if defined(MFD_CLOEXEC) && defined(F_ADD_SEALS)
  const int memory = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory < 0) return errno == EINVAL ? -ENOSYS : -errno;
  int failed = fchmod(memory, 0600) != 0 ? errno : posix_fallocate(memory, 0, static_cast<off_t>(bytes));
  if (failed == 0 && fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) failed = ENOSYS;
  if (failed == 0) return memory;
  close(memory);
  return -failed;
#else
  (void)name;
  (void)bytes;
  return -ENOSYS;
#endif
}

bool point_to(int memory, int file) {
  struct stat info {};
  if (fstat(memory, &info) != 0) return false;
  Pointer pointer;
  pointer.pid = getpid();
  pointer.number = memory;
  pointer.device = static_cast<std::uint64_t>(info.st_dev);
  pointer.inode = static_cast<std::uint64_t>(info.st_ino);
  return pwrite(file, &pointer, sizeof pointer, 0) == static_cast<ssize_t>(sizeof pointer);
}

bool hand_over(int socket, const std::string& line, int memory) {
  iovec data{const_cast<char*>(line.data()), line.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof memory);
  std::memcpy(CMSG_DATA(header), &memory, sizeof memory);
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(line.size());
}

Result<int> open_session_memory(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return bad_input("cannot open the session " + path + ": " + std::strerror(errno));
  Pointer pointer;
  const bool whole = pread(file, &pointer, sizeof pointer, 0) == static_cast<ssize_t>(sizeof pointer);
  const bool points = whole && pointer.magic == Pointer::kMagic;
  if (whole && pointer.magic == SessionHeader::kMagic) return file;  // the memory itself
  int memory = points ? open_by_proc(pointer) : -1;
  // A file that others have cut or overwritten says nothing, but its tool may live.
  if (memory < 0) memory = ask_for_memory(path);
  if (memory < 0 && !points) return file;  // for the caller to refuse
  close(file);
  if (memory >= 0) return memory;
  return unavailable("cannot open the memory of the session " + path +
                     ": its wic-prof is gone or stopped, or this process may not look into it");
}

}  // namespace wicprof
