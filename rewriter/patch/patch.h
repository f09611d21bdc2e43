// The patch of a module: a bounded visit before each back edge of its waits, in text that can be taken out again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protocol/result.h"
#include "rewriter/patch/site.h"
#include "rewriter/waits/recognize.h"

namespace wicprof::rewriter {

struct Patch {
  std::string text;   ///< the whole patched module; the original where there is no site
  std::string table;  ///< the name of the module's variable (Table)
  std::vector<Site> sites;
};

/// Patches all back edges whose verdict is `wait`. `verdicts` come from recognize(module). Fails for a target without
/// nanosleep and for text that uses the names of the patch. `counts`: waits are counted.
Result<Patch> patch(const Module& module, const std::vector<FunctionVerdicts>& verdicts, bool counts = true);

/// The text without what patch() inserted, byte for byte.
std::string strip(std::string_view text);

}  // namespace wicprof::rewriter
