#include "collector/program/caller.h"

#include <pthread.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/program/loaded_module.h"
#include "collector/program/place_name.h"

namespace wicprof::collector {

namespace {

/// Frames of one stack, the innermost first: ours, CUPTI's, the driver's, the runtime's, then the program's. CUPTI,
/// driver and runtime together have fewer than ten.
constexpr std::size_t kMostFrames = 32;

/// Frames of a runtime that is linked into the program, at most. Not calibrated.
constexpr std::size_t kMostOfRuntime = 8;

struct Frame {
  const void* returns_to = nullptr;
  const void* slot = nullptr;  // where on the stack that address lies
};

struct Stack {
  std::array<Frame, kMostFrames> frames;
  std::size_t count = 0;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* to) {
  Stack& stack = *static_cast<Stack*>(to);
  if (stack.count == stack.frames.size()) return _URC_END_OF_STACK;
  const auto address = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  const void* slot = nullptr;
#ifdef __x86_64__
  // The return address lies just below the place where the caller's stack ended before its call.
  slot = reinterpret_cast<const void*>(_Unwind_GetCFA(context) - sizeof(void*));
#endif
  stack.frames[stack.count++] = {address, slot};
  return _URC_NO_REASON;
}

bool is_library_of_cuda(const LoadedModule& module) {
  const std::string name = module.file_name();
  return name.starts_with("libcuda.so") || name.starts_with("libcupti.so") || name.starts_with("libcudart.so");
}

bool same(const LoadedModule& one, const LoadedModule& other) {
  return one.found && other.found && one.begin == other.begin;
}

/// function_at(), which reads a symbol table, once for each address and not once for each thread.
class FunctionNames {
 public:
  std::string at(const void* address) {
    const std::uint64_t modules = modules_loaded();
    {
      const std::lock_guard lock(mutex_);
      if (modules != modules_) {  // another function may lie at that address now
        modules_ = modules;
        names_.clear();
      }
      if (const auto found = names_.find(address); found != names_.end()) return found->second;
    }
    // Not under the lock: this takes one of the loader's, which a thread that waits for ours may hold.
    std::string name = function_at(address).name;
    const std::lock_guard lock(mutex_);
    if (modules == modules_) names_.emplace(address, name);
    return name;
  }

 private:
  std::mutex mutex_;
  std::uint64_t modules_ = 0;
  std::unordered_map<const void*, std::string> names_;
};
FunctionNames& function_names() {
  static auto& names = *new FunctionNames;  // callbacks may come after the end of static objects
  return names;
}
std::string name_at(const void* address) { return function_names().at(address); }

/// Whether an address lies in the runtime that is linked into the program. Its functions keep the names of the calls;
/// the names of its inner functions are hashes.
bool in_static_runtime(const void* address, std::string_view call) {
  const std::string function = name_at(address);
  return function.starts_with("libcudart_static_") || function == call ||
         (function.starts_with(call) &&
          std::string_view(function).substr(call.size()).starts_with("_pt"));  // _ptsz, _ptds
}

/// Where the function begins that holds an address: from the tables for unwinding, which a program without names has,
/// too. nullptr: not known.
const void* function_around(const void* address) { return _Unwind_FindEnclosingFunction(const_cast<void*>(address)); }

bool has_name(const void* address) { return !name_at(address).empty(); }

/// Between the program and a call of the driver.
struct Between {
  std::string runtime_call;
  bool ambiguous = false;
};

/// The first frame of the program; nullptr if the stack ends before.
const Frame* programs_frame(const Stack& stack, const CudaCall& call, Between& between) {
  const LoadedModule own = module_at(reinterpret_cast<const void*>(&add_frame)), cupti = module_at(call.cupti);
  bool runtime = false;  // its library's frames are skipped
  std::size_t at = 0;
  for (; at < stack.count; ++at) {
    const LoadedModule module =
        module_at(static_cast<const char*>(stack.frames[at].returns_to) - 1);  // within the call
    const bool of_cuda = same(module, cupti) || is_library_of_cuda(module);
    if (!module.found || (!same(module, own) && !of_cuda)) break;
    runtime = runtime || (of_cuda && module.file_name().starts_with("libcudart.so"));
  }
  const auto address_of = [&](std::size_t i) {
    return static_cast<const void*>(static_cast<const char*>(stack.frames[i].returns_to) - 1);
  };
  const auto calls = [&](const std::string& function) {
    return std::find(call.runtime_calls.begin(), call.runtime_calls.end(), function) != call.runtime_calls.end();
  };
  if (!call.runtime && !call.runtime_calls.empty() && at < stack.count) {
    if (runtime) {
      const std::string function = name_at(address_of(at - 1));
      if (calls(function)) between.runtime_call = function;
    } else if (!has_name(address_of(at))) {
      const std::size_t most = std::min(stack.count - 1, at + kMostOfRuntime);
      between.ambiguous = true;
      for (std::size_t i = at; i < most && between.ambiguous; ++i) {
        for (std::size_t n = 0; n < call.inside.size() && between.ambiguous; ++n) {
          if (call.inside[n].load(std::memory_order_relaxed) != function_around(address_of(i))) continue;
          between = {call.runtime_calls[n], false};
          at = i + 1;
        }
      }
    } else {
      std::size_t skipped = at;
      std::string function = name_at(address_of(skipped));
      while (function.starts_with("libcudart_static_") && ++skipped < stack.count)
        function = name_at(address_of(skipped));
      if (skipped < stack.count && calls(function)) {
        between.runtime_call = function;
        at = skipped + 1;
      }
    }
  }
  if (call.runtime && !runtime) {
    if (at < stack.count && !has_name(address_of(at))) {
      ++at;  // a stripped program: the call's own function is one frame
    } else {
      while (at < stack.count && in_static_runtime(address_of(at), call.name)) ++at;
    }
  }
  return at < stack.count ? &stack.frames[at] : nullptr;
}

/// Where callers were found, by all threads.
struct Path {
  std::ptrdiff_t distance = 0;
  const void* address = nullptr;
  std::string runtime_call;
};
class PathsOfProcess {
 public:
  static PathsOfProcess& get() {
    static auto& paths = *new PathsOfProcess;  // callbacks may come after the end of static objects
    return paths;
  }
  void add(std::uint32_t call, Path path) {
    const std::uint64_t modules = modules_loaded();
    const std::lock_guard lock(mutex_);
    std::vector<Path>& paths = paths_of(call, modules);
    const bool known = std::any_of(paths.begin(), paths.end(), [&](const Path& one) {
      return one.distance == path.distance && one.address == path.address;
    });
    if (!known && paths.size() < kMost) paths.push_back(std::move(path));
  }
  template <class There>
  std::optional<Path> find(std::uint32_t call, There&& there) {
    const std::uint64_t modules = modules_loaded();
    const std::lock_guard lock(mutex_);
    const std::vector<Path>& paths = paths_of(call, modules);
    const auto found = std::find_if(paths.begin(), paths.end(), there);
    return found == paths.end() ? std::nullopt : std::optional(*found);
  }

