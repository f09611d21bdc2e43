// Whether a stopped thread can make a call for wic-prof: no lock of the loader, the allocator or CUDA is in its hands,
// and no handler of a signal has interrupted it.
#pragma once

#include <string>

#include "cli/join/c_library.h"
#include "cli/join/interrupted_call.h"
#include "cli/join/traced_thread.h"

#if defined(__x86_64__)

namespace wicprof::cli {

/// How many bytes of its stack a thread must have free for the call.
inline constexpr std::uint64_t kRoomForCall = std::uint64_t{64} << 10;

/// Whether malloc() is not that of the C library.
bool has_own_allocator(AddressSpace& memory);

/// Why the thread is in no safe place, as what follows "a thread"; empty: it is in one. `continuation`: of `registers`.
std::string why_not_safe(AddressSpace& memory, const CLibrary& library, const TracedThread& thread,
                         const user_regs_struct& registers, const Continuation& continuation);

}  // namespace wicprof::cli
#endif
