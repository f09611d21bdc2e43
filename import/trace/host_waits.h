// Finds the waits of host threads among the calls of others' traces, and names their sites by what the thread was in.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "import/trace/cpu_times.h"
#include "import/trace/target.h"
#include "import/trace/waiting_calls.h"
#include "protocol/events/call.h"
#include "protocol/events/copy.h"

namespace wicprof::imports {

/// What a thread was in, from the one that names a wait first to the one that names it last.
enum class ScopeKind : std::uint8_t {
  range,      ///< of the program's own NVTX domain
  function,   ///< of Python: "train.py(12): step"
  operation,  ///< of a library: "aten::item"
  step,       ///< of a profiler: "ProfilerStep#7"
};

/// Collects; finish() writes. The order in which calls, copies and scopes come does not matter. One thread.
class HostWaits {
 public:
  /// `name`: plain (waiting_calls.h).
  void call(Ring ring, const CallEvent& call, std::string_view name);
  void copy(Ring ring, const CopyEvent& copy);
  /// Whether a call that was passed before waits for its copy, by its name.
  bool copies_synchronously(Ring ring, std::uint32_t correlation) const;
  /// Times as those of the calls. A range that never closes names nothing: do not pass it.
  void scope(Ring ring, std::uint32_t thread, ScopeKind kind, std::string_view name, TimeNs begin, TimeNs end);

  /// To be filled where a file says when threads ran; settled by finish() at the latest.
  CpuTimes& cpu_times() { return cpu_times_; }
  /// Whether any wait that finish() wrote has its CPU time.
  bool knows_cpu_time() const { return knows_cpu_time_; }

  /// Writes the waits and their sites.
  void finish(Target& target);

 private:
  static constexpr std::size_t kMostSites = 512;     // further waits have the site of their call
  static constexpr std::size_t kMostNames = 20'000;  // of scopes. Not calibrated: a program has some hundred
  struct Wait {
    TimeNs begin, end;
    std::uint32_t correlation;
    std::uint32_t call;  ///< its number among the names
    KnownCall known;
  };
  struct Scope {
    TimeNs begin, end;
    std::uint32_t name;
    ScopeKind kind;
  };
  struct Copied {
    TimeNs end;
    std::uint64_t bytes;
    CopyKind kind;
    CopyMemory source, destination;
  };
  struct Thread {
    std::vector<Wait> waits;
    std::vector<Scope> scopes;
  };
  struct Site {
    SiteId id = 0;
    std::map<std::pair<Ring, std::uint32_t>, std::uint32_t> waits;  ///< by thread
  };

  std::uint32_t number_of(std::string_view name);
  bool waited(Ring ring, const Wait& wait) const;
  const Scope* scope_of(const std::vector<Scope*>& open, const Wait& wait) const;
  Site& site_of(Target& target, Ring ring, const Wait& wait, const Scope* scope);
  void write(Target& target, Ring ring, std::uint32_t number, Thread& thread);

  std::map<std::pair<Ring, std::uint32_t>, Thread> threads_;
  std::unordered_map<std::uint64_t, Copied> copies_;  // by ring and correlation
  std::unordered_set<std::uint64_t> synchronous_;     // the same, of calls
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_{std::string()};  // 0: one name too many
  std::map<std::string, Site> sites_;
  CpuTimes cpu_times_;
  bool knows_cpu_time_ = false;
};

}  // namespace wicprof::imports
