// What a program has begun and not ended, in the session's shared memory: calls in which host threads wait, launched
// kernels, waits of warps that last, calls of MPI, and collectives of NCCL. A trace has a row only when something has
// ended; `wic-prof stuck` reads this while the program hangs.
//
// Every entry belongs to the process that has claimed it. One thread at a time writes an entry (for a call: the thread
// itself); any process may read: a reader copies the entry and keeps the copy if `version` was even and did not change.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

#include "protocol/control.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/site.h"
#include "protocol/open_mpi.h"
#include "protocol/open_nccl.h"
#include "protocol/time.h"
#include "protocol/wanted_value.h"

namespace wicprof {

inline constexpr std::size_t kMaxOpenCalls = 512;    ///< threads that wait in calls at the same time, or have waited
inline constexpr std::size_t kMaxOpenKernels = 512;  ///< not ended, of all processes
inline constexpr std::size_t kMaxOpenWaits = 2048;   ///< groups of warps
inline constexpr std::size_t kMaxSharers = 256;      ///< processes that share memory of GPUs

/// What reported a wait.
enum class WaitSource : std::uint8_t {
  wic = 0,      ///< a wait site of the wic backend
  patched = 1,  ///< a loop of the program's own that wic-prof has patched
  host = 2,     ///< a host thread that waits for a word
};

/// One thread's call, or its wait for a word. Trivially copyable.
struct OpenCall {
  std::uint32_t thread = 0;
  Awaited awaited = Awaited::unknown;
  WaitSource source = WaitSource::host;
  std::uint8_t waits_for_word = 0;  ///< 1: no call of CUDA: `handle` is the word's address and `name` the site's name
  std::uint8_t names_wanted = 0;    ///< 1: `wanted` is known
  TimeNs begin = 0;                 ///< 0: no call is open
  std::uint64_t handle = 0;         ///< of the stream or event; 0 = the default stream, or not known
  std::uint64_t stream = 0;         ///< of an event: where it was recorded last; 0 = not known
  std::uint32_t iteration = 0;
  std::uint32_t wanted = 0;
  char name[64] = {};
};

/// A kernel whose end is not known.
struct OpenKernel {
  std::uint32_t thread = 0;  ///< that launched it
  std::uint32_t correlation = 0;
  TimeNs launched = 0;
  std::uint64_t stream = 0;  ///< the handle; 0 = the default stream
  std::uint64_t context = 0;
  std::uint32_t grid[3] = {}, block[3] = {};
  char name[128] = {};
};

/// A group of warps that waits.
struct OpenWait {
  WaitSource source = WaitSource::wic;
  WordMemory memory = WordMemory::unknown;
  std::uint8_t names_wanted = 0;
  SiteEnd releasing = 0;
  DeviceId device = 0;
  std::uint32_t block = 0, blocks = 0;  ///< of the grid; blocks: 0 = not known
  std::uint16_t warp = 0, sm = 0;
  std::uint32_t iteration = 0;
  std::uint64_t address = 0;  ///< of the word, as the device sees it
  std::uint32_t value = 0;    ///< last seen
  std::uint32_t wanted = 0;
  WordTag word_tag = 0;
  WantedRelation relation = WantedRelation::unknown;               ///< of a patched loop: to `wide_wanted`
  std::uint8_t is_64_bit = 0;                                      ///< of a patched loop's word
  std::uint64_t wide_value = 0, wide_wanted = 0, wanted_mask = 0;  ///< of a patched loop
  TimeNs begin = 0;                                                ///< host time
  TimeNs seen = 0;                                                 ///< when `value` was reported (host time)
  char site[kMaxSiteName] = {};
};

/// Copies as much of a text as the array holds, and ends it with NUL.
template <std::size_t kSize>
void copy_name(char (&to)[kSize], std::string_view text) {
  const std::size_t n = std::min(kSize - 1, text.size());
  std::memcpy(to, text.data(), n);
  std::memset(to + n, 0, kSize - n);
}

/// One entry of a table in shared memory.
template <class Value>
class OpenEntry {
 public:
  /// False: another process or thread holds it.
  bool claim(std::uint32_t pid) {
    std::uint32_t free = 0;
    return pid_.load(std::memory_order_relaxed) == 0 &&
           pid_.compare_exchange_strong(free, pid, std::memory_order_acq_rel);
  }
  void give_back() {
    write({});
    pid_.store(0, std::memory_order_release);
  }
  /// claim() of an entry whose holder has ended. False: another process or thread was first.
  bool take_over(std::uint32_t gone, std::uint32_t pid) {
    if (!pid_.compare_exchange_strong(gone, pid, std::memory_order_acq_rel)) return false;
    write({});
    return true;
  }
  std::uint32_t pid() const { return pid_.load(std::memory_order_acquire); }

  /// For the holder. One thread at a time.
  void write(const Value& value) { write_front(value, sizeof value); }
  /// Writes the first bytes alone, up to the end of the member at `offset`.
  void write_front(const Value& value, std::size_t bytes) {
    std::array<std::uint64_t, kWords> words;
    std::memcpy(words.data(), &value, bytes);
    write_words(words.data(), 0, bytes / sizeof(std::uint64_t));
  }

  /// Writes one word alone: the member at that offset, a multiple of eight.
  void write_word(std::size_t offset, std::uint64_t word) { write_words(&word, offset / sizeof word, 1); }

