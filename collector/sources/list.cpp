#include "collector/sources/list.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace wicprof::collector {

namespace {

struct Entry {
  std::string_view name;
  bool cuda;                          // part of the word "cuda"
  std::unique_ptr<Source> (*make)();  // nullptr: a word of the tool's own sources, which the collector leaves to it
};

// Devices first: they are to be declared before the first event on them.
constexpr Entry kSources[] = {
    {"devices", true, make_devices},
    {"kernels", true, make_kernels},
    {"copies", true, make_copies},
    {"calls", true, make_calls},
    {"host_waits", true, make_host_waits},
    {"syncs", true, make_syncs},
    {"events", true, make_events},
    {"overhead", true, make_overhead},
    {"nvtx", false, make_nvtx},
    {"uvm", false, make_uvm},
    {"graphs", false, make_graphs},
    {"pcsampling", false, make_pc_sampling},
    {"host", false, nullptr},
};

bool names(const std::string& word, const Entry& entry) { return word == entry.name || (word == "cuda" && entry.cuda); }

}  // namespace

Selection select_sources(const std::vector<std::string>& words) {
  Selection selection;
  for (const Entry& entry : kSources) {
    if (entry.make != nullptr && std::any_of(words.begin(), words.end(), [&](const auto& word) { return names(word, entry); })) {
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

std::string known_words() {
  std::string words = "none, cuda";
  for (const Entry& entry : kSources) words.append(", ").append(entry.name);
  return words;
}

}  // namespace wicprof::collector
