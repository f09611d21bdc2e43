#include "protocol/launch.h"

#include <array>
#include <charconv>
#include <cstring>
#include <system_error>

namespace wicprof {

namespace {

using Variable = std::function<const char*(const char*)>;

/// The variables of one launcher; nullptr: it has none of this meaning.
struct Launcher {
  const char *rank, *ranks, *local_rank, *job;
};

// A launcher within another comes first: mpirun and torchrun are started by srun, whose variables their processes have
// as well. RANK alone is no proof of torchrun.
constexpr Launcher kTorchrun{"RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_RUN_ID"};
constexpr std::array kLaunchers{
    Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_NAMESPACE"},
    Launcher{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "PMI_JOBID"},
    Launcher{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_JOB_ID"},
    Launcher{"PMIX_RANK", nullptr, "PMI_LOCAL_RANK", "PMIX_NAMESPACE"},
    kTorchrun,
};
// What an mpirun or a torchrun within a job of a batch system leaves to that system to name.
constexpr std::array kJobs{"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"};

std::int32_t number(const Variable& variable, const char* name, std::int32_t least) {
  const char* const text = name == nullptr ? nullptr : variable(name);
  if (text == nullptr) return -1;
  std::int32_t number = -1;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), number);
  return error == std::errc() && *end == '\0' && number >= least ? number : -1;
}

std::string text(const Variable& variable, const char* name) {
  const char* const value = name == nullptr ? nullptr : variable(name);
  return value == nullptr ? std::string() : value;
}

}  // namespace

Launch read_launch(const Variable& variable) {
  Launch launch;
  const auto take = [&](const Launcher& launcher) {
    const std::int32_t rank = number(variable, launcher.rank, 0);
    if (rank < 0 || (launch.rank >= 0 && rank != launch.rank)) return;
    // srun's PMI says less than srun itself.
    launch.rank = rank;
    if (launch.ranks < 0) launch.ranks = number(variable, launcher.ranks, 1);
    if (launch.local_rank < 0) launch.local_rank = number(variable, launcher.local_rank, 0);
    for (const char* job : kJobs) {
      if (launch.job.empty()) launch.job = text(variable, job);
    }
    if (launch.job.empty()) launch.job = text(variable, launcher.job);
  };
  if (variable(kTorchrun.job) != nullptr) take(kTorchrun);
  for (const Launcher& launcher : kLaunchers) take(launcher);
  return launch;
}

Launch read_launch(std::string_view environment) {
  const std::string all(environment);  // ends in a NUL
  return read_launch([&all](const char* name) -> const char* {
    const std::size_t length = std::strlen(name);
    for (std::size_t at = 0; at < all.size(); at = all.find('\0', at) + 1) {
      if (all.compare(at, length, name) == 0 && all[at + length] == '=') return all.c_str() + at + length + 1;
      if (all.find('\0', at) == std::string::npos) break;
    }
    return nullptr;
  });
}

}  // namespace wicprof
