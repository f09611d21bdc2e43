// Whether a container limits what wic-prof can do, as far as that is visible from inside.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/checks/check.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct Container>(const Machine&) {
  std::string kind;
  if (access("/.dockerenv", F_OK) == 0) kind = "docker";
  if (access("/run/.containerenv", F_OK) == 0) kind = "podman";
  if (std::getenv("KUBERNETES_SERVICE_HOST") != nullptr) kind = "kubernetes";
  if (std::getenv("APPTAINER_CONTAINER") != nullptr || std::getenv("SINGULARITY_CONTAINER") != nullptr)
    kind = "apptainer";
  if (const char* named = std::getenv("container"); named != nullptr && *named != '\0') kind = named;
  if (kind.empty()) return {{"container", CheckState::not_applicable, "none detected", {}, false}};
  return {
      {"container",
       CheckState::ok,
       fmt::format("{}: run wic-prof inside, beside the program; the container needs --gpus for the GPU, --shm-size "
                   "above the buffers, and --cap-add=SYS_ADMIN for pcsampling if only administrators may read "
                   "counters",
                   kind),
       {},
       false}};
}

}  // namespace wicprof::cli
