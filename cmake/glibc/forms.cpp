// Our own forms of what glibc 2.28 does not have: for our code, and for the parts of the C++ library that are linked
// in. Compiled with hidden visibility.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

extern "C" {

// 2.32. The C++ library goes without atomic operations where this is not 0; only libc knows when to set it.
char __libc_single_threaded = 0;

// 2.33. The kernel's struct stat is libc's on 64-bit machines.
int fstatat(int folder, const char* path, struct stat* to, int flags) noexcept {
  return static_cast<int>(syscall(SYS_newfstatat, folder, path, to, flags));
}
int stat(const char* path, struct stat* to) noexcept { return fstatat(AT_FDCWD, path, to, 0); }
int lstat(const char* path, struct stat* to) noexcept { return fstatat(AT_FDCWD, path, to, AT_SYMLINK_NOFOLLOW); }
int fstat(int fd, struct stat* to) noexcept { return static_cast<int>(syscall(SYS_fstat, fd, to)); }
int stat64(const char* path, struct stat64* to) noexcept { return stat(path, reinterpret_cast<struct stat*>(to)); }
int lstat64(const char* path, struct stat64* to) noexcept { return lstat(path, reinterpret_cast<struct stat*>(to)); }
int fstat64(int fd, struct stat64* to) noexcept { return fstat(fd, reinterpret_cast<struct stat*>(to)); }
int fstatat64(int folder, const char* path, struct stat64* to, int flags) noexcept {
  return fstatat(folder, path, reinterpret_cast<struct stat*>(to), flags);
}

// 2.36. For std::random_device. Where the kernel refuses, a time that no other process has will do.
std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  for (;;) {
    if (getrandom(&number, sizeof number, 0) == sizeof number) return number;
    if (errno != EINTR) break;
  }
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint32_t>(now.tv_nsec) * 2'654'435'761u ^ static_cast<std::uint32_t>(getpid());
}

}  // extern "C"

namespace {

// What libc has of them. Looked up while the loader loads us, so that nobody waits for the loader's lock later.
using ClockWait = int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
using ClockLock = int (*)(pthread_mutex_t*, clockid_t, const timespec*);
ClockWait clock_wait = nullptr;
ClockLock clock_lock = nullptr;

template <class Function>
void look_up(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

/// `until` of a clock, by CLOCK_REALTIME as it runs now.
timespec by_real_time(clockid_t clock, const timespec& until) {
  timespec here{}, real{};
  clock_gettime(clock, &here);
  clock_gettime(CLOCK_REALTIME, &real);
  constexpr long kSecond = 1'000'000'000;
  timespec result{real.tv_sec + until.tv_sec - here.tv_sec, real.tv_nsec + until.tv_nsec - here.tv_nsec};
  for (; result.tv_nsec < 0; result.tv_nsec += kSecond) --result.tv_sec;
  for (; result.tv_nsec >= kSecond; result.tv_nsec -= kSecond) ++result.tv_sec;
  if (result.tv_sec < 0) result = {};
  return result;
}

}  // namespace

extern "C" {

// 2.30. Without libc's, a wait follows changes of the time of day; the C++ library looks at the clock afterwards.
int pthread_cond_clockwait(pthread_cond_t* changed, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  if (clock_wait != nullptr) return clock_wait(changed, mutex, clock, until);
  const timespec real = by_real_time(clock, *until);
  return pthread_cond_timedwait(changed, mutex, &real);
}

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* until) noexcept {
  if (clock_lock != nullptr) return clock_lock(mutex, clock, until);
  const timespec real = by_real_time(clock, *until);
  return pthread_mutex_timedlock(mutex, &real);
}

}  // extern "C"

// 2.35. The unwinder that is linked into us asks nothing else where its headers had this.
#ifdef DLFO_STRUCT_HAS_EH_DBASE

extern "C" __attribute__((visibility("hidden"))) const ElfW(Ehdr) __ehdr_start;  // by the linker

namespace {

using FindObject = int (*)(void*, dl_find_object*);
FindObject find_object = nullptr;

/// Whether the module with these program headers holds `address`; fills in where its table for unwinding lies.
bool describe(ElfW(Addr) base, const ElfW(Phdr) * headers, unsigned count, std::uintptr_t address, dl_find_object& to) {
  bool holds = false;
  const ElfW(Phdr)* table = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    const ElfW(Phdr)& header = headers[i];
    if (header.p_type == PT_GNU_EH_FRAME) table = &header;
    if (header.p_type == PT_LOAD && address - (base + header.p_vaddr) < header.p_memsz) holds = true;
  }
  if (!holds || table == nullptr) return false;
  to.dlfo_eh_frame = reinterpret_cast<void*>(base + table->p_vaddr);
  return true;
}

struct Asked {
  std::uintptr_t address;
  dl_find_object* to;
};

int visit(dl_phdr_info* module, std::size_t, void* asked) {
  const Asked& question = *static_cast<const Asked*>(asked);
  return describe(module->dlpi_addr, module->dlpi_phdr, module->dlpi_phnum, question.address, *question.to) ? 1 : 0;
}

}  // namespace

extern "C" int _dl_find_object(void* address, dl_find_object* to) noexcept {
  // Our own frames first: for them nobody takes the loader's lock.
  const auto asked = reinterpret_cast<std::uintptr_t>(address);
  const auto own = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
  const auto* headers = reinterpret_cast<const ElfW(Phdr)*>(own + __ehdr_start.e_phoff);
  if (describe(own, headers, __ehdr_start.e_phnum, asked, *to)) return 0;
  if (find_object != nullptr) return find_object(address, to);
  Asked question{asked, to};
  return dl_iterate_phdr(visit, &question) == 1 ? 0 : -1;
}

#endif

namespace {

__attribute__((constructor(101))) void look_up_all() {
  look_up(clock_wait, "pthread_cond_clockwait");
  look_up(clock_lock, "pthread_mutex_clocklock");
#ifdef DLFO_STRUCT_HAS_EH_DBASE
  look_up(find_object, "_dl_find_object");
#endif
  dlerror();  // the program must not find our failed look-ups
}

}  // namespace
