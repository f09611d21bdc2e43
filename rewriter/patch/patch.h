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
  std::string table;  ///< the name of the module's variable of 8 bytes with the address of its sites; 0: none yet
  std::vector<Site> sites;
};

/// What a patched loop shares with the host: in memory of ours, one per site, in the order of Patch::sites.
struct SiteWords {
  /// Written by the host. The longest pause of a visit, in ns; 0: the loop polls as it did. kCount: count waits.
  std::uint32_t control;
  std::uint32_t reserved;
  // Written by the kernels, while control has kCount. Only waits of at least kRoundsPerRead rounds.
  std::uint64_t waits;
  std::uint64_t rounds;
  std::uint64_t ns;  ///< from the first visit of a wait until its last: a little less than the wait
  std::uint64_t reserved2[4];
};
static_assert(sizeof(SiteWords) == 64);
inline constexpr std::uint32_t kCount = 0x8000'0000u;

/// A thread reads the control word once per so many rounds while the loop polls as it did.
inline constexpr std::uint32_t kRoundsPerRead = 64;
/// The first pause of a wait, in ns; each further one is twice as long, up to what the control word allows.
inline constexpr std::uint32_t kFirstPause = 64;
/// A visit sleeps at most this long, whatever the control word says, in ns.
inline constexpr std::uint32_t kLongestPause = 100'000;
inline constexpr std::uint32_t kLongestBriefPause = 1'000;

/// Patches all back edges whose verdict is `wait`. `verdicts` come from recognize(module). Fails for a target without
/// nanosleep and for text that uses the names of the patch.
Result<Patch> patch(const Module& module, const std::vector<FunctionVerdicts>& verdicts);

/// The text without what patch() inserted, byte for byte.
std::string strip(std::string_view text);

}  // namespace wicprof::rewriter
