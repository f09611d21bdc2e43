// What patched loops share with the host, and what they share with each other.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wicprof::rewriter {

/// Per site, in pinned memory of the host, written by the host only.
struct SiteWords {
  /// Bits 0 to 30: the longest pause of a waiting thread, in ns; 0: the loop polls as it did. Bit 31: waits are
  /// recorded.
  std::uint32_t control;
  std::uint32_t reserved[15];
};
static_assert(sizeof(SiteWords) == 64);
inline constexpr std::uint32_t kRecord = 0x8000'0000u;

/// The beginning of the module's variable, in the memory of each device. Zero until the loader has written it: then the
/// loops poll as they did.
struct ModuleWords {
  std::uint64_t sites;    ///< the device's address of the SiteWords
  std::uint64_t records;  ///< the device's address of kRecords Records; 0: none
  std::uint64_t written;  ///< records so far; the next one gets this number
  std::uint64_t reserved[5];
};
static_assert(sizeof(ModuleWords) == 64);

/// A site in the module's variable, behind ModuleWords. Times are the low 32 bits of the device's clock, in ns: a time
/// lies ahead if it is at most as far ahead as it can be.
struct DeviceWords {
  std::uint32_t control;  ///< SiteWords::control as the last reader found it
  std::uint32_t look_ns;  ///< from when one thread may read the host's word again
  std::uint64_t reserved[7];
};
static_assert(sizeof(DeviceWords) == 64);

/// A word of host memory for which several threads wait, in the module's variable, behind all DeviceWords. One thread
/// reads the word, the others read this. A stale or a torn answer costs time only: whoever leaves polls for itself.
struct WatchedWord {
  std::uint64_t address;  ///< of the word; 0: never used
  std::uint64_t reserved;
  // Read at once by those who wait:
  std::uint32_t leader_until;  ///< until when a thread has promised to read the word
  std::uint32_t valid_until;
  std::uint64_t value;  ///< as the leader's poll reads it
  std::uint64_t reserved2[4];
};
static_assert(sizeof(WatchedWord) == 64);
inline constexpr std::uint32_t kWatchedWordsLog2 = 6, kWatchedWords = 1u << kWatchedWordsLog2;

/// What the waits of one site sum up to, in the module's variable, behind all WatchedWords: kCountSlots of them per
/// site. They only grow. Those that wait together in a warp count once. A wait that has found its word at its first
/// look is none.
struct SiteCounts {
  std::uint64_t looked;  ///< those that have lasted until their first look, kFirstLookNs; the slot is the SM's
  /// Of the others, those that began in windows that are counted, in the slot of the window (kSampleWindowLog2). A wait
  /// is added when it goes round, and taken away at its first look; where the ends of a site's waits are not known
  /// (Site::records), it stays.
  std::uint64_t sampled;
  /// Of the others, those that began in windows that are timed, their rounds, and their times from the first round's
  /// clock to the last one's. They are too few to count: who notes a time begins fewer waits in a window than others.
  std::uint64_t timed;
  std::uint64_t timed_rounds;
  std::uint64_t timed_ns;
  std::uint64_t reserved[3];
};
static_assert(sizeof(SiteCounts) == 64);
inline constexpr std::uint32_t kCountSlots = 8;
/// A wait is one of the sample if it begins in one of some windows of 1 us: of window w, the number is w^2 times
/// kSampleMultiplier, modulo 2^32. One window in kSampleOneIn has a number below kCountedBelow, and is counted; those
/// of the next numbers, below kTimedBelow, are timed. The clock's 32 bits have 2^22 windows. Those of the sample are as
/// far apart as windows chosen at random: they have no period that a program's waits could have. In longer windows a
/// thread would begin several waits, and fewer of them than elsewhere, since each takes longer.
inline constexpr std::uint32_t kSampleOneIn = 256, kSampleWindowLog2 = 10, kSampleMultiplier = 0x3ca7fc05u;
inline constexpr std::uint32_t kCountedBelow = 0xffff'ffffu / kSampleOneIn + 1;
inline constexpr std::uint32_t kTimedBelow = kCountedBelow + kCountedBelow / 8;
/// Which bits of that number say a window's slot: the slots are samples of their own, and tell the sample's error.
inline constexpr std::uint32_t kSampleSlotShift = 15;
/// The first look of a wait of the sample is due this long before the wait begins, in ns, until it is counted.
inline constexpr std::uint32_t kSampleDueBefore = 1u << 30;

