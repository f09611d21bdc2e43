#include "cli/join/safe_place.h"

#if defined(__x86_64__)
#include <sys/resource.h>

#include <algorithm>
#include <string_view>

#include "cli/stacks/stack_walk.h"

namespace wicprof::cli {

namespace {

FrameValues frame_values(const user_regs_struct& r) {
  return {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
          r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
}

bool holds(const std::vector<CodeRange>& ranges, std::uint64_t address) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const CodeRange& each) { return each.holds(address); });
}

bool is_cuda(const Mapping& mapping) {
  const std::string_view name = mapping.file_name();
  constexpr std::string_view kFiles[] = {"libcuda.so", "libcudart.so", "libcupti.so", "libnvidia-", "libcudadebugger."};
  return std::any_of(std::begin(kFiles), std::end(kFiles),
                     [&](std::string_view file) { return name.starts_with(file); }) ||
         name.find("libcuda.so") != std::string_view::npos;
}

/// Whether the program has an allocator of its own in this object, and where: in the program itself, nobody can say
/// which of its functions belong to that.
bool has_allocator(AddressSpace& memory, const Mapping& mapping) {
  const auto object = MappedObject::of(memory, mapping);
  return object && object->function(memory, "malloc").has_value();
}

/// What lies under a frame that must not be under the call; empty: nothing.
std::string forbidden(AddressSpace& memory, const CLibrary& library, const Mapping& mapping, std::uint64_t code) {
  if (is_loader(mapping)) return "is in the loader";
  if (is_cuda(mapping)) return "is in CUDA";
  if (is_c_library(mapping)) return holds(library.not_within, code) ? "is in the C library" : "";
  return has_allocator(memory, mapping) ? "is in the program's allocator" : "";
}

/// What a thread has of its stack, from the lowest address that it may use.
struct StackBounds {
  std::uint64_t begin = 0, end = 0;
};

/// Of the stack that pthread_create() has given to the thread: the thread's description begins at its pointer (FS), and
/// has the stack's lowest address, its size and that of the guard in three words one after another (struct pthread in
/// nptl/descr.h of glibc; where they are differs between releases).
std::optional<StackBounds> bounds_of_thread(AddressSpace& memory, std::uint64_t pointer, std::uint64_t stack) {
  constexpr std::uint64_t kDescription = 0x900, kMostGuard = std::uint64_t{16} << 20;
  for (std::uint64_t at = pointer; at < pointer + kDescription; at += 8) {
    struct Block {
      std::uint64_t begin, bytes, guard;
    };
    const auto words = memory.value<Block>(at);
    if (!words) return std::nullopt;
    const std::uint64_t end = words->begin + words->bytes;
    // The first thread's description says that its stack begins at 0.
    const bool fits = words->begin != 0 && words->begin < stack && stack < end && words->begin < pointer &&
                      pointer < end && end - words->begin == words->bytes && words->guard <= kMostGuard &&
                      words->guard < words->bytes;
    if (fits) return StackBounds{words->begin + words->guard, end};
  }
  return std::nullopt;
}

std::optional<StackBounds> bounds_of(AddressSpace& memory, const user_regs_struct& registers) {
  const Mapping* const mapping = memory.at(registers.rsp);
  if (mapping == nullptr) return std::nullopt;
  if (mapping->path != "[stack]") return bounds_of_thread(memory, registers.fs_base, registers.rsp);
  rlimit limit{};
  if (prlimit(memory.pid(), RLIMIT_STACK, nullptr, &limit) != 0) return std::nullopt;
  const std::uint64_t size = std::min<std::uint64_t>(limit.rlim_cur, mapping->end);
  return StackBounds{mapping->end - size, mapping->end};
}

std::string about_innermost(AddressSpace& memory, const CLibrary& library, const Mapping& innermost,
                            const Continuation& continuation, const StackWalk& walk) {
  const bool of_c = is_c_library(innermost);
  if (of_c && !continuation.asleep) return "is in the C library";
  if (continuation.waits_for_lock && of_c &&
      std::none_of(walk.frames.begin(), walk.frames.end(),
                   [&](const StackFrame& frame) { return holds(library.of_mutex, frame.code); }))
    return "waits for a lock of the C library";
  if (continuation.asleep) return {};
  const auto program = std::find_if(memory.mappings().begin(), memory.mappings().end(),
                                    [](const Mapping& each) { return each.executable() && each.inode != 0; });
  if (program != memory.mappings().end() && innermost.same_file(*program) && has_allocator(memory, innermost))
    return "may be in the program's allocator";
  return {};
}

}  // namespace

bool has_own_allocator(AddressSpace& memory) {
  return std::any_of(memory.mappings().begin(), memory.mappings().end(), [&](const Mapping& each) {
    return each.executable() && each.inode != 0 && !is_c_library(each) && !is_loader(each) &&
           has_allocator(memory, each);
  });
}

std::string why_not_safe(AddressSpace& memory, const CLibrary& library, const TracedThread& thread,
                         const user_regs_struct& registers, const Continuation& continuation) {
  constexpr std::uint64_t kCodeOf64Bits = 0x33;
  if (registers.cs != kCodeOf64Bits) return "runs 32-bit code";
  if (thread.in_restartable_sequence(registers.rip)) return "is in a restartable sequence";
  const Mapping* const innermost = memory.at(registers.rip);
  if (innermost == nullptr) return "is in code that the system does not show";
  const StackWalk walk = walk_stack(memory, frame_values(registers));
  const auto bounds = bounds_of(memory, registers);
  if (walk.in_signal) return "is in a handler of a signal";
  for (const StackFrame& frame : walk.frames) {
    const Mapping* const mapping = memory.at(frame.code);
    if (mapping == nullptr) return "has a stack that cannot be followed";
    if (std::string why = forbidden(memory, library, *mapping, frame.code); !why.empty()) return why;
    if (!bounds || frame.stack < bounds->begin || frame.stack > bounds->end) return "is not on the stack of a thread";
  }
  if (!walk.whole) return "has a stack that cannot be followed";
  if (registers.rsp - bounds->begin < kRoomForCall) return "has too little room on its stack";
  return about_innermost(memory, library, *innermost, continuation, walk);
}

}  // namespace wicprof::cli
#endif
