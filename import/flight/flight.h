// Reads a dump of PyTorch's Flight Recorder: the collectives that a rank began, and those that are not complete.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/trace/origin.h"
#include "import/trace/target.h"
#include "protocol/result.h"

namespace wicprof::imports {

struct FlightEntry {
  std::string group;  ///< the process group's name
  std::string name;   ///< "nccl:all_reduce"
  std::string state;  ///< "scheduled", "started", "completed"
  std::string sizes;  ///< "16 elements of Float"; empty: not known
  std::string place;  ///< of the innermost frame of the program, "train.py:52 in step"; empty: not known
  bool is_message = false, started = false;
  std::int64_t number = 0;  ///< of a collective in its group, or of a message
  std::uint32_t thread = 0;
  TimeNs begin = 0;  ///< when it was enqueued; since 1970
  std::optional<TimeNs> end;

  bool is_complete() const { return state == "completed" || end.has_value(); }
};

struct FlightGroup {
  std::string name, description;
  std::vector<std::int32_t> ranks;       ///< of its members; empty: not known
  std::optional<std::int64_t> enqueued;  ///< the last number; nothing: not known
};

struct FlightDump {
  std::string file, version;
  std::optional<std::int32_t> rank;  ///< the number at the end of the file's name
  std::vector<FlightGroup> groups;
  std::vector<FlightEntry> entries;  ///< in order of enqueuing
  bool is_whole = false;             ///< it has each entry from the first one on
  std::uint64_t impossible = 0;      ///< entries without a time
};

/// One file per rank. Error: names the file, which is no dump.
Result<FlightDump> read_dump(const std::string& path);
Result<FlightDump> read_dump(std::string_view bytes, const std::string& name);

/// Writes a dump to the trace. `clock`: as for read_nsys().
Origin write_flight(const FlightDump& dump, const std::optional<TimeNs>& clock, Target& target);

}  // namespace wicprof::imports