 private:
  /// Empty after a library was loaded: another function may lie at an address now.
  std::vector<Path>& paths_of(std::uint32_t call, std::uint64_t modules) {
    if (std::exchange(modules_, modules) != modules) paths_.fill({});
    return paths_[call];
  }

  static constexpr std::size_t kMost = 16;  // of a call; not calibrated
  std::mutex mutex_;
  std::uint64_t modules_ = 0;
  std::array<std::vector<Path>, Caller::kCalls> paths_;
};

/// The calling thread's own stack, from its lowest address to behind its highest.
struct Bounds {
  std::uintptr_t begin = 0, end = 0;
};
Bounds own_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* lowest = nullptr;
  std::size_t bytes = 0;
  const bool known = pthread_attr_getstack(&attributes, &lowest, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  if (!known) return {};
  const auto begin = reinterpret_cast<std::uintptr_t>(lowest);
  return {begin, begin + bytes};
}

}  // namespace

const void* Caller::callee_of(const void* caller) {
  Stack stack;
  _Unwind_Backtrace(add_frame, &stack);
  for (std::size_t i = 1; i < stack.count; ++i) {
    if (stack.frames[i].returns_to != caller) continue;
    const void* const callee = static_cast<const char*>(stack.frames[i - 1].returns_to) - 1;  // within the call
    return same(module_at(callee), module_at(caller)) ? function_around(callee) : nullptr;
  }
  return nullptr;
}

void Caller::know_stack() {
  if (std::exchange(stack_known_, true)) return;
  const Bounds bounds = own_stack();
  stack_begin_ = bounds.begin;
  stack_end_ = bounds.end;
}

void Caller::remember(std::uint32_t call, std::ptrdiff_t distance) {
  auto& distances = distances_[call];
  if (std::find(std::begin(distances), std::end(distances), distance) != std::end(distances)) return;
  auto free = std::find(std::begin(distances), std::end(distances), 0);
  if (free == std::end(distances)) --free;
  *free = distance;
  // The shortest first, so that find() ends at the first one beyond the stack's end.
  std::sort(std::begin(distances), free + 1);
}

__attribute__((no_sanitize("address"))) const void* Caller::found_by_another(const CudaCall& call, const void* frame) {
  know_stack();
  const auto path = PathsOfProcess::get().find(call.number, [&](const Path& one) {
    return on_stack(reinterpret_cast<std::uintptr_t>(frame), one.distance) &&
           *reinterpret_cast<const void* const*>(static_cast<const char*>(frame) + one.distance) == one.address;
  });
  if (!path) return nullptr;
  remember(call.number, path->distance);
  runtime_call_ = path->runtime_call;
  ambiguous_ = false;
  return path->address;
}

const void* Caller::unwind(const CudaCall& call, const void* frame) {
  if (failures_[call.number] >= kMostFailures) return nullptr;
  know_stack();
  ++unwound_;
  Stack stack;
  _Unwind_Backtrace(add_frame, &stack);
  Between between;
  const Frame* const found = programs_frame(stack, call, between);
  runtime_call_ = between.runtime_call;
  ambiguous_ = between.ambiguous;
  if (found == nullptr) {
    ++failures_[call.number];
    return nullptr;
  }
  failures_[call.number] = 0;
  if (found->slot != nullptr && found->slot > frame &&
      *static_cast<const void* const*>(found->slot) == found->returns_to) {
    const std::ptrdiff_t distance = static_cast<const char*>(found->slot) - static_cast<const char*>(frame);
    remember(call.number, distance);
    // An ambiguous one is another once CudaCall::inside says more.
    if (!between.ambiguous)
      PathsOfProcess::get().add(call.number, {distance, found->returns_to, std::move(between.runtime_call)});
  }
  return found->returns_to;
}

}  // namespace wicprof::collector
