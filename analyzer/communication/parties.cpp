#include "analyzer/communication/parties.h"

#include <fmt/format.h>

#include <numeric>

#include "analyzer/measure/flat_index.h"
#include "analyzer/trace/wait_view.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

template <class T, class... Lists>
Index<T> index_of(const Lists&... lists) {
  FlatIndex numbers;
  std::vector<T> all;
  const auto add = [&](T value) {
    if (numbers.number(static_cast<std::uint32_t>(value)) == all.size()) all.push_back(value);
  };
  (lists(add), ...);
  return Index<T>(std::move(all));
}

Index<SiteId> all_sites(const TraceModel& model) {
  return index_of<SiteId>(
      [&](const auto& add) {
        for (const auto& row : model.signals) add(row.site);
      },
      [&](const auto& add) {
        for_each_wait(model, [&](const WaitView& wait) {
          if (!wait.in_call) add(wait.site);
        });
      });
}

Index<DeviceId> all_devices(const TraceModel& model) {
  return index_of<DeviceId>([&](const auto& add) { add(kHostDevice); },
                            [&](const auto& add) {
                              for (const auto& row : model.signals) add(row.device);
                            },
                            [&](const auto& add) {
                              for (const auto& row : model.waits) add(row.device);
                            });
}

/// Disjoint sets.
class Sets {
 public:
  explicit Sets(std::size_t count) : above_(count) { std::iota(above_.begin(), above_.end(), 0u); }
  std::uint32_t top(std::uint32_t i) {
    while (above_[i] != i) i = above_[i] = above_[above_[i]];
    return i;
  }
  void join(std::uint32_t a, std::uint32_t b) { above_[top(a)] = top(b); }

 private:
  std::vector<std::uint32_t> above_;
};

}  // namespace

PartyMap::PartyMap(const TraceModel& model, const Matching& matching)
    : model_(model), sites_(all_sites(model)), devices_(all_devices(model)) {
  find_declarations();
  find_ends();
  one_device_ = !shared_device_ && !devices_talk(matching);
  if (one_device_) {
    add_roles();
  } else {
    add_devices();
  }
}

PartyIndex PartyMap::of(DeviceId device, SiteId site, bool waits) const {
  if (one_device_) return party_of_role_[role(device, site, waits)];
  const std::uint32_t i = sites_.of(site);
  const std::uint32_t end = device == kHostDevice ? 0 : waits ? waiting_end_[i] : releasing_end_[i];
  return devices_.of(device) * ends_ + end;
}

void PartyMap::find_declarations() {
  declared_.assign(sites_.size(), nullptr);
  for (const store::SiteRow& row : model_.sites) {
    const std::uint32_t i = sites_.of(row.id);
    if (i < sites_.size() && sites_.at(i) == row.id) declared_[i] = &row;
  }
}

// Where one device holds both ends of a channel, its sites declare whose block signals or waits.
void PartyMap::find_ends() {
  releasing_end_.assign(sites_.size(), 0);
  waiting_end_.assign(sites_.size(), 0);
  const bool any = std::any_of(model_.sites.begin(), model_.sites.end(),
                               [](const auto& row) { return row.releasing != 0 || row.waiting != 0; });
  if (!any) return;
  std::vector<std::pair<DeviceId, SiteEnd>> ends;
  const auto add = [&](DeviceId device, SiteEnd end) {
    if (device == kHostDevice || end == 0) return;
    if (ends.empty() || ends.back() != std::pair(device, end)) ends.emplace_back(device, end);
  };
  for (const auto& row : model_.signals) {
    if (const auto* site = declared_[sites_.of(row.site)]) add(row.device, site->releasing);
  }
  for (const auto& row : model_.waits) {
    if (const auto* site = declared_[sites_.of(row.site)]) add(row.device, site->waiting);
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  for (std::size_t i = 1; i < ends.size(); ++i) shared_device_ = shared_device_ || ends[i].first == ends[i - 1].first;
  if (!shared_device_) return;
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    if (declared_[i] == nullptr) continue;
    releasing_end_[i] = declared_[i]->releasing;
    waiting_end_[i] = declared_[i]->waiting;
    most = std::max({most, releasing_end_[i], waiting_end_[i]});
  }
  ends_ = most + 1;
}

