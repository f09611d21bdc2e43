// Whether this machine's driver takes patched code, for `wic-prof doctor`: a process of its own asks, and no program
// runs.
#pragma once

#include <string>

namespace wicprof::collector {

enum class DoorState { open, closed, unknown };

struct DoorAnswer {
  DoorState state = DoorState::unknown;
  std::string reason;  ///< why it is closed, or why nobody could ask; empty: it is open
};

/// Starts the driver and CUPTI, and loads a module of ours. Once per process, before anything else uses CUPTI there.
DoorAnswer try_door();

}  // namespace wicprof::collector
