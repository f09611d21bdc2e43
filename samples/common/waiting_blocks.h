// How many blocks may wait at once in a kernel whose blocks all wait.
#pragma once

#include <cstdint>
#include <string>

#include "common/ranks.h"

namespace sample {

/// The largest grid of waiting blocks that is guaranteed to be resident, if every rank on this physical device launches
/// such a grid and gets an equal share of each SM. `agents`: blocks that each rank needs beside the grid, no larger
/// than the grid's and without shared memory. Error: less than one block per SM.
inline wic::Result<std::uint32_t> max_waiting_blocks(const wic::Runtime& runtime, wic::Device& device,
                                                     const wic::LaunchShape& shape, const wic::KernelRef& kernel,
                                                     std::uint32_t agents = 0) {
  const std::uint32_t ranks = ranks_on(runtime, device);
  const auto resident = device.resident_blocks(shape, kernel);
  if (!resident) return resident.error();
  const std::uint32_t sms = device.properties().sm_count;
  const std::uint32_t per_sm = *resident / sms / ranks;
  if (per_sm == 0) {
    return wic::bad_input(
        device.properties().name + " holds " + std::to_string(*resident / sms) + " blocks of " +
        std::to_string(shape.threads) + " threads per SM at once, but " + std::to_string(ranks) +
        " that wait for each other are needed; choose a smaller --block-size or put fewer ranks on this device");
  }
  const std::uint32_t blocks = per_sm * sms;
  // An SM divides its memory between cache and shared memory, and keeps the division while a block runs on it. So a
  // block with shared memory may find no place on an SM that an agent came to first.
  const std::uint32_t taken = shape.shared_bytes > 0 ? agents * per_sm : agents;
  if (blocks <= taken) {
    return wic::bad_input(device.properties().name + " holds " + std::to_string(blocks) + " blocks of a rank, and " +
                          std::to_string(taken) + " are needed to move messages; choose a smaller --block-size");
  }
  return blocks - taken;
}

}  // namespace sample
