// How many blocks may wait at once, in kernels of which every block does.
#pragma once

#include <cstdint>
#include <string>

#include "common/ranks.h"

namespace sample {

/// The most blocks of a kernel, all of which wait, that are sure to be on the device at once beside those of the
/// runtime's other devices that are the same one; each has its share of every SM. Error: not even one an SM.
inline wicprof::Result<std::uint32_t> fair_blocks(const wic::Runtime& runtime, wic::Device& device,
                                                  const wic::LaunchShape& shape, const wic::KernelRef& kernel) {
  const std::uint32_t shares = ranks_on(runtime, device);
  const auto room = device.resident_blocks(shape, kernel);
  if (!room) return room.error();
  const std::uint32_t sms = device.properties().sm_count;
  const std::uint32_t an_sm = *room / sms / shares;
  if (an_sm == 0) {
    return wicprof::bad_input(
        device.properties().name + " holds " + std::to_string(*room / sms) + " blocks of " +
        std::to_string(shape.threads) + " threads an SM at once, and " + std::to_string(shares) +
        " that wait for each other are needed; choose a smaller --block-size or fewer parts on it");
  }
  return an_sm * sms;
}

}  // namespace sample
