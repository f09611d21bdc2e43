#include "cli/files/container.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace wicprof::cli {

std::string container_kind() {
  std::string kind;
  if (access("/.dockerenv", F_OK) == 0) kind = "docker";
  if (access("/run/.containerenv", F_OK) == 0) kind = "podman";
  if (std::getenv("KUBERNETES_SERVICE_HOST") != nullptr) kind = "kubernetes";
  if (std::getenv("APPTAINER_CONTAINER") != nullptr || std::getenv("SINGULARITY_CONTAINER") != nullptr)
    kind = "apptainer";
  if (const char* named = std::getenv("container"); named != nullptr && *named != '\0') kind = named;
  return kind;
}

std::string container_cure(std::string_view docker_flag, std::string_view pod_field) {
  const std::string kind = container_kind();
  if (kind.empty()) return {};
  if (kind == "kubernetes") return fmt::format("{} in the pod's specification", pod_field);
  if (kind == "docker" || kind == "podman") return fmt::format("{} run {}", kind, docker_flag);
  return fmt::format("docker run {}, or {} in a pod's specification", docker_flag, pod_field);
}

}  // namespace wicprof::cli
