// A program that uses CUDA (the test's libcuda) and checks that nothing of what it does is changed, while wic-prof
// loads a library into it. Its command line: FILE WHAT...; each WHAT runs on a thread of its own, a single one on the
// first thread, until the file exists. The program then says "right" and ends with 0; or says what was wrong, and ends
// with 1.
//   malloc        allocates, checks and frees blocks
//   vectors       keeps numbers in all registers of vectors and in the red zone
//   error         keeps errno
//   futex         sleeps by a futex with a time limit that ends neither early nor late
//   condition     same, by a condition variable
//   nanosleep     same, by nanosleep()
//   poll          same, by poll()
//   read          reads bytes that come through a pipe
//   epoll         waits for a pipe without a time limit
//   epoll_limit   same, with one
//   socket_limit  reads from a socket with a time limit
//   handler       is nearly always in a handler of a signal, on a stack of its own
//   signals       gets numbered signals, of which none may be lost
//   blocked       blocks all signals
//   coroutine     is on a stack that it has made itself
//   small_stack   sleeps on a stack of 32 KiB
//   load          loads and unloads a library
//   construct     same; the constructor of the library opens a file
//   fork          makes children that allocate memory and load a library
//   sleep         sleeps until the file exists, in short naps
//   cuda          is in a function of CUDA until the file exists
//   filter        forbids itself calls of the system (seccomp), with a filter that allows all; then as sleep
//   no_threads    same, with one that allows no new thread
//   no_code       same, with one that allows no mapping to execute
//   undumpable    lets nobody trace it; then as sleep
// FILE filter_and PROGRAM WORD...: becomes that program, with the filter that allows all.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

const char* end_file = nullptr;
std::atomic<bool> wrong{false};

void fail(const char* what, long detail) {
  wrong = true;
  std::printf("%s: %ld\n", what, detail);
}

std::int64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// Looks for the file once per millisecond.
bool at_end() {
  static std::atomic<bool> found{false};
  thread_local std::int64_t looked = 0;
  if (!found && now() - looked > 1'000'000) {
    looked = now();
    found = access(end_file, F_OK) == 0;
  }
  return found;
}

constexpr std::int64_t kLimit = 20'000'000;
// A machine may have no CPU for the thread for seconds.
constexpr std::int64_t kLate = 20'000'000'000;

/// `wait` returns whether it ended by its limit, of kLimit.
void limited(const char* name, const std::function<bool()>& wait) {
  while (!at_end()) {
    const std::int64_t began = now();
    if (!wait()) fail(name, errno);
    const std::int64_t took = now() - began;
    if (took < kLimit - 1'000'000 || took > kLimit + kLate) fail(name, static_cast<long>(took));
  }
}

timespec after(std::int64_t time, clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  const std::int64_t at = t.tv_nsec + time;
  return {t.tv_sec + static_cast<time_t>(at / 1'000'000'000), static_cast<long>(at % 1'000'000'000)};
}

void allocate() {
  std::vector<std::vector<unsigned char>> blocks(64);
  std::uint32_t random = 7;
  while (!at_end()) {
    for (int i = 0; i < 1000; ++i) {
      random = random * 1664525 + 1013904223;
      auto& block = blocks[random >> 8 & 63];
      for (const unsigned char each : block)
        if (each != static_cast<unsigned char>(block.size())) return fail("malloc", each);
      const std::size_t size = 1 + (random >> 16) % 3000;
      std::vector<unsigned char>(size, static_cast<unsigned char>(size)).swap(block);
    }
  }
}

