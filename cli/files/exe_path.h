// Where this wic-prof lies, and what lies beside it.
#pragma once

#include <optional>
#include <string>

namespace wicprof::cli {

/// <folder of the wic-prof binary>/`relative`, if there is such a file.
std::optional<std::string> beside_binary(const std::string& relative);
/// The same for a folder.
std::optional<std::string> folder_beside_binary(const std::string& relative);

}  // namespace wicprof::cli
