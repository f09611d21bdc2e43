#include "cli/join/join_process.h"

#include "cli/join/may_join.h"

#if defined(__x86_64__)
#include <dirent.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cli/join/called_thread.h"
#include "cli/join/interrupted_call.h"
#include "cli/join/loading_thread.h"
#include "cli/join/return_frame.h"
#include "cli/join/safe_place.h"
#endif

namespace wicprof::cli {

#if defined(__x86_64__)

namespace {

constexpr TimeNs kSearch = 5 * kSecond;            // for a thread in a safe place
constexpr TimeNs kMostLooked = 40 * kMillisecond;  // that threads are stopped to be looked at, in all
constexpr TimeNs kStops = 2 * kSecond;             // until a thread counts as one that does not stop
constexpr TimeNs kCreates = 2 * kSecond;           // until the call of pthread_create() counts as one that hangs
constexpr TimeNs kLoads = 10 * kSecond;            // until dlopen() does, which may read from a slow disk
constexpr TimeNs kLook = kMillisecond;             // between looks at what threads do, which stop none
constexpr TimeNs kAsleepFirst = 300 * kMillisecond;
constexpr TimeNs kFirstPause = 4 * kMillisecond, kLongestPause = 50 * kMillisecond;  // between stops of a thread

struct Candidate {
  pid_t tid;
  ThreadNow now;
};

std::vector<Candidate> threads_of(pid_t pid) {
  std::vector<Candidate> found;
  DIR* const all = opendir(fmt::format("/proc/{}/task", pid).c_str());
  if (all == nullptr) return found;
  while (const dirent* entry = readdir(all)) {
    pid_t tid = 0;
    const std::string_view name = entry->d_name;
    if (std::from_chars(name.data(), name.data() + name.size(), tid).ec != std::errc()) continue;
    found.push_back({tid, look_at_thread(pid, tid)});
  }
  closedir(all);
  std::stable_sort(found.begin(), found.end(),
                   [](const Candidate& a, const Candidate& b) { return a.now.fit < b.now.fit; });
  return found;
}

/// For pthread_create(), of the C library's own making: glibc's attributes are bytes without pointers.
pthread_attr_t detached() {
  pthread_attr_t attributes;
  std::memset(&attributes, 0, sizeof attributes);
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  return attributes;
}

/// What is known of a thread that was in no safe place.
struct Known {
  TimeNs next = 0;  ///< when to try again
  TimeNs pause = kFirstPause;
  std::string why;
};

/// How an attempt with one thread ended.
struct Attempt {
  enum class End : std::uint8_t { unfit, created, failed };
  End end = End::unfit;
  std::string why;  ///< of `unfit`, as what follows "a thread"; of `failed`, as an error
};

class Join {
 public:
  Join(pid_t pid, std::string library, std::string start)
      : memory_(pid), library_(std::move(library)), start_(std::move(start)) {}

  Result<Joined> run() {
    Result<CLibrary> found = find_c_library(memory_);
    if (!found) return found.error();
    c_ = *std::move(found);
    // Where an allocator of its own is, fork() takes that one's locks before those of the files, and the new thread
    // wants them the other way round.
    const bool own_allocator = has_own_allocator(memory_);
    if ((own_allocator || !c_.fork_locks_files) && makes_children(memory_.pid())) {
      return unavailable(fmt::format(
          "it makes children by fork(), and has {}: a child that it makes while its loader works on the library might "
          "hang",
          own_allocator ? "an allocator of its own" : "a C library whose fork() wic-prof does not know"));
    }
    const Mapping* const code = memory_.at(c_.create_thread);
    if (code == nullptr) return unavailable("it has ended");
    code_ = *code;
    for (began_ = now_ns(); now_ns() < began_ + kSearch && looked_ < kMostLooked;) {
      const Attempt attempt = with_any_thread();
      if (attempt.end == Attempt::End::failed) return unavailable(attempt.why);
      if (attempt.end == Attempt::End::created) return loaded();
      std::this_thread::sleep_for(std::chrono::nanoseconds(kLook));
    }
    std::map<std::string, unsigned> reasons;
    for (const Candidate& each : threads_of(memory_.pid())) {
      const auto known = known_.find(each.tid);
      ++reasons[known == known_.end() ? each.now.why_unfit : known->second.why];
    }
    std::string text;
    for (const auto& [why, count] : reasons)
      if (!why.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, why);
    return unavailable(fmt::format("none of its threads came to a place where that is safe ({}); try again", text));
  }

 private:
  Attempt with_any_thread() {
    const std::vector<Candidate> threads = threads_of(memory_.pid());
    if (threads.empty()) return {Attempt::End::failed, "it has ended"};
    for (const Candidate& each : threads) {
      if (each.now.fit == ThreadNow::Fit::unfit) continue;
      // A thread that sleeps is rarely in the loader or the allocator; one that computes often is.
      if (each.now.fit == ThreadNow::Fit::computes && now_ns() < began_ + kAsleepFirst) continue;
      Known& known = known_[each.tid];
      if (now_ns() < known.next) continue;
      Attempt attempt = with_thread(each.tid);
      if (attempt.end != Attempt::End::unfit) return attempt;
      known = {now_ns() + known.pause, std::min(2 * known.pause, kLongestPause), std::move(attempt.why)};
      if (looked_ >= kMostLooked) break;
    }
    return {};
  }

  Attempt with_thread(pid_t tid) {
    const TracedThread thread(tid);
    const int error = thread.seize();
    if (error == ESRCH) return {Attempt::End::unfit, "has ended"};
    if (error != 0) {
      return {Attempt::End::failed, fmt::format("the system does not let wic-prof trace it: {}", std::strerror(error))};
    }
    const TimeNs began = now_ns();
    Attempt attempt = with_seized(thread, began);
    joined_.stopped += now_ns() - began;
    return attempt;
  }

