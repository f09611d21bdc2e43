// Whether this is a container.
#include "cli/files/container.h"

#include <fmt/format.h>

#include "cli/checks/check.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct Container>(const Machine&) {
  const std::string kind = container_kind();
  if (kind.empty()) return {{"container", CheckState::not_applicable, "none detected", {}, false}};
  return {{"container",
           CheckState::ok,
           fmt::format("{}: run wic-prof inside, beside the program; for the GPU: {}", kind,
                       container_cure("--gpus all", "resources.limits: {nvidia.com/gpu: 1}")),
           {},
           false}};
}

}  // namespace wicprof::cli