/// A wait begins or ends; in a ring in pinned memory of the host. Nobody says when a record is complete: it is if
/// `check` fits. A thread waits at one place at a time, so that grid, block and thread tell which wait ends.
struct Record {
  std::uint64_t number_plus_one;
  std::uint64_t device_ns;  ///< of a begin: of the arrival; of an end: when the last round began
  std::uint64_t address;    ///< of a begin: of the word; 0: not known
  std::uint64_t value;      ///< of the word as the round's poll has read it; of an end: the low 32 bits
  std::uint32_t site;       ///< of a begin: bits 0 to 15; the rest is of Flag
  std::uint16_t thread;     ///< linear, in the block
  std::uint16_t sm;
  std::uint32_t block;  ///< linear
  std::uint32_t grid;   ///< the low bits of the launch's number
  std::uint64_t rounds;
  std::uint64_t check;  ///< the words before, joined by xor

  enum Flag : std::uint32_t {
    kEnd = 1u << 16,
    kKnowsValue = 1u << 17,  ///< of a begin: both values are known
    kPaused = 1u << 18,      ///< the wait slept, or watched another thread's reads, when it ended
  };
};
static_assert(sizeof(Record) == 64);
inline constexpr std::uint32_t kRecordsLog2 = 14, kRecords = 1u << kRecordsLog2;  // 1 MiB

/// Sites of one module at most, and of one function: what a record and a thread have bits for.
inline constexpr std::uint32_t kMostSites = 0xffff, kMostSitesOfFunction = 0xff;

/// How long a thread waits before its first look, in ns: shorter waits cost four instructions per round, and are
/// counted (SiteCounts), not recorded. Beside hundreds of readers of one host line a round takes longer than that.
inline constexpr std::uint32_t kFirstLookNs = 20'000;
/// How far apart later looks are, in ns. A look takes about 1 us, in which the thread does not see its word.
inline constexpr std::uint32_t kLookNs = 250'000;
/// How often a thread of the device reads the host's control word, in ns. Reads of one host line wait for each other:
/// 132 pollers that read it per 64 rounds made a chain of blocks at least 50 times as slow on an H200. A single read
/// delays fences of other SMs by about 1 us: with one per 20 us that chain takes 1.07 of its time, with one per 250 us
/// 1.02, with one per 2 ms 1.006 (docs/results/rewrite_fence.h200.json).
inline constexpr std::uint32_t kControlNs = 2'000'000;
/// A pause is this share of the wait so far, a 1024th. In a chain of N blocks that wait for each other the pause of
/// each delays all: with a share of 1/N or more, waits and pauses make each other grow. Pauses that doubled up to 100
/// us made that chain as slow as the reads did.
inline constexpr std::uint32_t kPauseShareLog2 = 10;
/// The shortest pause, in ns: a wait of less than half a millisecond has none. Pauses of 64 ns made a chain of blocks
/// on an H100 a fifth slower and helped nobody.
inline constexpr std::uint32_t kFirstPause = 500;
/// A pause lasts at most this long, whatever the control word says, in ns.
inline constexpr std::uint32_t kLongestPause = 100'000;
inline constexpr std::uint32_t kLongestBriefPause = 1'000;

/// A read of the word that takes longer, in ns, is one of host memory, or of a word with a queue.
inline constexpr std::uint32_t kSlowReadNs = 900;
/// Rounds that take longer on average, in ns, show that as well, without one more read.
inline constexpr std::uint32_t kSlowRoundNs = 5'000;
/// How long a thread stays with a watched word before it polls for itself: as long as the wait so far, within these, in
/// ns. 528 readers of one host line beside a kernel that streams host memory made that kernel 8 times as slow on an
/// H200, with a pause of 32 us between their reads as without one.
inline constexpr std::uint32_t kShortestWatch = 1'000'000, kLongestWatch = 100'000'000;
/// How long a reader's answer is valid, and for how long a reader promises to read, in ns.
inline constexpr std::uint32_t kValidNs = 100'000, kLeadNs = 300'000;
/// The pause between two reads of the word itself, in ns.
inline constexpr std::uint32_t kLeadPause = 200;
/// The pauses between two looks at a watched word, in ns: a share of the wait so far, a 64th, within these.
inline constexpr std::uint32_t kWatchShareLog2 = 6, kFirstWatchPause = 500, kLongestWatchPause = 8'000;

}  // namespace wicprof::rewriter
