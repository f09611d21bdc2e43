// Processes that a program makes, and what it closes, limits and changes.
#include "tests/guest/gpu.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char** environ;

using namespace guest;

namespace {

cudaStream_t one = nullptr;

void work(double ms = 5) {
  if (one == nullptr) one = stream();
  busy(one, ms);
  OK(cudaStreamSynchronize(one));
}
void status_of(pid_t child, int stated) {
  int status = 0;
  waitpid(child, &status, 0);
  IS(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), stated);
}

}  // namespace

void fork_between_waits() {
  work();
  busy(one, 5);
  const pid_t child = fork();
  if (child == 0) _exit(7);
  status_of(child, 7);
  OK(cudaStreamSynchronize(one));
}
// What CUDA answers in a child.
void child_uses_cuda() {
  work();
  const pid_t child = fork();
  if (child == 0) {
    IS(cudaStreamSynchronize(one), cudaErrorInitializationError);
    IS(cudaDeviceSynchronize(), cudaErrorInitializationError);
    IS(cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
    _exit(7);
  }
  status_of(child, 7);
  work();
}
void child_exits() {
  work();
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) std::exit(8);
  status_of(child, 8);
  work();
}
void child_of_a_thread_beside_waits() {
  const cudaStream_t waited = stream();
  const Word word;
  hold(waited, word);
  std::thread other([&] { OK(cudaStreamSynchronize(waited)); });
  pause_ms(10);
  const pid_t child = fork();
  if (child == 0) _exit(3);
  status_of(child, 3);
  word.set();
  other.join();
}
void twenty_children() {
  work();
  int right = 0;
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(i);
    int status = 0;
    waitpid(child, &status, 0);
    right += WIFEXITED(status) && WEXITSTATUS(status) == i;
    busy(one, 0.2);
    right += cudaStreamSynchronize(one) == cudaSuccess;
  }
  IS(right, 40);
}
void forked_first() {  // the child uses CUDA, the parent does after it
  const pid_t child = fork();
  if (child == 0) {
    void* memory = nullptr;
    _exit(cudaMalloc(&memory, 64) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess ? 5 : 1);
  }
  status_of(child, 5);
  work();
}
void vfork_and_exec() {
  work();
  const pid_t child = vfork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "exit 4", static_cast<char*>(nullptr));
    _exit(99);
  }
  status_of(child, 4);
  work();
}
void spawn() {
  work();
  pid_t child = 0;
  const char* words[] = {"sh", "-c", "exit 6", nullptr};
  OK(posix_spawn(&child, "/bin/sh", nullptr, nullptr, const_cast<char**>(words), environ));
  status_of(child, 6);
  work();
}
void system_call() {
  work();
  IS(WEXITSTATUS(std::system("exit 9")), 9);
  work();
}
void exec_of_itself() {  // with another question's name
  work();
  execl("/proc/self/exe", "guest", "spawn", static_cast<char*>(nullptr));
}
void exec_of_another() {
  work();
  busy(one, 20);
  execl("/bin/sh", "sh", "-c", "exit 21", static_cast<char*>(nullptr));
}
void exec_while_a_thread_waits() {
  const cudaStream_t waited = stream();
  static const Word word;
  hold(waited, word);
  std::thread([waited] { cudaStreamSynchronize(waited); }).detach();
  pause_ms(20);
  execl("/bin/sh", "sh", "-c", "exit 22", static_cast<char*>(nullptr));
}
// The environment that a child gets is the program's own.
void environment_of_a_child() {
  int own = 0;
  for (char** each = environ; *each != nullptr; ++each) own += std::strncmp(*each, "GUEST_", 6) == 0;
  IS(own, 0);
  OK(setenv("GUEST_WORD", "1", 1));
  work();
  IS(WEXITSTATUS(std::system("exit $GUEST_WORD")), 1);
}
// Closes all descriptors that it does not know, as daemons do, before it uses CUDA.
void closes_descriptors_first() {
  for (int i = 3; i < 1024; ++i) close(i);
  work();
  work();
}
// What it opens afterwards gets the lowest numbers, and holds what it wrote.
void closes_descriptors_of_others() {
  for (int i = 3; i < 1024; ++i) close(i);
  const int file = open("own", O_RDWR | O_CREAT | O_TRUNC, 0600);
  IS(file, 3);
  IS(write(file, "abc", 3), 3);
  work();
  char text[16] = {};
  IS(pread(file, text, sizeof text, 0), 3);
  IS(std::strcmp(text, "abc"), 0);
  OK(close(file));
  OK(unlink("own"));
}
void new_descriptors_are_low() {
  const int before = open("/dev/null", O_RDONLY);
  close(before);
  work();
  const int after = open("/dev/null", O_RDONLY);
  close(after);
  IS(after - before <= 4, 1);
}
void changes_its_folder() {
  OK(mkdir("inner", 0700));
  OK(chdir("inner"));
  work();
  OK(chdir(".."));
  OK(rmdir("inner"));
  work();
}
void umask_stays() {
  umask(077);
  work();
  IS(umask(022), 077);
}
void few_descriptors() {
  work();
  const int next = open("/dev/null", O_RDONLY);
  const rlimit limit{static_cast<rlim_t>(next) + 1, static_cast<rlim_t>(next) + 1};
  OK(setrlimit(RLIMIT_NOFILE, &limit));
  work();
  work();
  close(next);
}
void no_files() {
  work();
  const rlimit limit{0, 0};
  signal(SIGXFSZ, SIG_IGN);
  OK(setrlimit(RLIMIT_FSIZE, &limit));
  work();
  OK(cudaDeviceSynchronize());
}
void no_files_from_the_start() {  // the signal would end it
  const rlimit limit{0, 0};
  OK(setrlimit(RLIMIT_FSIZE, &limit));
  prepare();
  work();
  work();
}
// A program that waits for any child of its own.
void has_no_children() {
  work();
  int status = 0;
  IS(waitpid(-1, &status, WNOHANG), -1);
  IS(errno, ECHILD);
}
void children_are_reaped_by_the_system() {
  signal(SIGCHLD, SIG_IGN);
  prepare();
  work();
  const pid_t child = fork();
  if (child == 0) _exit(7);
  IS(waitpid(child, nullptr, 0), -1);
  work();
}
void changes_its_root() {  // where it may
  one = stream();
  say("chroot: %d", chroot("."));
  work();
  work();
}
// Calls of the system that a sandbox refuses.
void system_calls_are_refused() {
  one = stream();
  busy(one, 1);
  const unsigned refused[] = {SYS_socket,   SYS_memfd_create, SYS_perf_event_open, SYS_timerfd_create,
                              SYS_eventfd2, SYS_setpriority,  SYS_prctl,           SYS_sched_setaffinity};
  std::vector<sock_filter> filter{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const unsigned each : refused) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, each, 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  OK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  OK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
  OK(cudaStreamSynchronize(one));
  work();
  std::thread([] { work(); }).join();
}
// A process without a right to threads goes on as before.
void no_more_threads() {
  one = stream();
  busy(one, 1);
  const rlimit none{0, 0};
  OK(setrlimit(RLIMIT_NPROC, &none));
  OK(cudaStreamSynchronize(one));
  work();
}
void no_dumps_and_no_privileges() {
  OK(prctl(PR_SET_DUMPABLE, 0));
  OK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  work();
  IS(prctl(PR_GET_DUMPABLE), 0);
}
void name_of_the_thread_stays() {
  OK(prctl(PR_SET_NAME, "guest_of_itself"));
  work();
  char name[16] = {};
  OK(prctl(PR_GET_NAME, name));
  IS(std::strcmp(name, "guest_of_itself"), 0);
}
void timer_slack_stays() {
  OK(prctl(PR_SET_TIMERSLACK, 123456UL));
  work();
  work();
  IS(prctl(PR_GET_TIMERSLACK), 123456);
}
void errno_stays() {
  one = stream();
  int changed = 0;
  for (int i = 0; i < 20; ++i) {
    busy(one, 1);
    errno = 77;
    cudaStreamSynchronize(one);
    changed += errno != 77;
  }
  IS(changed, 0);
}

