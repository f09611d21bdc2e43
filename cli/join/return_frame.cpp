#include "cli/join/return_frame.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <signal.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace wicprof::cli {

namespace {

constexpr std::uint64_t kRedZone = 128;  // below the stack's pointer, which functions use (System V ABI for x86-64)

/// struct rt_sigframe of the kernel (arch/x86/include/asm/sigframe.h), from its second word on.
struct KernelContext {
  std::uint64_t flags;
  std::uint64_t link;
  struct {
    std::uint64_t pointer;
    std::int32_t flags, unused;
    std::uint64_t bytes;
  } stack;
  sigcontext registers;
  std::uint64_t blocked_signals;
};
static_assert(sizeof(KernelContext) == 304);

/// The marks that tell the kernel that there is more than the old part of the registers of vectors.
constexpr std::uint32_t kBeginMark = 0x46505853, kEndMark = 0x46505845;  // FP_XSTATE_MAGIC1 and 2
constexpr std::size_t kMarks = 464;                                      // in the old part, of 512 bytes

constexpr std::uint64_t kVectors = 1, kStackSegment = 2, kStrictStackSegment = 4;  // UC_...

/// Where the layout of XSAVE ends for these parts of the state, in the form without gaps left out.
std::size_t end_of_state(std::uint64_t parts) {
  std::size_t end = 576;  // of the old part and its header
  for (unsigned part = 2; part < 63; ++part) {
    unsigned bytes = 0, offset = 0, c = 0, d = 0;
    if ((parts >> part & 1) == 0 || __get_cpuid_count(0xd, part, &bytes, &offset, &c, &d) == 0) continue;
    end = std::max(end, std::size_t{offset} + bytes);
  }
  return end;
}

/// Marks the bytes as the kernel does for a handler. Returns false for a form that is not known.
bool mark_vectors(std::string& bytes) {
  constexpr std::size_t kOld = 512;
  constexpr std::uint64_t kTileData = std::uint64_t{1} << 18;  // only where the program has asked for it
  std::uint64_t all = 0, used = 0;
  if (bytes.size() < kOld + 64) return false;
  std::memcpy(&all, bytes.data() + kMarks, sizeof all);
  std::memcpy(&used, bytes.data() + kOld, sizeof used);
  const std::uint64_t parts = (all & ~kTileData) | (used & kTileData);
  const std::size_t end = end_of_state(parts);
  if ((parts & 3) != 3 || end > bytes.size()) return false;
  bytes.resize(end);
  bytes.append(reinterpret_cast<const char*>(&kEndMark), sizeof kEndMark);
  _fpx_sw_bytes marks{};
  marks.magic1 = kBeginMark;
  marks.extended_size = static_cast<std::uint32_t>(bytes.size());
  marks.xstate_bv = parts;
  marks.xstate_size = static_cast<std::uint32_t>(end);
  std::memcpy(bytes.data() + kMarks, &marks, sizeof marks);
  return true;
}

KernelContext context_of(const user_regs_struct& from, std::uint64_t vectors, std::uint64_t blocked_signals) {
  KernelContext context{};
  context.flags = kVectors | kStackSegment | kStrictStackSegment;
  context.stack.flags = -1;  // no such flags: the kernel leaves the stack for signals as it is
  context.blocked_signals = blocked_signals;
  sigcontext& to = context.registers;
  to.r8 = from.r8;
  to.r9 = from.r9;
  to.r10 = from.r10;
  to.r11 = from.r11;
  to.r12 = from.r12;
  to.r13 = from.r13;
  to.r14 = from.r14;
  to.r15 = from.r15;
  to.rdi = from.rdi;
  to.rsi = from.rsi;
  to.rbp = from.rbp;
  to.rbx = from.rbx;
  to.rdx = from.rdx;
  to.rax = from.rax;
  to.rcx = from.rcx;
  to.rsp = from.rsp;
  to.rip = from.rip;
  to.eflags = from.eflags;
  to.cs = static_cast<std::uint16_t>(from.cs);
  to.gs = static_cast<std::uint16_t>(from.gs);
  to.fs = static_cast<std::uint16_t>(from.fs);
  to.__pad0 = static_cast<std::uint16_t>(from.ss);
  std::memcpy(&to.fpstate, &vectors, sizeof vectors);
  return context;
}

}  // namespace

ReturnFrame return_frame(const user_regs_struct& registers, std::string vectors, std::uint64_t blocked_signals,
                         std::uint64_t landing, std::uint64_t signal_return) {
  ReturnFrame frame;
  if (!mark_vectors(vectors)) return frame;
  constexpr std::uint64_t kSignalInfo = 128;  // follows the context, and nobody reads it: frame.spare
  const std::uint64_t vectors_at = (registers.rsp - kRedZone - vectors.size()) / 64 * 64;
  const std::uint64_t context_at = (vectors_at - kSignalInfo - sizeof(KernelContext)) / 16 * 16;
  // A function finds its stack 8 bytes below a multiple of 16: so the landing is there twice.
  const std::uint64_t way[] = {landing, landing, signal_return};
  frame.stack = context_at - sizeof way;
  frame.landed = frame.stack + sizeof(std::uint64_t);
  frame.spare = context_at + sizeof(KernelContext);
  const KernelContext context = context_of(registers, vectors_at, blocked_signals);
  frame.bytes.assign(reinterpret_cast<const char*>(way), sizeof way);
  frame.bytes.append(reinterpret_cast<const char*>(&context), sizeof context);
  frame.bytes.resize(vectors_at - frame.stack);
  frame.bytes += vectors;
  return frame;
}

}  // namespace wicprof::cli
#endif
