#include "protocol/open_work.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <iterator>

namespace wicprof {

namespace {

// Of an entry, what changes from call to call of one name.
constexpr std::size_t kFront = offsetof(OpenCall, name);
static_assert(kFront % sizeof(std::uint64_t) == 0);

}  // namespace

bool process_is_gone(std::uint32_t pid) { return kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH; }

void add_sharer(OpenWork& work, std::uint32_t pid) {
  for (std::atomic<std::uint32_t>& place : work.sharers) {
    std::uint32_t holder = 0;
    if (place.compare_exchange_strong(holder, pid, std::memory_order_relaxed) || holder == pid) return;
  }
}

bool is_sharer(const OpenWork& work, std::uint32_t pid) {
  return std::any_of(std::begin(work.sharers), std::end(work.sharers),
                     [&](const auto& place) { return place.load(std::memory_order_relaxed) == pid; });
}

OwnOpenCall::~OwnOpenCall() {
  // In the child of a fork the entry is still the parent's.
  if (entry_ != nullptr && entry_->pid() == static_cast<std::uint32_t>(getpid())) entry_->give_back();
}

void OwnOpenCall::begin(OpenWork* work, const OpenCall& call) {
  if (work == nullptr) return;
  if (!asked_) {
    asked_ = true;
    thread_ = static_cast<std::uint32_t>(syscall(SYS_gettid));
    entry_ = claim_entry(work->calls, static_cast<std::uint32_t>(getpid()), work->calls_left_out, process_is_gone);
    last_name_[0] = '\0';
  }
  if (entry_ == nullptr) return;
  OpenCall written = call;
  written.thread = thread_;
  if (std::memcmp(last_name_, call.name, sizeof last_name_) == 0) {
    entry_->write_front(written, kFront);
  } else {
    std::memcpy(last_name_, call.name, sizeof last_name_);
    entry_->write(written);
  }
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
