#include "collector/sources/list.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace wicprof::collector {

namespace {

/// What sources share with each other, and with the tool.
struct Parts {
  WaitsOfProcess& waits;
  ControlBlock* control;
  OpenWork* work;
};

struct Entry {
  std::string_view name;
  bool cuda;                                      // selected by the word "cuda"
  bool on_devices;                                // its events refer to devices
  std::unique_ptr<Source> (*make)(const Parts&);  // nullptr: recorded by the tool, or a choice between others
};

template <std::unique_ptr<Source> (*kMake)()>
std::unique_ptr<Source> plain(const Parts&) {
  return kMake();
}
std::unique_ptr<Source> kernels_of(const Parts& parts) { return make_kernels(parts.waits.open_kernels); }
std::unique_ptr<Source> graphs_of(const Parts&) { return make_graphs(); }
std::unique_ptr<Source> calls_of(const Parts& parts) { return make_calls(parts.waits.own_calls); }
std::unique_ptr<Source> host_waits_of(const Parts& parts) {
  return make_host_waits(parts.waits, parts.control, parts.work);
}
std::unique_ptr<Source> launches_of(const Parts& parts) { return make_launches(parts.waits.open_kernels, parts.work); }
std::unique_ptr<Source> rewrite_of(const Parts& parts) {
  return make_rewrite(parts.waits.own_calls, parts.control, parts.work);
}

constexpr std::string_view kNodes = "nodes";

// `devices` comes first, and is selected with every source that refers to devices: a device must be declared before the
// first event on it.
constexpr Entry kSources[] = {
    {"devices", true, true, plain<make_devices>},
    {"kernels", true, true, kernels_of},
    {"copies", true, true, plain<make_copies>},
    {"calls", true, false, calls_of},
    {"host_waits", true, false, host_waits_of},
    {"syncs", true, false, plain<make_syncs>},
    {"events", true, true, plain<make_events>},
    {"overhead", true, false, plain<make_overhead>},
    {"nvtx", false, false, plain<make_nvtx>},
    {"uvm", false, true, plain<make_uvm>},
    {"graphs", true, true, graphs_of},
    {kNodes, false, true, nullptr},
    {"pcsampling", false, true, plain<make_pc_sampling>},
    {"rewrite", false, true, rewrite_of},
    {"launches", false, false, launches_of},
    {"host", false, false, nullptr},
    {"energy", false, false, nullptr},
    {"mpi", false, false, nullptr},
    {"nccl", false, false, nullptr},
};

bool names(const std::string& word, const Entry& entry) { return word == entry.name || (word == "cuda" && entry.cuda); }

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// `syncs` needs `events`: a wait for an event names the event, and only the event's record has the stream on which the
// event was recorded. Since CUDA 12.9, CUPTI delivers these records only where their own kind is enabled.
bool requests(const std::vector<std::string>& words, const Entry& entry, bool late) {
  if (entry.make == graphs_of && (late || contains(words, kNodes))) return false;
  const bool of_graphs = entry.make == kernels_of || entry.make == plain<make_copies>;
  return std::any_of(words.begin(), words.end(), [&](const auto& word) {
    return names(word, entry) || (word == "syncs" && entry.make == plain<make_events>) || (word == kNodes && of_graphs);
  });
}

}  // namespace

Selection select_sources(const std::vector<std::string>& words, WaitsOfProcess& waits, ControlBlock* control,
                         OpenWork* work, bool late) {
  Selection selection;
  const Parts parts{waits, control, work};
  const bool on_devices = std::any_of(std::begin(kSources), std::end(kSources), [&](const Entry& entry) {
    return entry.on_devices && requests(words, entry, late);
  });
  for (const Entry& entry : kSources) {
    if (entry.make == nullptr) continue;
    if (requests(words, entry, late) || (on_devices && entry.make == plain<make_devices>))
      selection.sources.push_back(entry.make(parts));
  }
  const auto requested = [&](std::unique_ptr<Source> (*make)(const Parts&)) {
    return std::any_of(std::begin(kSources), std::end(kSources),
                       [&](const Entry& entry) { return entry.make == make && requests(words, entry, late); });
  };
  const bool of_graphs = requested(graphs_of) || requested(kernels_of) || requested(plain<make_copies>);
  if (!selection.sources.empty() && !of_graphs && !late) selection.sources.push_back(make_graphs(false));
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
