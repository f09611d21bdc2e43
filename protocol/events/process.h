// A process of the session: declared by each producer in it before its first event.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

/// The pid is the process's id in the trace; all events of a ring belong to the process that owns the ring.
struct ProcessEvent {
  static constexpr EventKind kKind{18};
  EventHeader header;
  std::uint32_t pid;
  std::uint32_t parent;
  TextId name;              ///< of the executable file
  TextId command;           ///< with its arguments
  std::int32_t rank;        ///< as its launcher numbers it (MPI, Slurm, torchrun); -1 = none
  std::int32_t local_rank;  ///< within the machine; -1 = none
  std::int64_t seen_ns;     ///< when the producer started
  std::int32_t ranks;       ///< how many the launcher started; -1 = not known
  TextId job;               ///< the launcher's name for the job
};

}  // namespace wicprof
