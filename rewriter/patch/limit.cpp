#include "rewriter/patch/limit.h"

#include "rewriter/patch/marks.h"
#include "rewriter/text/module.h"

namespace wicprof::rewriter {

Result<std::string> limit_registers(std::string_view text, const std::map<std::string, int>& limits) {
  const Result<Module> module = read_module(text);
  if (!module) return module.error();
  std::string limited;
  std::size_t copied = 0;
  for (const Function& function : module->functions) {
    const auto limit = limits.find(std::string(function.name));
    if (!function.is_entry || !function.has_body || limit == limits.end()) continue;
    const std::string_view header = function.header.of(text);
    if (header.find(".maxnreg") != std::string_view::npos || header.find(".minnctapersm") != std::string_view::npos) {
      continue;
    }
    limited += text.substr(copied, function.body.begin - copied);
    limited += marked("\n.maxnreg " + std::to_string(limit->second) + "\n");
    copied = function.body.begin;
  }
  return limited.append(text.substr(copied));
}

}  // namespace wicprof::rewriter
