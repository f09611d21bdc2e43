// Paths relative to the running wic-prof binary.
#pragma once

#include <optional>
#include <string>

namespace wicprof::cli {

/// <folder of the wic-prof binary>/`relative`, if that file exists.
std::optional<std::string> beside_binary(const std::string& relative);
/// Same for a folder.
std::optional<std::string> folder_beside_binary(const std::string& relative);

}  // namespace wicprof::cli
