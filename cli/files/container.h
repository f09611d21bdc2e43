// In what kind of container this process runs, as far as that is visible from inside.
#pragma once

#include <string>
#include <string_view>

namespace wicprof::cli {

/// "docker", "podman", "kubernetes", "apptainer", or what the variable `container` says; empty: none is seen.
std::string container_kind();

/// What to change: a flag of `docker run` (podman takes the same), or a field of a pod in Kubernetes; both where this
/// process cannot know, and nothing outside of containers.
std::string container_cure(std::string_view docker_flag, std::string_view pod_field);

}  // namespace wicprof::cli
