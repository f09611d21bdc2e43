// The control socket of a session: a Unix socket beside the session file, for its owner only. A client sends one line
// and gets one line back; what the lines say is protocol/control_messages.h.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "protocol/result.h"
#include "protocol/time.h"

namespace wicprof {

inline constexpr std::size_t kMaxControlLine = 64 * 1024;

/// Serves its clients on its own thread, from start() until destruction. A silent client holds up no other.
class ControlServer {
 public:
  /// Receives a line and returns the answer, both without newline. Called on the server's thread, for one client at a
  /// time. After an exception the client gets no answer.
  using Handler = std::function<std::string(const std::string& line)>;

  /// Replaces a socket left behind at `path` (the caller owns the session, so nobody listens there). `memory`: of the
  /// session, for clients that ask for it (protocol/session_memory.h); below 0: none. It stays the caller's.
  static Result<ControlServer> start(const std::string& path, Handler handler, int memory = -1);
  ControlServer(ControlServer&&) noexcept;
  ControlServer& operator=(ControlServer&&) noexcept;
  ~ControlServer();

 private:
  struct State;
  explicit ControlServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Sends `line` to the socket at `path` and returns the answer. Errors: nobody listens; no answer within `timeout`.
Result<std::string> ask(const std::string& path, const std::string& line, TimeNs timeout);

}  // namespace wicprof
