#pragma once

#include "protocol/events/device.h"
#include "store/format/column.h"

namespace wicprof::store {

struct DeviceRow {
  DeviceId id;
  DeviceKind kind;
  std::string name;
  std::uint32_t sm_count;
  std::uint64_t memory_bytes;
  std::optional<TimeNs> clock_error_ns;  ///< the worst error bound of all times converted; nothing without a clock
  std::uint32_t compute_major = 0, compute_minor = 0;  ///< 0 for a device that is not a GPU
  // What a kernel's occupancy depends on; 0 = not known.
  std::uint32_t max_threads_per_sm = 0, max_blocks_per_sm = 0, registers_per_sm = 0, shared_bytes_per_sm = 0;
  std::uint32_t reserved_shared_bytes_per_block = 0, clock_khz = 0;
  std::string uuid = {};
  std::uint8_t host_native_atomics = 0;
};

struct DeviceTable {
  using Event = DeviceEvent;
  using Row = DeviceRow;
  struct List {
    std::vector<Row> devices;
  };
  static constexpr auto kRows = &List::devices;
  static constexpr const char* kName = "device";
  static constexpr Columns kColumns{

      column::device("id", &Event::device, &Row::id).of_type(kId),
      column::known("kind", &Event::kind, &Row::kind),
      column::text("name_id", &Event::name, &Row::name),
      column::known("sm_count", &Event::sm_count, &Row::sm_count),
      column::known("memory_bytes", &Event::memory_bytes, &Row::memory_bytes),
      column::known("compute_major", &Event::compute_major, &Row::compute_major),
      column::known("compute_minor", &Event::compute_minor, &Row::compute_minor),
      column::known("host_native_atomics", &Event::host_native_atomics, &Row::host_native_atomics),
      column::text("uuid_id", &Event::uuid, &Row::uuid),
      column::nullable("max_threads_per_sm", &Event::max_threads_per_sm, &Row::max_threads_per_sm),
      column::nullable("max_blocks_per_sm", &Event::max_blocks_per_sm, &Row::max_blocks_per_sm),
      column::nullable("registers_per_sm", &Event::registers_per_sm, &Row::registers_per_sm),
      column::nullable("shared_bytes_per_sm", &Event::shared_bytes_per_sm, &Row::shared_bytes_per_sm),
      column::nullable("reserved_shared_bytes_per_block", &Event::reserved_shared_bytes_per_block,
                       &Row::reserved_shared_bytes_per_block),
      column::nullable("clock_khz", &Event::clock_khz, &Row::clock_khz),
      column::filled_in_later("clock_error_ns", &Row::clock_error_ns),  // as the clock's readings arrive
  };
};

}  // namespace wicprof::store
