// What the columns of one event need: the texts of its ring and the clock of its device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "store/format/column.h"
#include "store/sqlite/text_table.h"
#include "store/write/clock_converter.h"
#include "store/write/participants.h"

namespace wicprof::store {

/// Lives for one event.
class RowLookup final : public Lookup {
 public:
  /// `clock`: nullptr = the event's times are host times.
  RowLookup(TextTable& texts, const Participants& participants, std::size_t ring, const ClockConverter* clock)
      : texts_(texts), participants_(participants), ring_(ring), clock_(clock) {}

  Value process() const override {
    const std::uint32_t pid = participants_.process(ring_);
    return number_or_null(pid, 0u);
  }
  Value device(DeviceId id) const override { return number(participants_.device(ring_, id)); }
  Value site(SiteId id) const override { return number_or_null(participants_.site(ring_, id), SiteId{0}); }

  Value text(TextId id) const override {
    if (id == 0) return kNull;
    TextTable::Entry* const entry = texts_.find(ring_, id);
    if (entry == nullptr) {
      ++missing_texts_;
      return kNull;
    }
    if (texts_.give_id(*entry)) new_texts_.push_back(entry);
    return number(entry->second);
  }

  Value host_time(std::uint64_t device_ns) const override {
    if (clock_ == nullptr) return number(device_ns);
    const HostTime host = clock_->convert(device_ns);
    worst_error_ns_ = std::max(worst_error_ns_, host.error_ns);
    return number(host.ns);
  }

  /// Of the columns written so far: texts whose records were lost, and the largest error of a converted time.
  std::uint64_t missing_texts() const { return missing_texts_; }
  /// Texts that the row is the first to refer to: they have no row of their own yet.
  const std::vector<const TextTable::Entry*>& new_texts() const { return new_texts_; }
  TimeNs worst_error_ns() const { return worst_error_ns_; }

 private:
  TextTable& texts_;
  const Participants& participants_;
  std::size_t ring_;
  const ClockConverter* clock_;
  mutable std::vector<const TextTable::Entry*> new_texts_;
  mutable std::uint64_t missing_texts_ = 0;
  mutable TimeNs worst_error_ns_ = 0;
};

}  // namespace wicprof::store
