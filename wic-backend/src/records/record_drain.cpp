#include "src/records/record_drain.h"

#include <atomic>

namespace wic {

namespace {
std::uint32_t load(std::uint32_t& word) { return std::atomic_ref(word).load(std::memory_order_acquire); }
}  // namespace

RecordDrain::RecordDrain(DeviceRecord* records, std::uint32_t sm_count, std::uint32_t ring_capacity)
    : records_(records), capacity_(ring_capacity), next_(sm_count, 0) {}

RecordDrain::Slot RecordDrain::read(std::uint32_t sm, std::uint32_t sequence, DeviceRecord& record,
                                    std::uint32_t& newest) const {
  DeviceRecord& slot = records_[std::size_t{sm} * capacity_ + (sequence & (capacity_ - 1))];
  const std::uint32_t expected = sequence / capacity_ + 1;
  const auto tags = [&] {
    bool whole = true;
    newest = expected;
    bool overwritten = false;
    for (DeviceRecord::Quad& quad : slot.quads) {
      const std::uint32_t tag = load(quad.tag);
      whole &= tag == expected;
      if (static_cast<std::int32_t>(tag - newest) > 0) {
        newest = tag;
        overwritten = true;
      }
    }
    return overwritten ? Slot::overwritten : whole ? Slot::whole : Slot::not_yet;
  };
  const Slot before = tags();
  if (before != Slot::whole) return before;
  for (int q = 0; q < 4; ++q) {
    for (int w = 0; w < 3; ++w) record.quads[q].payload[w] = load(slot.quads[q].payload[w]);
  }
  return tags();  // unchanged tags: no writer has begun to overwrite the slot
}

std::size_t RecordDrain::drain_sm(std::uint32_t sm, const std::function<void(const DeviceRecord&)>& deliver) {
  std::size_t delivered = 0;
  // Two laps hold everything that a writer at rest has left; a writer as fast as this reader gets no more at once, so
  // that the other SMs' rings are read in time.
  for (std::uint64_t steps = 0; steps < 2 * std::uint64_t{capacity_}; ++steps) {
    DeviceRecord record;
    std::uint32_t newest = 0;
    switch (read(sm, next_[sm], record, newest)) {
      case Slot::not_yet:
        return delivered;
      case Slot::whole:
        deliver(record);
        ++next_[sm];
        ++delivered;
        break;
      case Slot::overwritten: {
        // The slot holds the record of (newest - expected) laps later; the oldest readable record is in the next slot,
        // one lap earlier.
        const std::uint32_t laps = newest - (next_[sm] / capacity_ + 1);
        const std::uint32_t skipped = (laps - 1) * capacity_ + 1;
        lost_ += skipped;
        next_[sm] += skipped;
        break;
      }
    }
  }
  return delivered;
}

std::size_t RecordDrain::drain(const std::function<void(const DeviceRecord&)>& deliver) {
  std::size_t delivered = 0;
  for (std::uint32_t sm = 0; sm < next_.size(); ++sm) delivered += drain_sm(sm, deliver);
  return delivered;
}

void RecordDrain::close(const std::vector<std::uint32_t>& claimed) {
  for (std::size_t sm = 0; sm < next_.size(); ++sm) {
    lost_ += claimed[sm] - next_[sm];
    next_[sm] = claimed[sm];
  }
}

}  // namespace wic