#ifdef __x86_64__
/// Puts numbers into the red zone and the registers of vectors, spins, and adds up what is there then.
__attribute__((noinline, target("avx2"))) std::uint64_t spin_with_vectors(const std::uint64_t* numbers, long rounds) {
  std::uint64_t sum = 0;
  __m256i ends[16];
  asm volatile(
      "sub $1024, %%rsp\n"  // away from what the compiler has in the red zone
      "mov 0(%[numbers]), %%rax; mov %%rax, -8(%%rsp); mov 8(%[numbers]), %%rax; mov %%rax, -128(%%rsp)\n"
      "vmovdqu 0(%[numbers]), %%ymm0; vmovdqu 8(%[numbers]), %%ymm1; vmovdqu 16(%[numbers]), %%ymm7\n"
      "vmovdqu 24(%[numbers]), %%ymm15\n"
      "mov %[numbers], %%r15; stc\n"
      "1: jnc 2f; dec %[rounds]; jnz 1b\n"
      "2: setc %%al; movzbl %%al, %%eax; add %%rax, %[sum]\n"
      "add -8(%%rsp), %[sum]; add -128(%%rsp), %[sum]; add (%%r15), %[sum]\n"
      "add $1024, %%rsp\n"
      "vmovdqu %%ymm0, 0(%[ends]); vmovdqu %%ymm1, 32(%[ends]); vmovdqu %%ymm7, 64(%[ends])\n"
      "vmovdqu %%ymm15, 96(%[ends])\n"
      : [sum] "+r"(sum), [rounds] "+r"(rounds)
      : [numbers] "r"(numbers), [ends] "r"(ends)
      : "rax", "r15", "ymm0", "ymm1", "ymm7", "ymm15", "cc", "memory");
  for (int i = 0; i < 4; ++i) {
    std::uint64_t words[4];
    std::memcpy(words, &ends[i], sizeof words);
    for (int j = 0; j < 4; ++j)
      if (words[j] != numbers[i + j]) return 0;
  }
  return sum;
}

void vectors() {
  if (!__builtin_cpu_supports("avx2")) return;
  std::uint64_t numbers[8];
  for (std::uint64_t round = 1; !at_end(); ++round) {
    for (std::uint64_t i = 0; i < 8; ++i) numbers[i] = round * 0x9e3779b97f4a7c15 + i * i;
    const std::uint64_t sum = spin_with_vectors(numbers, 2'000'000);
    if (sum != 1 + numbers[0] + numbers[1] + numbers[0]) return fail("vectors", static_cast<long>(round));
  }
}
#else
void vectors() {}
#endif

void keep_errno() {
  volatile std::uint64_t sum = 0;
  for (int value = 1; !at_end(); value = value % 30'000 + 1) {
    errno = value;
    for (int i = 0; i < 100'000; ++i) sum = sum + 1;
    if (errno != value) return fail("error", errno);
  }
}

void futex() {
  std::uint32_t word = 0;
  limited("futex", [&] {
    const timespec limit{0, kLimit};
    return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &limit, nullptr, 0) == -1 && errno == ETIMEDOUT;
  });
}

void condition() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_mutex_lock(&mutex);
  limited("condition", [&] {
    const timespec limit = after(kLimit, CLOCK_REALTIME);
    return pthread_cond_timedwait(&condition, &mutex, &limit) == ETIMEDOUT;
  });
  pthread_mutex_unlock(&mutex);
}

void sleep_exactly() {
  limited("nanosleep", [] {
    const timespec limit{0, kLimit};
    return nanosleep(&limit, nullptr) == 0;
  });
}

void poll_limit() {
  limited("poll", [] { return poll(nullptr, 0, kLimit / 1'000'000) == 0; });
}

/// Bytes 0, 1, 2 ... through a pipe, at irregular times; the last one is followed by its end.
struct Bytes {
  int ends[2] = {-1, -1};
  std::thread writer;
  Bytes() {
    if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
    writer = std::thread([this] {
      std::uint32_t random = 3;
      for (unsigned char byte = 0; !at_end(); ++byte) {
        if (write(ends[1], &byte, 1) != 1) fail("write", errno);
        random = random * 1664525 + 1013904223;
        usleep(random >> 20);
      }
      close(ends[1]);
    });
  }
  ~Bytes() { writer.join(); }
};

