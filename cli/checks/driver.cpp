// The CUDA driver.
#include <fmt/format.h>

#include "cli/checks/check.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct Driver>(const Machine& machine) {
  if (machine.driver) {
    const int version = machine.driver->version;
    return {{"CUDA driver", CheckState::ok, fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10), {}, false}};
  }
  // The driver's errors end with the cure, after a semicolon.
  const std::string& message = machine.driver.error().message;
  const std::size_t semicolon = message.rfind("; ");
  return {{"CUDA driver", CheckState::missing, message.substr(0, semicolon),
           semicolon == std::string::npos ? "" : message.substr(semicolon + 2), false}};
}

}  // namespace wicprof::cli
