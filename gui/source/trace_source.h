// Reads a trace on threads of its own, so that the window never waits: once for a finished trace, again and again for
// one that is being written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gui/source/snapshot.h"
#include "protocol/result.h"

namespace wicprof::gui {

class TraceSource {
 public:
  /// Begins at once. `live`: the trace is being written, by a session whose recorder makes the file when it is ready.
  /// `analyst`: the program that analyses large traces, with its first words (analyst.h); none = they are not analysed.
  TraceSource(std::string path, bool live, std::vector<std::string> analyst = {});
  /// Ends its threads; waits for the table that is being read.
  ~TraceSource();
  TraceSource(const TraceSource&) = delete;

  /// Any thread; never nullptr.
  std::shared_ptr<const Snapshot> snapshot() const;
  LoadProgress progress() const;
  const std::string& path() const;

  /// What the window shows of a large trace: a picture of it comes with a later snapshot. Returns at once.
  void show(TimeNs begin, TimeNs end);
  /// Looks for events of a large trace by name; what it finds comes with a later snapshot. Returns at once.
  void search(const std::string& text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wicprof::gui
