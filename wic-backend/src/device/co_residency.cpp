#include "wic/device.h"

namespace wic {

// A device spreads a kernel's blocks evenly over its SMs. On the fullest SM each kernel takes a share: its blocks there
// over the blocks that would fit there alone. If the shares add up to at most 1, all blocks fit, whatever resource
// limits each kernel.
Result<> check_co_resident(Device& device, Span<const PlannedLaunch> launches) {
  const std::uint32_t sms = device.properties().sm_count;
  double share = 0;
  std::uint64_t blocks = 0;
  std::string fits;
  for (const PlannedLaunch& launch : launches) {
    const Result<std::uint32_t> fitting = device.resident_blocks(launch.shape, launch.kernel);
    if (!fitting) return fitting.error();
    fits += (fits.empty() ? "" : ", ") + std::to_string(launch.shape.blocks) + " of " +
            std::to_string(launch.shape.threads) + " threads, where " + std::to_string(*fitting) + " fit";
    if (*fitting == 0) {
      return wicprof::bad_input(device.properties().name + " cannot hold one block of " +
                                std::to_string(launch.shape.threads) + " threads and " +
                                std::to_string(launch.shape.shared_bytes) + " bytes of shared memory of this kernel");
    }
    share += static_cast<double>((launch.shape.blocks + sms - 1) / sms) / (static_cast<double>(*fitting) / sms);
    blocks += launch.shape.blocks;
  }
  if (share <= 1 + 1e-9) return wicprof::ok();
  return wicprof::bad_input(
      device.properties().name + " does not hold these " + std::to_string(blocks) + " blocks at once (" + fits +
      "), and they wait for each other: a deadlock. Launch fewer blocks, or blocks of fewer threads, "
      "registers or shared memory");
}

}  // namespace wic
