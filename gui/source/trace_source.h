// Reads a trace on threads of its own, so that the window never waits: once for a finished trace, again and again for one
// that is being written.
#pragma once

#include <memory>
#include <string>

#include "gui/source/snapshot.h"
#include "protocol/result.h"

namespace wicprof::gui {

class TraceSource {
 public:
  /// Begins at once. `live`: the trace is being written, by a session whose recorder makes the file when it is ready.
  TraceSource(std::string path, bool live);
  /// Ends its threads; waits for the table that is being read.
  ~TraceSource();
  TraceSource(const TraceSource&) = delete;

  /// Any thread; never nullptr.
  std::shared_ptr<const Snapshot> snapshot() const;
  LoadProgress progress() const;
  const std::string& path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wicprof::gui
