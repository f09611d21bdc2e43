// The memory of a session. It is a file without a name, whose size is sealed: touching a mapping beyond the end of its
// file raises SIGBUS, and anybody may cut a file that has a name. The session's file says where the memory is.
//
//   the tool:     make_session_memory(), point_to(), and hand_over() to whoever connects to the session's socket
//   the program:  open_session_memory(): through /proc where it sees the tool's process and may look into it; otherwise
//                 (another pid namespace, no /proc, fewer rights) it asks at the socket beside the file
#pragma once

#include <cstddef>
#include <string>

#include "protocol/result.h"

namespace wicprof {

inline constexpr char kMemoryRequest[] = "memory";  ///< a line to the session's socket; the answer has a descriptor

/// A descriptor of `bytes` of memory that cannot be cut; below 0: errno, ENOSYS where the system has no such files.
int make_session_memory(const std::string& name, std::size_t bytes);

/// Writes into the session's file, open as `file`, where this process has the memory. False: it could not.
bool point_to(int memory, int file);

/// Sends the line and the descriptor. False: not now, or not at all; see errno.
bool hand_over(int socket, const std::string& line, int memory);

/// A descriptor of the memory of the session at `path`, or of the file itself where that is a session, too. Waits for
/// the tool's answer a second at most, and only where it has to ask.
Result<int> open_session_memory(const std::string& path);

}  // namespace wicprof
