// The trace that an import fills. Each process of the files has a ring of its own, as if it had been recorded.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "protocol/events/device.h"
#include "protocol/events/header.h"
#include "protocol/time.h"
#include "store/write/recorder.h"

namespace wicprof::imports {

/// A process's number in the import.
using Ring = std::size_t;

struct ForeignProcess {
  std::uint32_t pid = 0;
  std::string name;
  std::optional<std::int32_t> rank;
};

/// Of one file. What the file does not say is 0 or empty.
struct ForeignDevice {
  std::string name, uuid;
  std::uint64_t memory_bytes = 0;
  std::uint32_t sm_count = 0, max_threads_per_sm = 0, max_blocks_per_sm = 0, registers_per_sm = 0;
  std::uint32_t shared_bytes_per_sm = 0, clock_khz = 0;
  std::uint16_t compute_major = 0, compute_minor = 0;
};

/// One thread.
class Target {
 public:
  explicit Target(store::Recorder& recorder) : recorder_(recorder) {}
  Target(const Target&) = delete;

  /// From here on pids and devices are those of another file: equal numbers may mean others.
  void next_file();

  /// The file's process with that pid. A pid that a process of another file has gets the next free number.
  Ring process(std::uint32_t pid);
  void describe(Ring ring, const ForeignProcess& process);

  /// The trace's number for a device of the file. `uuid`: tells whether two files mean one device; may be empty.
  DeviceId device(std::uint32_t ordinal, const std::string& uuid = {});
  void describe_device(DeviceId id, const ForeignDevice& device) { devices_[id].described = device; }

  /// As EventSink::text.
  TextId text(Ring ring, std::string_view text);

  template <class Event>
  void add(Ring ring, const Event& event) {
    recorder_.add(ring, event.header);
    if ((++events_ & 0xffff) == 0) recorder_.tick();
  }
  /// Extends the traced time, which the trace's meta says.
  void saw(TimeNs begin, TimeNs end);

  /// A row that cannot be: it ends before it begins, say.
  void count_impossible(const char* table) { ++impossible_[table]; }

  /// What those who read the trace must know, once per trace.
  void note(const std::string& text) { notes_.insert(text); }
  const std::set<std::string>& notes() const { return notes_; }

  /// Writes what is known only at the end: processes, devices, notes and counters.
  void finish();

  std::uint64_t events() const { return events_; }
  /// The first and last time seen; nothing without an event.
  std::optional<std::pair<TimeNs, TimeNs>> seen() const;
  /// The name of the first process with one; empty: none.
  std::string program() const;

 private:
  static constexpr std::size_t kMostTexts = 500'000;  // in memory at a time. Not calibrated
  struct Process {
    ForeignProcess described;
    std::vector<bool> bound;  // by text
  };
  struct Device {
    std::size_t file = 0;
    std::uint32_t ordinal = 0;
    ForeignDevice described;
  };

  store::Recorder& recorder_;
  std::uint64_t events_ = 0;
  std::size_t file_ = 0;
  std::vector<Process> processes_;  // by ring
  std::unordered_map<std::uint32_t, Ring> of_file_;
  std::set<std::uint32_t> pids_;
  std::map<DeviceId, Device> devices_;
  std::unordered_map<std::string, TextId> texts_;
  TextId next_text_ = 1;
  std::map<std::string, std::uint64_t> impossible_;
  std::set<std::string> notes_;
  TimeNs begin_ = 0, end_ = 0;
  bool any_ = false;
};

}  // namespace wicprof::imports
