// The parties of a trace: devices where devices talk to each other, otherwise roles of blocks on one device.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/communication/traffic.h"

namespace wicprof::analyzer {

/// Numbers from 0 for the distinct values of a list.
template <class T>
class Index {
 public:
  explicit Index(std::vector<T> values) : values_(std::move(values)) {
    std::sort(values_.begin(), values_.end());
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
  }
  std::uint32_t of(T value) const {
    if (last_ < values_.size() && values_[last_] == value) return last_;
    const auto found = std::lower_bound(values_.begin(), values_.end(), value);
    last_ = static_cast<std::uint32_t>(found - values_.begin());
    return last_;
  }
  std::size_t size() const { return values_.size(); }
  T at(std::size_t i) const { return values_[i]; }

 private:
  std::vector<T> values_;
  mutable std::uint32_t last_ = 0;  // consecutive rows often have the same value; so for one thread only
};

class PartyMap {
 public:
  PartyMap(const TraceModel& model, const Matching& matching);

  const std::vector<Party>& parties() const { return parties_; }
  /// Whether no device talks to another one.
  bool one_device() const { return one_device_; }
  /// Who signals at a site on a device, or who waits there.
  PartyIndex of(DeviceId device, SiteId site, bool waits) const;

  const Index<SiteId>& sites() const { return sites_; }
  /// The declaration of a site by its number in sites(); nullptr if the trace has none.
  const store::SiteRow* declaration(std::size_t site) const { return declared_[site]; }

 private:
  void find_declarations();
  void find_ends();
  bool devices_talk(const Matching& matching) const;
  void add_devices();
  void add_roles();
  std::uint32_t role(DeviceId device, SiteId site, bool waits) const;
  std::string device_party_name(DeviceId device, std::uint32_t end) const;

  const TraceModel& model_;
  const Index<SiteId> sites_;
  const Index<DeviceId> devices_;
  std::vector<const store::SiteRow*> declared_;             // per site
  std::vector<std::uint32_t> releasing_end_, waiting_end_;  // per site, on a device that plays several; 0: any
  bool shared_device_ = false;                              // some device plays several ends
  std::uint32_t ends_ = 1;
  bool one_device_ = false;
  std::vector<PartyIndex> party_of_role_;
  std::vector<Party> parties_;
};

}  // namespace wicprof::analyzer
