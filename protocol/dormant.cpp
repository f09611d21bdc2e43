#include "protocol/dormant.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "protocol/own_file.h"
#include "protocol/session.h"

namespace wicprof {

namespace {

constexpr std::time_t kLongestEmpty = 60;  // seconds

/// False: the file is shorter, or no such file.
bool read_file(int file, DormantFile& to) {
  return pread(file, static_cast<void*>(&to), sizeof to, 0) == static_cast<ssize_t>(sizeof to) &&
         to.magic == DormantFile::kMagic;
}

template <std::size_t kSize>
bool fits(const char (&)[kSize], const std::string& text) {
  return text.size() < kSize;
}

template <std::size_t kSize>
std::string text_in(const char (&array)[kSize]) {
  return std::string(array, strnlen(array, kSize));
}

template <std::size_t kSize>
bool write_text(int file, std::size_t offset, const char (&)[kSize], const std::string& text) {
  char array[kSize] = {};
  std::memcpy(array, text.data(), text.size());
  return pwrite(file, array, kSize, static_cast<off_t>(offset)) == static_cast<ssize_t>(kSize);
}

}  // namespace

Result<DormantPage> DormantPage::create() {
  const Result<std::string> folder = session_directory();
  if (!folder) return folder.error();
  std::string path = *folder + "/" + std::to_string(getpid()) + ".XXXXXX" + std::string(kDormantSuffix);
  const int file = mkostemps(path.data(), static_cast<int>(kDormantSuffix.size()), O_CLOEXEC);  // mode 0600
  if (file < 0) return unavailable("cannot make " + path + ": " + std::strerror(errno));
  DormantFile content;
  content.version = kSessionVersion;
  content.pid = static_cast<std::uint32_t>(getpid());
  content.pid_namespace = pid_namespace_of_this_process();
  struct stat info {};
  void* page = MAP_FAILED;
  if (posix_fallocate(file, 0, kDormantBytes) == 0 && fstat(file, &info) == 0 &&
      pwrite(file, static_cast<const void*>(&content), sizeof content, 0) == static_cast<ssize_t>(sizeof content)) {
    page = mmap(nullptr, kDormantBytes, PROT_READ, MAP_SHARED, file, 0);
  }
  close(file);
  if (page == MAP_FAILED) {
    unlink(path.c_str());
    return unavailable("cannot map " + path);
  }
  madvise(page, kDormantBytes, MADV_DONTFORK);  // a child has no thread that sleeps on it
  DormantPage made(std::move(path), page, static_cast<std::uint64_t>(info.st_ino));
  made.owner_ = getpid();
  return made;
}

DormantPage::DormantPage(DormantPage&& other) noexcept
    : path_(std::move(other.path_)),
      page_(std::exchange(other.page_, nullptr)),
      inode_(other.inode_),
      seen_(other.seen_),
      owner_(other.owner_) {}

DormantPage::~DormantPage() {
  if (page_ == nullptr) return;
  remove_file();
  if (owner_ == getpid()) munmap(page_, kDormantBytes);
}

void DormantPage::remove_file() const {
  if (owner_ == getpid()) unlink(path_.c_str());
}

bool DormantPage::sleep() const {
  const std::byte* const word = static_cast<const std::byte*>(page_) + offsetof(DormantFile, calls);
  for (;;) {
    if (syscall(SYS_futex, word, FUTEX_WAIT, seen_, nullptr, nullptr, 0) == 0) continue;  // perhaps woken by chance
    if (errno == EAGAIN) return true;
    if (errno != EINTR) return false;
  }
}

Result<WakeRequest> DormantPage::request() {
  struct stat info {};
  const int file = open_regular(path_, info);
  DormantFile content;
  const bool own = file >= 0 && is_own(info) && static_cast<std::uint64_t>(info.st_ino) == inode_;
  const bool read = own && read_file(file, content);
  if (file >= 0) close(file);
  if (!read) return unavailable(path_ + " is gone, or somebody has replaced it");
  seen_ = content.calls.load(std::memory_order_relaxed);
  return WakeRequest{text_in(content.session), text_in(content.trace)};
}

Result<> wake_dormant(int file, const WakeRequest& request) {
  if (!fits(DormantFile{}.session, request.session) || !fits(DormantFile{}.trace, request.trace))
    return bad_input("the path of the session is too long; set XDG_RUNTIME_DIR to a shorter one");
  DormantFile content;
  const bool written = read_file(file, content) &&
                       write_text(file, offsetof(DormantFile, session), content.session, request.session) &&
                       write_text(file, offsetof(DormantFile, trace), content.trace, request.trace);
  // Not touched here either: the word is written like the rest, and the kernel wakes who sleeps on the page.
  const std::uint32_t calls = content.calls.load(std::memory_order_relaxed) + 1;
  if (!written || pwrite(file, &calls, sizeof calls, offsetof(DormantFile, calls)) != sizeof calls)
    return unavailable(std::string("cannot write what the program is to record: ") + std::strerror(errno));
  void* const page = mmap(nullptr, kDormantBytes, PROT_READ, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) return unavailable(std::string("cannot map the program's page: ") + std::strerror(errno));
  const std::byte* const word = static_cast<const std::byte*>(page) + offsetof(DormantFile, calls);
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  munmap(page, kDormantBytes);
  return ok();
}

bool is_dormant_file_stale(const std::string& path) {
  struct stat info {};
  const int file = open_regular(path, info);
  if (file < 0) return false;
  DormantFile content;
  content.magic = 0;
  const bool read = read_file(file, content);
  close(file);
  // A file that its program has just made is empty. One that stays so had a program that ended meanwhile.
  if (!read && content.magic == 0) return std::time(nullptr) - info.st_mtim.tv_sec > kLongestEmpty;
  return read && content.pid_namespace != 0 && content.pid_namespace == pid_namespace_of_this_process() &&
         process_is_gone(content.pid);
}

}  // namespace wicprof
