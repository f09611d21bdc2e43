#include "protocol/open_work.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace wicprof {

namespace {

struct OfThread {
  OpenEntry<OpenCall>* entry = nullptr;
  bool asked = false;
  std::uint32_t thread = 0;
  char last_name[sizeof(OpenCall::name)] = {};
  ~OfThread() {
    if (entry != nullptr) entry->give_back();
  }
};
thread_local OfThread of_thread;

// Of an entry, what changes from call to call of one name.
constexpr std::size_t kFront = offsetof(OpenCall, name);
static_assert(kFront % sizeof(std::uint64_t) == 0);

}  // namespace

bool process_is_gone(std::uint32_t pid) { return kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH; }

void OwnOpenCall::begin(OpenWork* work, const OpenCall& call) {
  if (work == nullptr) return;
  OfThread& own = of_thread;
  if (!own.asked) {
    own.asked = true;
    own.thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
    own.entry = claim_entry(work->calls, static_cast<std::uint32_t>(getpid()), work->calls_left_out, process_is_gone);
    own.last_name[0] = '\0';
  }
  if (own.entry == nullptr) return;
  OpenCall written = call;
  written.thread = own.thread;
  if (std::strncmp(own.last_name, call.name, sizeof own.last_name) == 0) {
    own.entry->write_front(written, kFront);
  } else {
    std::memcpy(own.last_name, call.name, sizeof own.last_name);
    own.entry->write(written);
  }
}

void OwnOpenCall::end() {
  const OfThread& own = of_thread;
  if (own.entry == nullptr) return;
  OpenCall none;
  none.thread = own.thread;
  own.entry->write_front(none, kFront);
}

OpenWordWait::OpenWordWait(OpenWork* work, OpenCall call) {
  if (work == nullptr) return;
  entry_ = claim_entry(work->calls, static_cast<std::uint32_t>(getpid()), work->calls_left_out, process_is_gone);
  if (entry_ == nullptr) return;
  thread_local const auto thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
  call.thread = thread;
  call.waits_for_word = 1;
  entry_->write(call);
}

OpenWordWait::~OpenWordWait() {
  if (entry_ != nullptr) entry_->give_back();
}

}  // namespace wicprof
