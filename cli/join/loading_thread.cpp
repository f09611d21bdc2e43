#include "cli/join/loading_thread.h"

#if defined(__x86_64__)
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/join/interrupted_call.h"
#include "cli/join/return_frame.h"

namespace wicprof::cli {

namespace {

constexpr TimeNs kLongestLock = 900 * kMillisecond;  // the load takes some milliseconds
constexpr TimeNs kStopsAtOnce = 200 * kMillisecond;  // unless it waits for a disk
constexpr std::size_t kLongestReason = 1024;

Error went_away() { return unavailable("it has ended, or runs another program now"); }

}  // namespace

LoadingThread::LoadingThread(pid_t created, const CLibrary& c, std::string library, std::string start)
    : thread_(TracedThread(created), true), c_(c), library_(std::move(library)), start_(std::move(start)) {}

std::optional<Result<>> LoadingThread::work(AddressSpace& memory, TimeNs until) {
  const Stop stop = thread_.thread().wait(until);
  if (stop.kind == Stop::Kind::none) return std::nullopt;
  if (stop.kind != Stop::Kind::asked || !thread_.thread().trace_new_threads(false)) return Result<>(went_away());
  thread_ = CalledThread(thread_.thread(), false);
  while (true) {
    const CalledThread::End end = thread_.land(expected_, locked_until_ == 0 ? until : std::min(until, locked_until_));
    if (end == CalledThread::End::late) {
      if (now_ns() >= until) return std::nullopt;
      release(memory);
      continue;
    }
    if (end == CalledThread::End::gone) return Result<>(went_away());
    std::optional<Result<>> done = end == CalledThread::End::disturbed
                                       ? Result<>(unavailable("somebody stopped it meanwhile; try again"))
                                       : next(memory);
    if (!done) continue;
    thread_.thread().detach();
    return done;
  }
}

std::optional<Result<>> LoadingThread::next(AddressSpace& memory) {
  switch (step_) {
    case Step::begins: {
      stack_ = thread_.registers().rsp;
      memory.refresh();
      const Mapping* const stack = memory.at(stack_);
      if (stack == nullptr) return Result<>(went_away());
      text_ = stack->begin;
      step_ = Step::waits;
      if (!call(memory, c_.describe_address, c_.landing, text_, c_.landing)) return Result<>(went_away());
      return std::nullopt;
    }
    case Step::waits:
      step_ = Step::locks;
      if (!load(memory)) return Result<>(went_away());
      return std::nullopt;
    case Step::locks:
      step_ = Step::loads;
      locked_until_ = now_ns() + kLongestLock;
      expected_ = stack_ - 8;
      return std::nullopt;
    case Step::loads:
      locked_until_ = 0;
      return start(memory);
    case Step::explains:
      return Result<>(
          unavailable("its loader says: " +
                      memory.text(thread_.result(), kLongestReason).value_or(library_ + " cannot be loaded")));
    case Step::starts:
      return ok();
  }
  return std::nullopt;
}

/// On the thread's own stack, as if the function that had called the landing called that one.
bool LoadingThread::call(AddressSpace& memory, std::uint64_t function, std::uint64_t first, std::uint64_t second,
                         std::uint64_t back_to) {
  const std::uint64_t way[] = {back_to, c_.landing};  // two: see return_frame.cpp
  expected_ = stack_ - 8;
  return memory.write(stack_ - sizeof way, way, sizeof way) &&
         thread_.call(thread_.registers(), {function, {first, second}, stack_ - sizeof way});
}

/// The lock comes first, and the frame below it calls the loader.
bool LoadingThread::load(AddressSpace& memory) {
  std::uint64_t blocked = 0;
  const std::uint64_t way[] = {c_.landing, c_.unlock_files, c_.landing, c_.landing};
  user_regs_struct loader = thread_.registers();
  loader.rip = c_.open_library;
  loader.rdi = text_;
  loader.rsi = RTLD_NOW | RTLD_LOCAL;
  loader.rsp = stack_ - sizeof way;
  if (!thread_.thread().blocked_signals(blocked)) return false;
  const ReturnFrame frame =
      return_frame(loader, thread_.thread().vector_registers(), blocked, c_.landing, c_.signal_return);
  expected_ = frame.landed;
  return !frame.bytes.empty() && memory.write(text_, library_.c_str(), library_.size() + 1) &&
         memory.write(loader.rsp, way, sizeof way) &&
         memory.write(frame.stack, frame.bytes.data(), frame.bytes.size()) &&
         thread_.call(thread_.registers(), {c_.lock_files, {}, frame.stack});
}

/// Gives the lock back while the thread is in the loader still, which then goes on without it.
void LoadingThread::release(AddressSpace& memory) {
  locked_until_ = now_ns() + kLongestLock;
  const TracedThread& thread = thread_.thread();
  if (!thread.interrupt()) return;
  Stop stop = thread.wait(now_ns() + kStopsAtOnce);
  // At the begin or the end of a call of the system, where its registers cannot be changed; and that was the stop asked
  // for.
  if (stop.kind == Stop::Kind::call && thread.interrupt() && thread.go_on())
    stop = thread.wait(now_ns() + kStopsAtOnce);
  if (stop.kind == Stop::Kind::none) return;  // land() goes on where it stops later
  thread_ = CalledThread(thread, false);
  const std::uint64_t unlock_at = stack_ - 24;  // the second of load()'s way
  user_regs_struct registers{};
  std::uint64_t blocked = 0;
  if (stop.kind != Stop::Kind::asked || !thread.registers(registers) || !thread.blocked_signals(blocked) ||
      registers.rsp >= unlock_at)
    return;
  const ReturnFrame frame =
      return_frame(continuation_of(registers).alone, thread.vector_registers(), blocked, c_.landing, c_.signal_return);
  if (frame.bytes.empty() || !memory.write(frame.stack, frame.bytes.data(), frame.bytes.size())) return;
  locked_until_ = 0;
  memory.write(unlock_at, &c_.landing, sizeof c_.landing);
  thread_.call(registers, {c_.unlock_files, {}, frame.stack});
}

std::optional<Result<>> LoadingThread::start(AddressSpace& memory) {
  memory.refresh();
  for (const Mapping& mapping : memory.mappings()) {
    if (mapping.path != library_ || !mapping.executable()) continue;
    const auto object = MappedObject::of(memory, mapping);
    const auto function = object ? object->function(memory, start_) : std::nullopt;
    if (!function) continue;
    step_ = Step::starts;
    if (!call(memory, *function, 0, 0, c_.landing)) return Result<>(went_away());
    return std::nullopt;
  }
  step_ = Step::explains;
  if (!call(memory, c_.load_error, 0, 0, c_.landing_call)) return Result<>(went_away());
  return std::nullopt;
}

}  // namespace wicprof::cli
#endif
