// A trace as values: what the store holds, in memory, plus what every analysis needs to know of the whole.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "protocol/result.h"
#include "store/format/rows.h"
#include "store/read/reader.h"

namespace wicprof::analyzer {

/// The lists of events are members of store::Lists (`waits`, `signals`, ...: store/format/tables/), each ordered by
/// time.
struct TraceModel : store::Lists {
  std::string name;  ///< for people: the trace's file name
  std::map<std::string, std::string> meta;
  std::vector<store::PcTotalRow> pc_totals;
  std::vector<store::SassRow> sass;
  std::vector<store::StatRow> stats;

  // Derived by settle().
  TimeNs begin = 0;  ///< the traced time: from the first to the last wait, signal, kernel or copy,
  TimeNs end = 0;    ///< so that a program's start-up counts as nobody's waiting
  bool complete = false;
  std::string incomplete_reason;  ///< why the trace does not reach the program's end; empty when complete

  TimeNs span() const { return end - begin; }
  /// The value of a meta key; empty when the trace does not have it.
  std::string meta_value(const std::string& key) const;
  /// nullptr for an id that was never declared.
  const store::SiteRow* site(SiteId id) const;
  const store::DeviceRow* device(DeviceId id) const;
  const store::ProcessRow* process(store::ProcessId id) const;
  /// How many processes the program has: wic-prof's own is not one of them.
  std::size_t program_processes() const;
  /// For people; a site or device that was never declared is named by its number.
  std::string site_name(SiteId id) const;
  std::string device_name(DeviceId id) const;
  /// "cuda:0", "simt:0", "cpu": as options name devices.
  std::string device_key(DeviceId id) const;
};

/// Whether it is wic-prof's own process.
bool is_own(const store::ProcessRow& process);

/// Fills in what is derived, and puts every list in order of time. For models that were not loaded from a trace.
void settle(TraceModel& model);

/// Told before each part of a trace is read: how many were begun, of how many. False: read no further. By several
/// threads, but never by two at once.
using LoadWatch = std::function<bool(std::size_t done, std::size_t of)>;

/// Everything a trace holds, read by two threads where it is finished. `name` is what people call it (the file's name).
/// Error too when `watch` has said false.
Result<TraceModel> load(const store::Reader& reader, std::string name, const LoadWatch& watch = {});

}  // namespace wicprof::analyzer