  Attempt with_seized(const TracedThread& thread, TimeNs began) {
    const Attempt gone{Attempt::End::unfit, "has ended"};
    if (!thread.interrupt()) return gone;
    Stop stop = thread.wait(began + kStops);
    while (stop.kind == Stop::Kind::signal && thread.go_on(stop.number)) stop = thread.wait(began + kStops);
    if (stop.kind == Stop::Kind::gone) return gone;
    if (stop.kind == Stop::Kind::group) return {Attempt::End::failed, "it is stopped; let it go on first (kill -CONT)"};
    if (stop.kind != Stop::Kind::asked) return {Attempt::End::failed, "one of its threads does not stop; try again"};
    const TimeNs noticed = now_ns();
    user_regs_struct registers{};
    if (!thread.registers(registers)) return gone;
    const Continuation continuation = continuation_of(registers);
    // At once: a thread without its tracer would see that its call was interrupted.
    if (continuation.traced.rip != registers.rip) thread.set_registers(continuation.traced);
    memory_.refresh();
    if (!is_same_program()) {
      thread.detach();
      return {Attempt::End::failed, "it runs another program now"};
    }
    std::string why = why_not_safe(memory_, c_, thread, registers, continuation);
    looked_ += now_ns() - noticed;
    if (why.empty()) return create_thread(thread, registers, continuation);
    thread.detach();
    return {Attempt::End::unfit, std::move(why)};
  }

  /// Lets the thread create another one, and brings it back to where it was.
  Attempt create_thread(const TracedThread& thread, const user_regs_struct& registers,
                        const Continuation& continuation) {
    std::uint64_t blocked = 0;
    const std::uint64_t errno_at = registers.fs_base + static_cast<std::uint64_t>(c_.errno_offset);
    const auto error = memory_.value<std::int32_t>(errno_at);
    if (!error || !thread.blocked_signals(blocked)) return {Attempt::End::failed, "one of its threads cannot be read"};
    const std::string vectors = thread.vector_registers();
    const ReturnFrame frame = return_frame(continuation.alone, vectors, blocked, c_.landing, c_.signal_return);
    if (frame.bytes.empty()) return {Attempt::End::failed, "its registers have a form that wic-prof does not know"};
    const pthread_attr_t attributes = detached();
    const std::uint64_t identity_at = frame.spare, attributes_at = frame.spare + sizeof(pthread_t);
    static_assert(sizeof(pthread_t) + sizeof attributes <= 128);
    CalledThread called(thread, false);
    // In this order: until the registers are set, nothing has changed for the thread, and from then on it comes back by
    // itself, with its signals as they were.
    if (!memory_.write(frame.stack, frame.bytes.data(), frame.bytes.size()) ||
        !memory_.write(attributes_at, &attributes, sizeof attributes) || !thread.trace_new_threads(true) ||
        !called.call(registers, {c_.create_thread, {identity_at, attributes_at, c_.landing, 0}, frame.stack}) ||
        !thread.set_blocked_signals(~std::uint64_t{0}))
      return {Attempt::End::unfit, "has ended"};
    const CalledThread::End end = called.land(frame.landed, now_ns() + kCreates);
    if (called.created() != 0) loading_.emplace(called.created(), c_, library_, start_);
    if (end != CalledThread::End::landed) return {Attempt::End::failed, "one of its threads did not come back in time"};
    // In this order: before its registers are set, the thread would get all else back by itself.
    const bool back = thread.interrupt() && thread.go_on() && is_back(thread.wait(now_ns() + kCreates)) &&
                      memory_.write(errno_at, &*error, sizeof *error) && thread.set_vector_registers(vectors) &&
                      thread.set_blocked_signals(blocked) && thread.set_registers(continuation.traced) &&
                      thread.detach();
    if (!loading_ || !back) return {Attempt::End::failed, "the system refuses it a thread"};
    return {Attempt::End::created, {}};
  }

  /// Whether the C library is where it was. It lies elsewhere after exec(), which no thread but the stopped one can
  /// then call without an end of that one.
  bool is_same_program() {
    const Mapping* const code = memory_.at(c_.create_thread);
    return code != nullptr && code->begin == code_.begin && code->same_file(code_);
  }

  /// Where the system is about to look for signals, so that it continues a call that was interrupted.
  static bool is_back(const Stop& stop) { return stop.kind == Stop::Kind::asked || stop.kind == Stop::Kind::group; }

  Result<Joined> loaded() {
    const std::optional<Result<>> result = loading_->work(memory_, now_ns() + kLoads);
    if (!result) {
      return unavailable(
          "its loader does not answer, because another thread is in it, or the disk is slow; try again later");
    }
    if (!*result) return result->error();
    return joined_;
  }

  AddressSpace memory_;
  const std::string library_, start_;
  CLibrary c_;
  Mapping code_;  // of the C library, when c_ was found
  TimeNs began_ = 0;
  TimeNs looked_ = 0;  // without the time until threads stop, which need a CPU for that
  std::map<pid_t, Known> known_;
  std::optional<LoadingThread> loading_;
  Joined joined_;
};

}  // namespace

Result<Joined> join_process(pid_t pid, const std::string& library, const std::string& start) {
  if (const Result<> may = may_join(pid, library); !may) return may.error();
  // A thread of its own: the kernel lets go of what a thread traces when that thread ends.
  std::optional<Result<Joined>> result;
  std::thread([&] { result = Join(pid, library, start).run(); }).join();
  return *std::move(result);
}

#else

Result<Joined> join_process(pid_t pid, const std::string& library, const std::string&) {
  return may_join(pid, library).error();
}

#endif

}  // namespace wicprof::cli
