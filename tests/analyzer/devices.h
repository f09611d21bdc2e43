// The limits of real GPUs, from the tables of compute capabilities in the CUDA programming guide.
#pragma once

#include "store/format/rows.h"

namespace wicprof::analyzer::test_devices {

inline store::DeviceRow device(std::uint32_t major, std::uint32_t minor, std::uint32_t sms, std::uint32_t threads,
                               std::uint32_t blocks, std::uint32_t shared_kib) {
  store::DeviceRow row{};
  row.id = 0;
  row.kind = DeviceKind::cuda;
  row.name = "GPU";
  row.sm_count = sms;
  row.compute_major = major;
  row.compute_minor = minor;
  row.max_threads_per_sm = threads;
  row.max_blocks_per_sm = blocks;
  row.registers_per_sm = 65'536;
  row.shared_bytes_per_sm = shared_kib * 1024;
  row.reserved_shared_bytes_per_block = major >= 8 ? 1024 : 0;
  return row;
}

inline store::DeviceRow p100() { return device(6, 0, 56, 2048, 32, 64); }
inline store::DeviceRow v100() { return device(7, 0, 80, 2048, 32, 96); }
inline store::DeviceRow t4() { return device(7, 5, 40, 1024, 16, 64); }
inline store::DeviceRow a100() { return device(8, 0, 108, 2048, 32, 164); }
inline store::DeviceRow rtx3090() { return device(8, 6, 82, 1536, 16, 100); }
inline store::DeviceRow rtx4090() { return device(8, 9, 128, 1536, 24, 100); }
inline store::DeviceRow h100() { return device(9, 0, 132, 2048, 32, 228); }

}  // namespace wicprof::analyzer::test_devices
