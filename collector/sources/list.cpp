#include "collector/sources/list.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace wicprof::collector {

namespace {

struct Entry {
  std::string_view name;
  bool cuda;                                                  // selected by the word "cuda"
  bool on_devices;                                            // its events refer to devices
  std::unique_ptr<Source> (*make)(ControlBlock*, OpenWork*);  // nullptr: recorded by the tool, not by the collector
};

template <std::unique_ptr<Source> (*kMake)()>
std::unique_ptr<Source> without_control(ControlBlock*, OpenWork*) {
  return kMake();
}

std::unique_ptr<Source> launches_of_process(ControlBlock*, OpenWork* work) { return make_launches(work); }

// `devices` comes first, and is selected with every source that refers to devices: a device must be declared before the
// first event on it.
constexpr Entry kSources[] = {
    {"devices", true, true, without_control<make_devices>},
    {"kernels", true, true, without_control<make_kernels>},
    {"copies", true, true, without_control<make_copies>},
    {"calls", true, false, without_control<make_calls>},
    {"host_waits", true, false, make_host_waits},
    {"syncs", true, false, without_control<make_syncs>},
    {"events", true, true, without_control<make_events>},
    {"overhead", true, false, without_control<make_overhead>},
    {"nvtx", false, false, without_control<make_nvtx>},
    {"uvm", false, true, without_control<make_uvm>},
    {"graphs", false, true, without_control<make_graphs>},
    {"pcsampling", false, true, without_control<make_pc_sampling>},
    {"rewrite", false, true, make_rewrite},
    {"launches", false, false, launches_of_process},
    {"host", false, false, nullptr},
};

bool names(const std::string& word, const Entry& entry) { return word == entry.name || (word == "cuda" && entry.cuda); }

// `syncs` needs `events`: a wait for an event names the event, and only the event's record has the stream on which the
// event was recorded. Since CUDA 12.9, CUPTI delivers these records only where their own kind is enabled.
bool requests(const std::vector<std::string>& words, const Entry& entry) {
  return std::any_of(words.begin(), words.end(), [&](const auto& word) {
    return names(word, entry) || (word == "syncs" && entry.make == without_control<make_events>);
  });
}

}  // namespace

Selection select_sources(const std::vector<std::string>& words, ControlBlock* control, OpenWork* work) {
  Selection selection;
  const bool on_devices = std::any_of(std::begin(kSources), std::end(kSources),
                                      [&](const Entry& entry) { return entry.on_devices && requests(words, entry); });
  for (const Entry& entry : kSources) {
    if (entry.make == nullptr) continue;
    if (requests(words, entry) || (on_devices && entry.make == without_control<make_devices>))
      selection.sources.push_back(entry.make(control, work));
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
