// Which process owns each ring, and the trace's numbers for the devices and sites that each process numbers itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "protocol/events/header.h"

namespace wicprof::store {

/// A device keeps its process's number unless another device of the trace has that number: uuids decide whether device
/// 0 of two processes is one GPU or two. Names decide the same for sites: ranks of one program wait at the same sites.
/// Each process numbers its devices; each runtime in it, with its own ring, numbers its sites.
class Participants {
 public:
  void set_process(std::size_t ring, std::uint32_t pid);
  std::uint32_t process(std::size_t ring) const { return ring < processes_.size() ? processes_[ring] : 0; }

  /// With an empty `uuid`, equal numbers mean equal devices. The host is the same in every process.
  void add_device(std::size_t ring, DeviceId id, const std::string& uuid);
  void add_site(std::size_t ring, SiteId id, const std::string& name);

  /// A number that was never declared is its own number in the trace.
  DeviceId device(std::size_t ring, DeviceId id) const { return devices_.find(process(ring), id); }
  SiteId site(std::size_t ring, SiteId id) const { return sites_.find(static_cast<std::uint32_t>(ring), id); }

  /// Empty if it was not declared.
  std::string site_name(std::size_t ring, SiteId id) const {
    const auto found = sites_.taken.find(site(ring, id));
    return found == sites_.taken.end() ? std::string() : found->second;
  }

  /// The ring's next producer numbers its sites from the start.
  void forget_ring(std::size_t ring) { sites_.forget(static_cast<std::uint32_t>(ring)); }

 private:
  // The trace's number for each owner's number; the owner is a process or a ring.
  template <class Id>
  struct Numbers {
    static constexpr std::size_t kMaxNames = 4096;  // further names keep their owner's number. Not calibrated
    std::unordered_map<std::uint64_t, Id> renamed;  // by owner and its number, where the trace's number differs
    std::map<std::string, Id> by_name;
    std::map<Id, std::string> taken;

    Id find(std::uint32_t owner, Id id) const {
      if (renamed.empty()) return id;
      const auto found = renamed.find(key(owner, id));
      return found == renamed.end() ? id : found->second;
    }
    void add(std::uint32_t owner, Id id, const std::string& name) {
      if (name.empty()) return;
      auto known = by_name.find(name);
      if (known == by_name.end()) {
        if (by_name.size() >= kMaxNames) return;
        Id free = id;
        while (taken.contains(free) && taken[free] != name)
          free = static_cast<Id>(static_cast<std::uint32_t>(free) + 1);
        taken[free] = name;
        known = by_name.emplace(name, free).first;
      }
      if (known->second == id) {
        renamed.erase(key(owner, id));
      } else {
        renamed[key(owner, id)] = known->second;
      }
    }
    void forget(std::uint32_t owner) {
      std::erase_if(renamed, [owner](const auto& entry) { return entry.first >> 32 == owner; });
    }
    static std::uint64_t key(std::uint32_t owner, Id id) {
      return (std::uint64_t{owner} << 32) | static_cast<std::uint32_t>(id);
    }
  };

  std::vector<std::uint32_t> processes_;  // by ring
  Numbers<DeviceId> devices_;
  Numbers<SiteId> sites_;
};

}  // namespace wicprof::store
