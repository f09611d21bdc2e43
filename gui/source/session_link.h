// The link to a running session: its status, and toggles. A separate thread talks to the control socket, so the window
// never waits for a reply.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/control_messages.h"
#include "protocol/result.h"
#include "protocol/session.h"

namespace wicprof::gui {

/// A requested toggle.
struct ToggleOutcome {
  ToggleRequest request;
  std::optional<ToggleReply> reply;  ///< nothing until the reply arrives
  std::optional<Error> error;
};

struct SessionView {
  std::string name;
  std::optional<SessionStatus> status;  ///< the latest
  bool ended = false;                   ///< the session no longer replies
  std::vector<ToggleOutcome> toggles;   ///< in the order of the requests
  std::optional<Error> ab_error;        ///< why the last comparison of both modes did not begin
};

class SessionLink {
 public:
  explicit SessionLink(SessionInfo session);
  ~SessionLink();
  SessionLink(const SessionLink&) = delete;

  /// Any thread; returns at once.
  SessionView view() const;
  /// Returns the place of the request in SessionView::toggles.
  std::size_t toggle(const ToggleRequest& request);
  /// Has the session compare both modes.
  void compare_modes(const AbRequest& request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wicprof::gui
