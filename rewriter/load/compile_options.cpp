#include "rewriter/load/compile_options.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

namespace wicprof::rewriter {

namespace {

// Of ptxas 13.0, in both spellings.
constexpr std::string_view kHarmless[] = {
    // the machine, and what is written
    "arch", "gpu-name", "m", "m64", "machine", "64", "o", "output-file", "c", "compile-only",
    // messages
    "v", "verbose", "w", "disable-warnings", "Werror", "warning-as-error", "warn-spills", "warn-on-spills",
    "warn-lmem-usage", "warn-on-local-memory-usage", "warn-double-usage", "warn-on-double-precision-use",
    "suppress-double-demote-warning", "suppress-stack-size-warning", "suppress-async-bulk-multicast-advisory-warning",
    "suppress-sparse-mma-advisory-info", "V",
    // those of a debug build, which say what the PTX says itself (.target sm_90, debug): the code is the same
    "lineinfo", "generate-line-info", "g", "device-debug", "dont-merge-basicblocks", "no-bb-merge", "return-at-end",
    "ret-end", "suppress-debug-info",
    // how the compiler works
    "split-compile", "preserve-relocs"};

struct Option {
  std::string_view name;   ///< without dashes
  std::string_view value;  ///< empty: none
  std::string_view text;   ///< all of it
};

/// -name, -name=value or -name value.
std::vector<Option> parts_of(std::string_view options) {
  std::vector<Option> parts;
  std::size_t at = 0;
  while ((at = options.find_first_not_of(' ', at)) < options.size()) {
    const std::size_t end = std::min(options.find(' ', at), options.size());
    const std::string_view word = options.substr(at, end - at);
    if (word.front() == '-' || parts.empty()) {
      const std::string_view name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
      const std::size_t equals = std::min(name.find('='), name.size());
      parts.push_back({name.substr(0, equals), name.substr(std::min(equals + 1, name.size())), word});
    } else {
      Option& last = parts.back();
      last.value = word;
      last.text = options.substr(static_cast<std::size_t>(last.text.data() - options.data()));
      last.text = last.text.substr(0, static_cast<std::size_t>(word.data() + word.size() - last.text.data()));
    }
    at = end;
  }
  return parts;
}

bool is_harmless(const Option& option) {
  if (option.name == "O3" || ((option.name == "O" || option.name == "opt-level") && option.value == "3")) return true;
  if (option.name == "fmad" && option.value == "true") return true;  // as without it
  return std::ranges::find(kHarmless, option.name) != std::end(kHarmless);
}

}  // namespace

std::string changing_option(std::string_view options) {
  for (const Option& option : parts_of(options)) {
    if (!is_harmless(option)) return std::string(option.text);
  }
  return {};
}

}  // namespace wicprof::rewriter
