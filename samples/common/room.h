// How many blocks may wait at once.
#pragma once

#include <cstdint>
#include <string>

#include "wic/device.h"
#include "wic/runtime.h"

namespace sample {

/// How many of the runtime's devices are the same as number `index`: a GPU that is named twice has to hold the kernels of both.
inline std::uint32_t sharing(const wic::Runtime& runtime, std::size_t index) {
  std::uint32_t count = 0;
  for (std::size_t d = 0; d < runtime.device_count(); ++d) {
    if (runtime.device(d).properties().id == runtime.device(index).properties().id) ++count;
  }
  return count;
}

/// The most blocks of a kernel that are sure to be on the device at once beside the like of `shares` - 1 others, each with
/// its share of every SM. Error: not even one an SM.
inline wicprof::Result<std::uint32_t> fair_blocks(wic::Device& device, const wic::LaunchShape& shape,
                                                  const wic::KernelRef& kernel, std::uint32_t shares) {
  const auto room = device.resident_blocks(shape, kernel);
  if (!room) return room.error();
  const std::uint32_t sms = device.properties().sm_count;
  const std::uint32_t an_sm = *room / sms / shares;
  if (an_sm == 0) {
    return wicprof::bad_input(device.properties().name + " holds " + std::to_string(*room / sms) + " blocks of " +
                              std::to_string(shape.threads) + " threads an SM at once, and " + std::to_string(shares) +
                              " that wait for each other are needed; choose a smaller --block-size or fewer parts on it");
  }
  return an_sm * sms;
}

}  // namespace sample