bool PartyMap::devices_talk(const Matching& matching) const {
  return std::any_of(matching.edges.begin(), matching.edges.end(), [&](const WakeEdge& edge) {
    return edge.host != (model_.signals[edge.signal].device == kHostDevice) ||
           (!edge.host && model_.signals[edge.signal].device != model_.waits[edge.wait].device);
  });
}

void PartyMap::add_devices() {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    for (std::uint32_t end = 0; end < ends_; ++end) {
      parties_.push_back({devices_.at(i), device_party_name(devices_.at(i), end), end});
    }
  }
}

// The name of the device, with the name that options use if several devices share it.
std::string PartyMap::device_party_name(DeviceId device, std::uint32_t end) const {
  std::string name = model_.device_name(device);
  const auto namesakes =
      std::count_if(model_.devices.begin(), model_.devices.end(), [&](const auto& d) { return d.name == name; });
  if (namesakes > 1) name = fmt::format("{} ({})", model_.device_key(device), name);
  return end < kFirstDeviceEnd ? name : fmt::format("part {} of {}", end - kFirstDeviceEnd, name);
}

// Blocks that signal at the same sites or wait at the same sites have the same role.
void PartyMap::add_roles() {
  using Act = std::pair<std::uint64_t, std::uint32_t>;  // device and block, role
  std::vector<Act> acts;
  const auto add = [&](DeviceId device, std::uint32_t block, SiteId site, bool waits) {
    const Act act{(std::uint64_t{devices_.of(device)} << 32) | block, role(device, site, waits)};
    if (acts.empty() || acts.back() != act) acts.push_back(act);
  };
  for (const auto& row : model_.signals) add(row.device, row.block, row.site, false);
  for_each_wait(model_, [&](const WaitView& wait) {
    if (!wait.in_call) add(wait.device, wait.who, wait.site, true);
  });
  std::sort(acts.begin(), acts.end());
  acts.erase(std::unique(acts.begin(), acts.end()), acts.end());
  const std::size_t roles = devices_.size() * sites_.size() * 2;
  Sets sets(roles);
  for (std::size_t i = 1; i < acts.size(); ++i) {
    if (acts[i].first == acts[i - 1].first) sets.join(acts[i].second, acts[i - 1].second);
  }
  party_of_role_.assign(roles, Message::kNobody);
  std::vector<PartyIndex> party_of_set(roles, Message::kNobody);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> blocks;  // per party: number of blocks, first block
  for (std::size_t i = 0; i < acts.size(); ++i) {
    const std::uint32_t top = sets.top(acts[i].second);
    if (party_of_set[top] == Message::kNobody) {
      party_of_set[top] = static_cast<PartyIndex>(blocks.size());
      blocks.emplace_back(0, static_cast<std::uint32_t>(acts[i].first));
      parties_.push_back({devices_.at(acts[i].first >> 32), {}});
    }
    party_of_role_[acts[i].second] = party_of_set[top];
    if (i == 0 || acts[i].first != acts[i - 1].first) ++blocks[party_of_set[top]].first;
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::string device = model_.device_name(parties_[i].device);
    const auto& [count, first] = blocks[i];
    parties_[i].name = count == 1 ? fmt::format("block {} of {}", first, device)
                                  : fmt::format("{} of {}", count_of(count, "block"), device);
  }
}

std::uint32_t PartyMap::role(DeviceId device, SiteId site, bool waits) const {
  return static_cast<std::uint32_t>((devices_.of(device) * sites_.size() + sites_.of(site)) * 2 + (waits ? 1 : 0));
}

}  // namespace wicprof::analyzer
