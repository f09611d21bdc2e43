// A running session as the window sees it: how it stands, and changing how its program waits. A thread of its own talks
// to the control socket, so that the window never waits for an answer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/control_messages.h"
#include "protocol/result.h"
#include "protocol/session.h"

namespace wicprof::gui {

/// A change that was asked for.
struct ToggleOutcome {
  ToggleRequest request;
  std::optional<ToggleReply> reply;  ///< nothing yet, or an error
  std::optional<Error> error;
};

struct SessionView {
  std::string name;
  std::optional<SessionStatus> status;  ///< the last one that came
  bool ended = false;                   ///< it does not answer any more
  std::vector<ToggleOutcome> toggles;   ///< in the order in which they were asked for
};

class SessionLink {
 public:
  explicit SessionLink(SessionInfo session);
  ~SessionLink();
  SessionLink(const SessionLink&) = delete;

  /// Any thread; returns at once.
  SessionView view() const;
  void toggle(const ToggleRequest& request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wicprof::gui
