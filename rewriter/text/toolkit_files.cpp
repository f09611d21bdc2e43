#include "rewriter/text/toolkit_files.h"

#include <algorithm>
#include <array>

namespace wicprof::rewriter {

namespace {

constexpr std::array<std::string_view, 2> kFolders = {"/usr/include/", "/usr/lib/"};

// Wherever the toolkit is: an archive of packages, a Python wheel, CCCL beside the program, and NVRTC's own headers.
constexpr std::array<std::string_view, 7> kParts = {
    "-linux/include/",    "/include/cccl/", "/nvidia/cuda_runtime/include/", "cuda/std/", "cuda/__",
    "cooperative_groups", "/lib/clang/"};

}  // namespace

bool is_toolkit_file(std::string_view path) {
  return std::any_of(kFolders.begin(), kFolders.end(), [&](std::string_view each) { return path.starts_with(each); }) ||
         std::any_of(kParts.begin(), kParts.end(), [&](std::string_view each) { return path.find(each) != path.npos; });
}

}  // namespace wicprof::rewriter
