// The patch of a module: a bounded visit before each back edge of its waits, in text that can be taken out again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/result.h"
#include "rewriter/waits/recognize.h"

namespace wicprof::rewriter {

/// A patched back edge.
struct Site {
  std::size_t number = 0;  ///< its place in the table of sites
  std::string_view function;
  const LoopVerdict* loop = nullptr;
};

struct Patch {
  std::string text;   ///< the whole patched module; the original where there is no site
  std::string table;  ///< the name of the module's variable: ModuleWords, then DeviceWords per site
  std::vector<Site> sites;
};

/// What a patched loop shares with the host: in pinned memory of ours, one per site, in the order of Patch::sites.
struct SiteWords {
  /// Written by the host. The longest pause of a visit, in ns; 0: the loop polls as it did. kCount: count waits.
  std::uint32_t control;
  std::uint32_t reserved;
  // Copies of DeviceWords while control has kCount, at most kLookEveryNs and one visit old.
  std::uint64_t waits;
  std::uint64_t rounds;
  std::uint64_t ns;
  std::uint64_t reserved2[4];
};
static_assert(sizeof(SiteWords) == 64);
inline constexpr std::uint32_t kCount = 0x8000'0000u;

/// The beginning of the module's variable. Zero until the loader has written it: then nothing happens in a visit.
struct ModuleWords {
  std::uint64_t sites;  ///< the device's address of the SiteWords
  std::uint64_t reserved[7];
};
static_assert(sizeof(ModuleWords) == 64);

/// A site in the module's variable, in the memory of each device. Zero at first.
struct DeviceWords {
  std::uint32_t control;  ///< SiteWords::control as the last reader found it
  std::uint32_t reserved;
  std::uint64_t look_ns;  ///< device time from which one thread may read the host's word again
  // While control has kCount. Only waits of at least kRoundsPerRead rounds.
  std::uint64_t waits;
  std::uint64_t rounds;
  std::uint64_t ns;  ///< from the first visit of a wait until its last: a little less than the wait
  std::uint64_t reserved2[3];
};
static_assert(sizeof(DeviceWords) == 64);

/// A thread reads the control word once per so many rounds while the loop polls as it did.
inline constexpr std::uint32_t kRoundsPerReadLog2 = 6, kRoundsPerRead = 1u << kRoundsPerReadLog2;
/// How often a thread of the device reads the host's control word, in ns. Reads of one host line wait for each other:
/// 132 pollers that read it per 64 rounds made a chain of blocks at least 50 times as slow on an H200.
inline constexpr std::uint32_t kLookEveryNs = 20'000;
/// A pause is this share of the wait so far, a 1024th. In a chain of N blocks that wait for each other the pause of
/// each delays all: with a share of 1/N or more, waits and pauses make each other grow. Pauses that doubled up to 100
/// us made that chain as slow as the reads did.
inline constexpr std::uint32_t kPauseShareLog2 = 10;
/// The shortest pause, in ns.
inline constexpr std::uint32_t kFirstPause = 64;
/// A round that takes longer, in ns, shows a queue at the word: one read of host memory alone takes 1 to 2 us on an
/// H200.
inline constexpr std::uint32_t kSlowRoundNs = 8'000;
/// Longer without a visit, in ns: a new wait, which the code has entered by a branch past its beginning. Longer than
/// kRoundsPerRead rounds behind hundreds of readers of one host line.
inline constexpr std::uint32_t kLongestGapNs = 100'000'000;
/// A visit sleeps at most this long, whatever the control word says, in ns.
inline constexpr std::uint32_t kLongestPause = 100'000;
inline constexpr std::uint32_t kLongestBriefPause = 1'000;

/// Patches all back edges whose verdict is `wait`. `verdicts` come from recognize(module). Fails for a target without
/// nanosleep and for text that uses the names of the patch.
Result<Patch> patch(const Module& module, const std::vector<FunctionVerdicts>& verdicts);

/// The text without what patch() inserted, byte for byte.
std::string strip(std::string_view text);

}  // namespace wicprof::rewriter
