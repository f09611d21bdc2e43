#include "analyzer/words/runtime_names.h"

#include <algorithm>
#include <array>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {

/// The functions that the runtime wraps around the program's kernels, which are their template's argument
/// (wic-backend/include/wic/launch.h).
constexpr std::array<std::string_view, 2> kWrappers{"wic::detail::bounded_gpu_entry<", "wic::detail::gpu_entry<"};

}  // namespace

std::string without_wrapper(std::string function) {
  for (const std::string_view wrapper : kWrappers) {
    if (!function.starts_with(wrapper) || !function.ends_with('>')) continue;
    function = function.substr(wrapper.size(), function.size() - wrapper.size() - 1);
    while (function.ends_with(' ')) function.pop_back();
  }
  return function;
}

bool is_runtime_kernel(std::string_view name) { return function_name(name).starts_with("wic::"); }

bool is_kernel_of_nccl(std::string_view name) {
  return name.find("nccl") != std::string_view::npos && name.find("Kernel") != std::string_view::npos;
}

bool is_runtime_thread(std::string_view name) {
  // By whole names: a program may be called wic-something, and its threads after it.
  static constexpr std::array<std::string_view, 5> kNames{"wic-prof", "wic-control", "wic-drain", "wic-monitor",
                                                          "wic-watch"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() || name.starts_with("wicprof-") ||
         name.starts_with("cuda-EvtHandlr") || name.starts_with("cuda0");
}

}  // namespace wicprof::analyzer