void read_pipe() {
  Bytes bytes;
  unsigned char byte = 0;
  ssize_t got = 0;
  for (unsigned char expected = 0; (got = read(bytes.ends[0], &byte, 1)) == 1; ++expected)
    if (byte != expected) return fail("read", byte);
  if (got != 0) fail("read", errno);
}

void wait_for_pipe(int limit) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
  const int all = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{EPOLLIN, {}};
  epoll_ctl(all, EPOLL_CTL_ADD, ends[0], &event);
  const pid_t writer = fork();  // a process, so that this one has one thread
  if (writer == 0) {
    while (!at_end()) {
      usleep(30'000);
      if (write(ends[1], "", 1) != 1) break;
    }
    _exit(0);
  }
  while (!at_end()) {
    char byte = 0;
    const int got = epoll_wait(all, &event, 1, limit);
    if (got < 0) fail("epoll", errno);
    if (got == 0 && limit < 0) fail("epoll without a limit", 0);
    if (got == 1 && read(ends[0], &byte, 1) != 1) fail("epoll read", errno);
  }
  waitpid(writer, nullptr, 0);
}

void read_socket() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
  const timeval limit{0, kLimit / 1000};
  setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  limited("socket_limit", [&] {
    char byte = 0;
    return recv(ends[0], &byte, 1, 0) == -1 && errno == EAGAIN;
  });
}

void spin(std::int64_t time) {
  for (const std::int64_t end = now() + time; now() < end;) {
  }
}

void be_in_handler() {
  std::vector<char> stack(std::size_t{256} << 10);
  const stack_t own{stack.data(), 0, stack.size()};
  sigaltstack(&own, nullptr);
  struct sigaction action {};
  action.sa_handler = [](int) { spin(50'000'000); };
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  while (!at_end()) pthread_kill(pthread_self(), SIGUSR1);
  stack_t at_last{};
  sigaltstack(nullptr, &at_last);
  if (at_last.ss_sp != own.ss_sp || at_last.ss_size != own.ss_size) fail("alternate stack", 0);
}

std::atomic<long> taken{0};
void take_signals() {
  struct sigaction action {};
  action.sa_sigaction = [](int, siginfo_t* info, void*) {
    const long expected = taken++;
    if (info->si_value.sival_int != static_cast<int>(expected)) fail("signals", info->si_value.sival_int);
  };
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGRTMIN + 3, &action, nullptr);
  long sent = 0;
  std::thread sender([&sent, to = pthread_self()] {
    while (!at_end()) {
      sigval value{};
      value.sival_int = static_cast<int>(sent);
      if (pthread_sigqueue(to, SIGRTMIN + 3, value) == 0) ++sent;
      usleep(200);
    }
  });
  volatile std::uint64_t sum = 0;
  while (!at_end()) sum = sum + 1;
  sender.join();
  if (taken != sent) fail("signals lost", sent - taken);
}

void block_signals() {
  sigset_t all, before, at_last;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_sigmask(SIG_SETMASK, nullptr, &all);
  while (!at_end()) usleep(1000);
  pthread_sigmask(SIG_SETMASK, &before, &at_last);
  if (std::memcmp(&all, &at_last, 8) != 0) fail("blocked", 0);
}

void on_own_stack() {
  static ucontext_t here, there;
  std::vector<char> stack(std::size_t{256} << 10);
  getcontext(&there);
  there.uc_stack = {stack.data(), 0, stack.size()};
  there.uc_link = &here;
  makecontext(
      &there,
      [] {
        while (!at_end()) usleep(1000);
      },
      0);
  swapcontext(&here, &there);
}

void nap() {
  while (!at_end()) usleep(5000);
}

void on_small_stack() {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, std::size_t{32} << 10);
  pthread_t thread{};
  const int error = pthread_create(
      &thread, &small, [](void*) -> void* { return nap(), nullptr; }, nullptr);
  if (error != 0) return fail("small_stack", error);
  pthread_join(thread, nullptr);
}