#define Q(name) \
  { #name, name }
QUESTIONS({Q(fork_between_waits),
           Q(child_uses_cuda),
           Q(child_exits),
           Q(child_of_a_thread_beside_waits),
           Q(twenty_children),
           {"forked_first", forked_first, 0, false, 0},
           Q(vfork_and_exec),
           Q(spawn),
           Q(system_call),
           {"exec_of_itself", exec_of_itself, 0},
           {"exec_of_another", exec_of_another, 21},
           {"exec_while_a_thread_waits", exec_while_a_thread_waits, 22},
           Q(environment_of_a_child),
           {"closes_descriptors_first", closes_descriptors_first, 0, false, 0},
           {"closes_descriptors_of_others", closes_descriptors_of_others, 0, false, 0},
           Q(new_descriptors_are_low),
           Q(changes_its_folder),
           Q(umask_stays),
           Q(few_descriptors),
           Q(no_files),
           {"no_files_from_the_start", no_files_from_the_start, 0, false, 0},
           Q(has_no_children),
           {"children_are_reaped_by_the_system", children_are_reaped_by_the_system, 0, false, 0},
           Q(changes_its_root),
           Q(system_calls_are_refused),
           Q(no_more_threads),
           Q(no_dumps_and_no_privileges),
           Q(name_of_the_thread_stays),
           Q(timer_slack_stays),
           Q(errno_stays)})
