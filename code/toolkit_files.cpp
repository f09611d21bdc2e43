#include "code/toolkit_files.h"

#include <algorithm>
#include <array>

namespace wicprof {

namespace {

// Matches /usr/local/cuda-13.0/include/x.h, also with folders in between, but not a user's folder cuda-samples.
bool is_in_versioned_toolkit(std::string_view file) {
  constexpr std::string_view kCuda = "/cuda-";
  for (std::size_t at = file.find(kCuda); at != file.npos; at = file.find(kCuda, at + 1)) {
    const std::string_view rest = file.substr(at + kCuda.size());
    const std::size_t version = std::min(rest.find_first_not_of("0123456789."), rest.size());
    const bool folder = version > 0 && rest.substr(version).starts_with('/');
    if (folder && rest.substr(version).find("/include/") != rest.npos) return true;
  }
  return false;
}

}  // namespace

bool is_toolkit_file(std::string_view file) {
  static constexpr std::array<std::string_view, 10> kFolders = {"cuda/std/",
                                                                "/cuda/__",
                                                                "/cuda/include/",
                                                                "/nvidia/cuda_runtime/include/",
                                                                "/cccl/",
                                                                "/usr/include/",
                                                                "/lib/clang/",
                                                                "/targets/x86_64-linux/include/",
                                                                "/targets/sbsa-linux/include/",
                                                                "cooperative_groups"};
  static constexpr std::array<std::string_view, 3> kBeginnings = {"sm_", "device_atomic_functions",
                                                                  "cuda_device_runtime"};
  if (std::ranges::any_of(kFolders, [&](auto part) { return file.find(part) != file.npos; })) return true;
  if (is_in_versioned_toolkit(file)) return true;
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return std::ranges::any_of(kBeginnings, [&](auto begin) { return name.starts_with(begin); });
}

}  // namespace wicprof
