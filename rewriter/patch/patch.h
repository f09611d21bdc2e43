// The patch of a module: a bounded visit before each back edge of its waits, in text that can be taken out again.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/result.h"
#include "rewriter/waits/recognize.h"

namespace wicprof::rewriter {

/// A patched back edge.
struct Site {
  std::size_t number = 0;  ///< its place in the module's table of sites
  std::string_view function;
  const LoopVerdict* loop = nullptr;
};

struct Patch {
  std::string text;   ///< the whole patched module; the original where there is no site
  std::string table;  ///< the name of the module's global variable that holds the sites
  std::vector<Site> sites;
};

// The table has one entry of kSiteBytes per site: at 0 the control word (u32), at 8 the rounds counted (u64).
inline constexpr std::size_t kSiteBytes = 16;
inline constexpr std::size_t kSiteRounds = 8;
/// The control word: how long a visit sleeps, in ns. 0: the loop polls as it did. The highest bit: count rounds.
inline constexpr unsigned kCountRounds = 0x8000'0000u;
/// A visit sleeps at most this long, whatever the control word says, in ns.
inline constexpr unsigned kLongestPause = 100'000;
inline constexpr unsigned kLongestBriefPause = 1'000;
/// A thread reads the control word once per so many rounds while the loop polls as it did.
inline constexpr unsigned kRoundsPerRead = 64;

/// Patches all back edges whose verdict is `wait`. `verdicts` come from recognize(module). Fails for a target without
/// nanosleep and for text that uses the names of the patch.
Result<Patch> patch(const Module& module, const std::vector<FunctionVerdicts>& verdicts);

/// The text without what patch() inserted, byte for byte.
std::string strip(std::string_view text);

}  // namespace wicprof::rewriter
