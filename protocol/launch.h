// What a launcher (Open MPI, MPICH, PMIx, Slurm, torchrun) tells each process that it starts, by environment variables.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace wicprof {

struct Launch {
  std::int32_t rank = -1;        ///< -1: no launcher, as for the other numbers
  std::int32_t ranks = -1;       ///< how many the launcher started
  std::int32_t local_rank = -1;  ///< within the machine
  std::string job;               ///< the launcher's name for the job; empty: it has none
};

/// `variable`: the value of an environment variable; nullptr without it.
Launch read_launch(const std::function<const char*(const char*)>& variable);

/// From a process's environment as /proc/PID/environ has it: NAME=VALUE, each with its NUL.
Launch read_launch(std::string_view environment);

}  // namespace wicprof
