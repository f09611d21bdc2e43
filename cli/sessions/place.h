// Where a process was started from. A change that names no session applies only to a session from the same place.
#pragma once

#include <sys/types.h>

#include <string>

namespace wicprof::cli {

struct Place {
  std::string folder;    ///< the working folder; empty if it was removed
  std::string terminal;  ///< the controlling terminal, such as "pts/3"; empty without one
  uid_t user = 0;        ///< the real user, also under a changed effective user
};

/// Of this process, now: a terminal that was closed is nobody's any more. Any thread.
Place place_of_this_process();

/// The name of a terminal by the device number in /proc/PID/stat; empty for 0.
std::string terminal_name(unsigned device);

/// Whether both belong to one user and share the folder or the terminal. What is unknown is not shared.
bool same_place(const Place& one, const Place& other);

}  // namespace wicprof::cli
