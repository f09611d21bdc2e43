#include <charconv>
#include <cstdlib>
#include <thread>

#include "simt/simt_device.h"
#include "wic/device.h"
#if WIC_HAVE_CUDA
#include "cuda/cuda_device.h"
#endif

namespace wic {

using wicprof::bad_input;

namespace {

constexpr int kMaxDevices = 16;

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// SMs of one CPU device: WIC_SIMT_SMS, else one per core apart from the host thread's; 2 to 8.
std::uint32_t simt_sm_count() {
  if (const char* asked = secure_getenv("WIC_SIMT_SMS"); asked != nullptr) {
    if (const std::optional<int> n = number(asked); n && *n > 0 && *n <= 256) return static_cast<std::uint32_t>(*n);
  }
  const unsigned cores = std::thread::hardware_concurrency();
  return cores <= 3 ? 2 : std::min(cores - 1, 8u);
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<std::vector<std::unique_ptr<Device>>> open_devices(std::string_view spec) {
  std::vector<std::unique_ptr<Device>> devices;
  const auto bad = [&] {
    return bad_input("cannot read --devices '" + std::string(spec) +
                     "'; write simt:N for N CPU devices, or cuda:0 or cuda:0,cuda:1 for GPUs");
  };
  if (spec.starts_with("simt:")) {
    const std::optional<int> count = number(spec.substr(5));
    if (!count || *count < 1 || *count > kMaxDevices) return bad();
    for (int i = 0; i < *count; ++i) devices.push_back(std::make_unique<simt::SimtDevice>(i, simt_sm_count()));
    return devices;
  }
  std::vector<int> ordinals;
  for (const std::string_view part : split(spec)) {
    const std::optional<int> ordinal = part.starts_with("cuda:") ? number(part.substr(5)) : std::nullopt;
    if (!ordinal) return bad();
    ordinals.push_back(*ordinal);
  }
#if WIC_HAVE_CUDA
  for (const int ordinal : ordinals) {
    Result<std::unique_ptr<Device>> device = cuda::open_cuda_device(ordinal);
    if (!device) return device.error();
    devices.push_back(*std::move(device));
  }
  cuda::enable_peer_access(ordinals);
  return devices;
#else
  return wicprof::unavailable(
      "this build has no CUDA; use --devices simt:1, or build where a CUDA toolkit is installed");
#endif
}

}  // namespace wic
