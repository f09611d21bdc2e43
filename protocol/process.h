// What a producer reports first: its process.
#pragma once

#include <string>

#include "protocol/event_sink.h"
#include "protocol/events/process.h"
#include "protocol/launch.h"

namespace wicprof {

/// The arguments of a process as one line in shell syntax; empty when they cannot be read.
std::string command_line_of(std::uint32_t pid);

/// The file name of a process's executable; its thread's name where that cannot be read.
std::string executable_name_of(std::uint32_t pid);

/// Fills in what the process's launcher said.
void set_launch(ProcessEvent& event, const Launch& launch, EventSink& sink);

/// Writes a ProcessEvent about the calling process. Any thread.
void write_process_event(EventSink& sink);

}  // namespace wicprof
