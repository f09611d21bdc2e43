// Who waits, and who ends waits: what a matrix counts as parties.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/aggregates/party_matrix.h"
#include "analyzer/measure/flat_index.h"
#include "analyzer/trace/thread_names.h"

namespace wicprof::analyzer {

/// What a party's number counts.
enum class PartyKind : std::uint8_t { unknown, host_thread, kernel, named, block, sm, device, site };

/// A party as a number, so that millions of waits are counted without a name.
struct PartyId {
  PartyKind kind = PartyKind::unknown;
  DeviceId device = 0;
  std::uint32_t number = 0;  ///< thread, block, SM, site, or index of a name
  std::uint64_t key() const {
    return (static_cast<std::uint64_t>(kind) << 60) | ((static_cast<std::uint64_t>(device) & 0xfffffffu) << 32) |
           number;
  }
};

/// Numbers of names: kernels, copies and calls.
class PartyNames {
 public:
  std::uint32_t number(std::string_view name) {
    if (!list_.empty() && list_[last_] == name) return last_;
    const auto [at, added] = numbers_.try_emplace(name, static_cast<std::uint32_t>(list_.size()));
    if (added) list_.push_back(name);
    return last_ = at->second;
  }
  std::string_view of(std::uint32_t number) const { return list_[number]; }

 private:
  std::map<std::string_view, std::uint32_t> numbers_;
  std::vector<std::string_view> list_;  // views of the model's texts
  std::uint32_t last_ = 0;              // consecutive waits often have the same name
};

/// Whoever waits, or ended a wait, with all that the wanted meanings of a party tell apart.
struct PartyEnd {
  enum class Kind : std::uint8_t { unknown, thread, block, kernel, copy };
  Kind kind = Kind::unknown;
  DeviceId device = kHostDevice;
  std::uint32_t who = 0, sm = 0;  ///< the thread, or the block
  SiteId site = 0;                ///< of a waiter
  std::uint32_t name = kNoName;   ///< of the kernel, the copy, or the call of a waiting thread
  static constexpr std::uint32_t kNoName = ~0u;
  bool operator==(const PartyEnd&) const = default;
};

/// Numbers of ends, in order of first appearance.
class PartyEndList {
 public:
  std::uint32_t number(const PartyEnd& end) {
    Recent& recent = recent_[(end.who + end.sm + end.site + 512 * end.name) % recent_.size()];
    if (recent.number < list_.size() && recent.end == end) return recent.number;
    recent = {end, find(end)};
    return recent.number;
  }
  const std::vector<PartyEnd>& list() const { return list_; }

 private:
  struct Recent {
    PartyEnd end;
    std::uint32_t number = ~0u;
  };

  std::uint32_t find(const PartyEnd& end);
  std::uint32_t pair(std::uint64_t high, std::uint32_t low) { return pairs_.number((high << 32) | low); }

  FlatIndex ones_, pairs_, ends_;
  std::vector<PartyEnd> list_;
  std::array<Recent, 1024> recent_;
};

/// Finds who waits and who ends waits, and assigns them to parties.
class PartyAssigner {
 public:
  PartyAssigner(const TraceModel& model, const WorkIndex& index, std::span<const PartyBy> meanings)
      : model_(model), index_(index), threads_(model) {
    for (const PartyBy by : meanings) wanted_[static_cast<std::size_t>(by)] = true;
  }

  PartyEnd waiter(const WaitView& wait);
  PartyEnd releaser(const store::SignalRow& signal);
  PartyEnd releaser(const WorkItem& item);
  /// `waits`: whether the end is a waiter.
  static PartyId party(PartyBy by, const PartyEnd& end, bool waits);
  std::string name_of(const PartyId& id) const;

 private:
  bool wants(PartyBy by) const { return wanted_[static_cast<std::size_t>(by)]; }

  PartyEnd on_device(DeviceId device, std::uint32_t block, std::uint32_t sm, TimeNs time, WorkIndex::Near& near);
  std::string of_device(DeviceId device) const;

  const TraceModel& model_;
  const WorkIndex& index_;
  const ThreadNames threads_;
  std::array<bool, std::size(kPartyBy)> wanted_{};
  PartyNames names_;
  WorkIndex::Near waiter_kernel_, releaser_kernel_;
};

}  // namespace wicprof::analyzer