void load_again() {
  while (!at_end()) {
    void* const library = dlopen("libresolv.so.2", RTLD_NOW);
    if (library == nullptr || dlsym(library, "ns_name_ntop") == nullptr) return fail("load", 0);
    dlclose(library);
    usleep(300);
  }
}

void construct_again() {
  while (!at_end()) {
    void* const library = dlopen(OPENING_LIBRARY, RTLD_NOW);
    if (library == nullptr) return fail("construct", 0);
    dlclose(library);
    usleep(100);
  }
}

void make_children() {
  while (!at_end()) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a lock that nobody in the child gives back
      std::free(std::malloc(100'000));
      _exit(dlopen("libresolv.so.2", RTLD_NOW) == nullptr ? 1 : 0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) return fail("fork", status);
    usleep(300);
  }
}

void stay_in_cuda() {
  using Wait = void (*)(const char*);
  const auto wait = reinterpret_cast<Wait>(dlsym(dlopen(FAKE_LIBCUDA, RTLD_NOW | RTLD_NOLOAD), "fake_wait_for_file"));
  wait(end_file);
}

/// Forbids a call of the system where its argument of that index has one of these bits.
void filter_calls(std::uint32_t number, std::uint32_t argument, std::uint32_t bits) {
  constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS, kReturn = BPF_RET | BPF_K;
  sock_filter filter[] = {
      {kLoad, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, number},
      {kLoad, 0, 0, static_cast<std::uint32_t>(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t))},
      {BPF_JMP | BPF_JSET | BPF_K, 0, 1, bits},
      {kReturn, 0, 0, SECCOMP_RET_ERRNO | EPERM},
      {kReturn, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) fail("filter", errno);
}

void nap_without_calls(std::uint32_t number, std::uint32_t argument, std::uint32_t bits) {
  filter_calls(number, argument, bits);
  nap();
}

void forbid_tracing() {
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  nap();
}

const std::map<std::string, std::function<void()>> kAll = {
    {"malloc", allocate},
    {"vectors", vectors},
    {"error", keep_errno},
    {"futex", futex},
    {"condition", condition},
    {"nanosleep", sleep_exactly},
    {"poll", poll_limit},
    {"read", read_pipe},
    {"epoll", [] { wait_for_pipe(-1); }},
    {"epoll_limit", [] { wait_for_pipe(50); }},
    {"socket_limit", read_socket},
    {"handler", be_in_handler},
    {"signals", take_signals},
    {"blocked", block_signals},
    {"coroutine", on_own_stack},
    {"small_stack", on_small_stack},
    {"load", load_again},
    {"construct", construct_again},
    {"fork", make_children},
    {"sleep", nap},
    {"cuda", stay_in_cuda},
    {"filter", [] { nap_without_calls(SYS_reboot, 0, 0); }},
    {"no_threads", [] { nap_without_calls(SYS_clone3, 1, ~0U); }},
    {"no_code", [] { nap_without_calls(SYS_mmap, 2, PROT_EXEC); }},
    {"undumpable", forbid_tracing}};

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  if (std::strcmp(words[2], "filter_and") == 0) {
    filter_calls(SYS_reboot, 0, 0);
    return execv(words[3], words + 3);
  }
  end_file = words[1];
  alarm(120);
  void* const driver = dlopen(FAKE_LIBCUDA, RTLD_NOW | RTLD_GLOBAL);
  const auto init = driver == nullptr ? nullptr : reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  if (init == nullptr || init(0) != 0) return 2;
  std::vector<std::thread> threads;
  for (int i = 3; i < count; ++i) threads.emplace_back(kAll.at(words[i]));
  kAll.at(words[2])();
  for (std::thread& each : threads) each.join();
  if (!wrong) std::puts("right");
  return wrong ? 1 : 0;
}
