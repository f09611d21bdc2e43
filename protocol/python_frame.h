// How PyTorch's profiler names a Python function that runs: "train.py(12): step".
#pragma once

#include <optional>
#include <string_view>

namespace wicprof {

/// The domain of the ranges that imported Python functions are.
inline constexpr std::string_view kPythonDomain = "Python";
/// The same of operators of PyTorch.
inline constexpr std::string_view kOperatorsDomain = "torch operators";

struct PythonFrame {
  std::string_view file, line, function;
};

/// Of "train.py(12): step"; empty: the name is none of a Python function.
inline std::optional<PythonFrame> python_frame(std::string_view name) {
  const std::size_t colon = name.find("): ");
  if (colon == std::string_view::npos) return std::nullopt;
  const std::size_t paren = name.rfind('(', colon);
  if (paren == std::string_view::npos || paren == 0 || paren + 1 == colon ||
      name.substr(paren + 1, colon - paren - 1).find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return PythonFrame{name.substr(0, paren), name.substr(paren + 1, colon - paren - 1), name.substr(colon + 3)};
}

/// Of the program, not of PyTorch, Python's library or an installed package.
inline bool is_programs(const PythonFrame& frame) {
  if (frame.file.starts_with('<')) return false;
  for (const std::string_view library : {"torch/", "site-packages/", "dist-packages/", "lib/python"}) {
    if (frame.file.find(library) != std::string_view::npos) return false;
  }
  return true;
}

}  // namespace wicprof
