#include "cli/record/last_way.h"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <future>
#include <iterator>
#include <memory>
#include <thread>
#include <utility>

#include "cli/terminal/messages.h"
#include "protocol/result.h"
#include "protocol/session.h"
#include "protocol/time.h"

namespace wicprof::cli {

namespace {

constexpr TimeNs kProgramGrace = 5 * kSecond;  // time that the program gets to end by itself; later: to be killed
constexpr TimeNs kLookAtProgram = 10 * kMillisecond;
constexpr std::chrono::seconds kLastWork{1};  // a message or a removal may wait for the same disk

/// On a thread of its own, since the work may never end. Waits for it a while.
template <class Work>
void aside(Work work) noexcept try {
  const auto done = std::make_shared<std::promise<void>>();
  const std::future<void> end = done->get_future();
  std::thread([done, work = std::move(work)] {
    work();
    done->set_value();
  }).detach();
  end.wait_for(kLastWork);
} catch (const std::exception&) {  // no thread or no memory for it
}

/// The heir's life: until its parent has ended.
int outlive(void* parent) noexcept {
  while (getppid() == *static_cast<const pid_t*>(parent)) {
    timespec pause{0, kLookAtProgram};
    nanosleep(&pause, nullptr);
  }
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    close(stream);  // whose readers wait for the end
  _exit(0);
}

/// Ends this process, whatever the disk does. The system writes back what the last user of a mapping or a descriptor
/// leaves, and its end waits for that: here an heir, who has no other purpose.
[[noreturn]] void end_before_the_disk(int status) noexcept {
  alignas(16) static char stack[1 << 14];
  static const pid_t self = getpid();
  clone(outlive, std::end(stack), CLONE_VM | CLONE_FILES, const_cast<pid_t*>(&self));
  _exit(status);
}

}  // namespace

void LastWay::session(const std::string& path) {
  const std::lock_guard lock(mutex_);
  session_ = path;
}

void LastWay::trace(const std::string& path) {
  const std::lock_guard lock(mutex_);
  trace_ = path;
}

void LastWay::started(pid_t app) { app_.store(app); }

void LastWay::warn() {
  const std::lock_guard lock(mutex_);
  aside([text = fmt::format("wic-prof waits for the disk of {}; interrupt it again to give up the trace", trace_)] {
    cli::warn(text);
  });
}

int LastWay::end_program(int signal) {
  const pid_t app = app_.load();
  if (app == 0) return 128 + signal;  // it never started
  if (leaves_program_) return 0;
  for (const int sent : {signal, SIGKILL}) {
    if (status_.load() != kUnknown) break;
    kill(app, sent);
    for (const TimeNs end = now_ns() + kProgramGrace; now_ns() < end;) {
      int status = 0;
      if (waitpid(app, &status, WNOHANG) == app)
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      if (status_.load() != kUnknown) break;  // another thread has waited for it
      timespec pause{0, kLookAtProgram};
      nanosleep(&pause, nullptr);
    }
  }
  const int status = status_.load();
  return status != kUnknown ? status : 128 + SIGKILL;
}

void LastWay::take(int signal) {
  const int status = status_.load() != kUnknown ? status_.load() : end_program(signal);
  std::string session, trace;
  {
    const std::lock_guard lock(mutex_);
    session = session_;
    trace = trace_;
  }
  aside([session, trace] {
    if (!session.empty()) discard_session(session);
    fail(unavailable(fmt::format("THE TRACE IS INCOMPLETE: interrupted while the disk of {} did not answer", trace)));
  });
  end_before_the_disk(status);
}

}  // namespace wicprof::cli