  /// A copy; nothing if the entry is free, or changed at every look.
  std::optional<Value> read() const {
    for (int look = 0; look < 100; ++look) {
      if (pid() == 0) return std::nullopt;
      const std::uint32_t before = version_.load(std::memory_order_acquire);
      std::array<std::uint64_t, kWords> words;
      for (std::size_t i = 0; i < kWords; ++i) words[i] = words_[i].load(std::memory_order_acquire);
      if (before % 2 != 0 || version_.load(std::memory_order_relaxed) != before) continue;
      Value value;
      std::memcpy(static_cast<void*>(&value), words.data(), sizeof value);
      return value;
    }
    return std::nullopt;
  }

 private:
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) % sizeof(std::uint64_t) == 0);
  static constexpr std::size_t kWords = sizeof(Value) / sizeof(std::uint64_t);

  void write_words(const std::uint64_t* from, std::size_t first, std::size_t count) {
    // Odd already where the holder before was killed while it wrote.
    const std::uint32_t odd = version_.load(std::memory_order_relaxed) | 1u;
    version_.store(odd, std::memory_order_relaxed);
    // Release, so that whoever sees a new word also sees the odd version.
    for (std::size_t i = 0; i < count; ++i) words_[first + i].store(from[i], std::memory_order_release);
    version_.store(odd + 1, std::memory_order_release);
  }

  std::atomic<std::uint32_t> pid_;
  std::atomic<std::uint32_t> version_;
  std::atomic<std::uint64_t> words_[kWords];
};

/// Part of the session's memory, zeroed at its start.
struct OpenWork {
  OpenEntry<OpenCall> calls[kMaxOpenCalls];
  OpenEntry<OpenKernel> kernels[kMaxOpenKernels];
  OpenEntry<OpenWait> waits[kMaxOpenWaits];
  OpenEntry<OpenMpiCall> mpi_calls[kMaxOpenMpiCalls];
  OpenEntry<OpenCommunicator> communicators[kMaxOpenCommunicators];
  OpenEntry<OpenNccl> nccl[kMaxOpenNccl];
  // What found its table full, since the session began.
  std::atomic<std::uint32_t> calls_left_out, kernels_left_out, waits_left_out, mpi_left_out, nccl_left_out;
  std::atomic<std::uint32_t> watches_launches;  ///< 1: a collector of the session sees launches
  std::atomic<std::uint32_t> watches_calls;     ///< 1: a collector of the session sees waiting calls
  /// Raised by whoever wants the words of patched loops as they are now; a collector that has read them, or cannot,
  /// gives `answered` the same number.
  std::atomic<std::uint32_t> asked, answered;
  /// Processes that have given another one memory of a GPU, or taken it, ended ones, too; 0 = free. Their calls are in
  /// the trace only once CUPTI hands its records over, which a process that hangs or is killed keeps it from.
  std::atomic<std::uint32_t> sharers[kMaxSharers];
};

/// Any thread of any process. Where all places are taken, the process is left out.
void add_sharer(OpenWork& work, std::uint32_t pid);
bool is_sharer(const OpenWork& work, std::uint32_t pid);

/// A free entry, claimed for the process; nullptr: none is free, which `left_out` counts. Takes over the entries of
/// processes that have ended without giving them back. Any thread of any process.
template <class Value, std::size_t kCount>
OpenEntry<Value>* claim_entry(OpenEntry<Value> (&entries)[kCount], std::uint32_t pid,
                              std::atomic<std::uint32_t>& left_out, bool (*gone)(std::uint32_t pid)) {
  for (OpenEntry<Value>& entry : entries) {
    if (entry.claim(pid)) return &entry;
  }
  for (OpenEntry<Value>& entry : entries) {
    const std::uint32_t holder = entry.pid();
    if (holder == 0 || holder == pid || !gone(holder)) continue;
    if (entry.take_over(holder, pid)) return &entry;
  }
  left_out.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

/// Whether no process has that id. False in doubt.
bool process_is_gone(std::uint32_t pid);

/// A thread's entry for calls, made and used by that thread. Claimed at the first call, given back with the object, so
/// the session stays mapped as long as that. One session per process.
class OwnOpenCall {
 public:
  OwnOpenCall() = default;
  OwnOpenCall(const OwnOpenCall&) = delete;
  OwnOpenCall& operator=(const OwnOpenCall&) = delete;
  ~OwnOpenCall();

  /// Writes that the thread is in a call since `call.begin`. `work`: the session's; nullptr: none.
  void begin(OpenWork* work, const OpenCall& call);
  /// The thread is once more in the call that it wrote last. Costs a fraction of the other.
  void again(TimeNs begin) {
    if (entry_ != nullptr) entry_->write_word(kBegin, static_cast<std::uint64_t>(begin));
  }
  /// The thread's call has ended.
  void end() {
    if (entry_ != nullptr) entry_->write_word(kBegin, 0);
  }

 private:
  OpenEntry<OpenCall>* entry_ = nullptr;
  bool asked_ = false;
  std::uint32_t thread_ = 0;
  static constexpr std::size_t kBegin = offsetof(OpenCall, begin);
  static_assert(kBegin % sizeof(std::uint64_t) == 0 && sizeof(OpenCall::begin) == sizeof(std::uint64_t));
  char last_name_[sizeof(OpenCall::name)] = {};
};

/// An entry for the time of one wait for a word.
class OpenWordWait {
 public:
  OpenWordWait(OpenWork* work, OpenCall call);
  OpenWordWait(const OpenWordWait&) = delete;
  OpenWordWait& operator=(const OpenWordWait&) = delete;
  ~OpenWordWait();

 private:
  OpenEntry<OpenCall>* entry_ = nullptr;
};

}  // namespace wicprof
