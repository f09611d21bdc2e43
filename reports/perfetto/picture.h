// What Perfetto's viewer shows of a trace: processes with tracks of slices, arrows between slices, marks and counters.
// draw() makes it of a trace; chrome_json() and track_events() write it, each in one of the viewer's formats.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analyzer/waits/matching.h"
#include "reports/parts/analyzer_names.h"
#include "reports/perfetto/stretches.h"

namespace wicprof::reports {

struct Track {
  std::uint64_t process = 0, thread = 0;
  auto operator<=>(const Track&) const = default;
};

struct Argument {
  std::string_view key;
  std::variant<std::uint64_t, double, std::string> value;
};
using Arguments = std::vector<Argument>;

struct Picture {
  /// No track's process: those have numbers from 1 on. No number of a track: from 1 on, below 2^32.
  struct Process {
    std::uint64_t number = 0;
    std::string name;
  };
  struct Slice {
    Track track;
    std::string_view category;
    std::size_t name = 0;  ///< in `names`
    TimeNs begin = 0, end = 0;
    Arguments arguments;
  };
  /// From a slice to another one: their indexes. `received`: within the second one.
  struct Arrow {
    std::size_t from = 0, to = 0;
    TimeNs sent = 0, received = 0;
  };
  /// Across all tracks.
  struct Mark {
    std::string name;
    TimeNs at = 0;
    Arguments arguments;
  };
  /// A value that holds until the next one.
  struct Count {
    std::size_t counter = 0;  ///< in `counters`
    TimeNs at = 0;
    double value = 0;
  };
  struct Counter {
    std::uint64_t process = 0;
    std::string name, unit;
  };

  TimeNs begin = 0;  ///< the earliest time in the picture
  std::vector<Process> processes;
  std::vector<std::pair<Track, std::string>> tracks;  ///< each once
  std::vector<std::string> names;                     ///< of slices, shortened
  std::vector<Slice> slices;
  std::vector<Arrow> arrows;
  std::vector<Mark> marks;
  std::vector<Counter> counters;
  std::vector<Count> counts;  ///< of each counter in order of time
  std::string left_out;       ///< what the picture lacks of the trace; empty: nothing
};

inline constexpr std::size_t kMostBytes = 10'000'000;  // of a document: the viewer is ready within seconds
inline constexpr std::uint64_t kProgram = 1;           // the process of what belongs to no other

/// Rows that may be left out begin at these times.
std::vector<TimeNs> begins_of(const TraceModel& model);
std::size_t rows_of(const TraceModel& model);

Picture draw(const TraceModel& model, const std::vector<WakeEdge>& edges, const Stretches& stretches);

/// Chrome's trace event format: one JSON document.
std::string chrome_json(const Picture& picture);
/// Perfetto's own format: a protobuf message `perfetto.protos.Trace`.
std::string track_events(const Picture& picture);

}  // namespace wicprof::reports
