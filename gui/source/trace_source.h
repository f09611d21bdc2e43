// Reads a trace on two background threads, so that the window never waits: once for a finished trace, repeatedly for a
// growing one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gui/source/snapshot.h"
#include "protocol/result.h"

namespace wicprof::gui {

class TraceSource {
 public:
  /// Starts reading at once. `live`: a session is recording the trace; its recorder creates the file when it is ready.
  /// `analyst`: the command that analyses large traces (analyst.h); empty = large traces are not analysed.
  TraceSource(std::string path, bool live, std::vector<std::string> analyst = {});
  /// Traces of one job, which are read as one (analyzer/ranks/join.h) and as a whole. One that cannot be read, or is of
  /// another job, is an error.
  explicit TraceSource(std::vector<std::string> job);
  /// Stops its threads after the table that is being read.
  ~TraceSource();
  TraceSource(const TraceSource&) = delete;

  /// Any thread; never nullptr.
  std::shared_ptr<const Snapshot> snapshot() const;
  LoadProgress progress() const;
  const std::string& path() const;

  /// Requests a picture of this interval of a large trace; a later snapshot has it. Returns at once.
  void show(TimeNs begin, TimeNs end);
  /// Searches a large trace for events by name; a later snapshot has the result. Returns at once.
  void search(const std::string& text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wicprof::gui
