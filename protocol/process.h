// What a producer reports first: its process.
#pragma once

#include <string>

#include "protocol/event_sink.h"
#include "protocol/events/process.h"

namespace wicprof {

/// The arguments of a process as one line in shell syntax; empty when they cannot be read.
std::string command_line_of(std::uint32_t pid);

/// The file name of a process's executable; its thread's name where that cannot be read.
std::string executable_name_of(std::uint32_t pid);

/// Writes a ProcessEvent about the calling process. The rank is what MPI, Slurm or torchrun put into its environment.
/// Any thread.
void write_process_event(EventSink& sink);

}  // namespace wicprof
