#include "collector/sources/list.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace wicprof::collector {

namespace {

struct Entry {
  std::string_view name;
  bool cuda;  // part of the word "cuda"
  std::unique_ptr<Source> (*make)();
};

// Devices first: they are to be declared before the first event on them.
constexpr Entry kSources[] = {
    {"devices", true, make_devices}, {"kernels", true, make_kernels},       {"copies", true, make_copies},
    {"calls", true, make_calls},     {"host_waits", true, make_host_waits}, {"nvtx", false, make_nvtx},
};

bool names(const std::string& word, const Entry& entry) { return word == entry.name || (word == "cuda" && entry.cuda); }

}  // namespace

Selection select_sources(const std::vector<std::string>& words) {
  Selection selection;
  for (const Entry& entry : kSources) {
    if (std::any_of(words.begin(), words.end(), [&](const auto& word) { return names(word, entry); })) {
      selection.sources.push_back(entry.make());
    }
  }
  for (const std::string& word : words) {
    const bool known =
        std::any_of(std::begin(kSources), std::end(kSources), [&](const Entry& entry) { return names(word, entry); });
    if (!known && word != "none") selection.unknown.push_back(word);
  }
  return selection;
}

}  // namespace wicprof::collector
