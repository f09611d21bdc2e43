#include "cli/join/loading_thread.h"

#if defined(__x86_64__)
#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

namespace wicprof::cli {

namespace {

Error went_away() { return unavailable("it has ended, or runs another program now"); }

}  // namespace

LoadingThread::LoadingThread(pid_t created, const CLibrary& c, std::string library, std::string start)
    : thread_(TracedThread(created), true), c_(c), library_(std::move(library)), start_(std::move(start)) {}

std::optional<Result<>> LoadingThread::work(AddressSpace& memory, TimeNs until) {
  if (step_ == Step::created) {
    const Stop stop = thread_.thread().wait(until);
    if (stop.kind == Stop::Kind::none) return std::nullopt;
    if (stop.kind != Stop::Kind::asked || !thread_.thread().trace_new_threads(false)) return Result<>(went_away());
    thread_ = CalledThread(thread_.thread(), false);
    step_ = Step::begins;
  }
  while (true) {
    const CalledThread::End end = thread_.land(step_ == Step::begins ? 0 : stack_ - 8, until);
    if (end == CalledThread::End::late) return std::nullopt;
    if (end == CalledThread::End::gone) return Result<>(went_away());
    if (end == CalledThread::End::disturbed) {
      thread_.thread().detach();
      return Result<>(unavailable("somebody stopped it meanwhile; try again"));
    }
    Result<> done = step_ == Step::begins ? load(memory) : step_ == Step::loads ? start(memory) : ok();
    if (done && step_ != Step::starts) {
      step_ = step_ == Step::begins ? Step::loads : Step::starts;
      continue;
    }
    thread_.thread().detach();
    return done;
  }
}

/// On the thread's own stack, as if the function that had called the landing called that one.
bool LoadingThread::call(AddressSpace& memory, std::uint64_t function, std::uint64_t first, std::uint64_t second) {
  const std::uint64_t way[] = {c_.landing, c_.landing};  // twice: see return_frame.cpp
  return memory.write(stack_ - sizeof way, way, sizeof way) &&
         thread_.call(thread_.registers(), {function, {first, second}, stack_ - sizeof way});
}

Result<> LoadingThread::load(AddressSpace& memory) {
  stack_ = thread_.registers().rsp;
  memory.refresh();
  const Mapping* const stack = memory.at(stack_);
  // At the far end of its stack, which is behind a guard of its own.
  if (stack == nullptr || !memory.write(stack->begin, library_.c_str(), library_.size() + 1) ||
      !call(memory, c_.open_library, stack->begin, RTLD_NOW | RTLD_LOCAL))
    return went_away();
  return ok();
}

Result<> LoadingThread::start(AddressSpace& memory) {
  memory.refresh();
  for (const Mapping& mapping : memory.mappings()) {
    if (mapping.path != library_ || !mapping.executable()) continue;
    const auto object = MappedObject::of(memory, mapping);
    const auto function = object ? object->function(memory, start_) : std::nullopt;
    if (!function) continue;
    if (!call(memory, *function, 0, 0)) return went_away();
    return ok();
  }
  return unavailable(fmt::format("its loader does not load {}", library_));
}

}  // namespace wicprof::cli
#endif
