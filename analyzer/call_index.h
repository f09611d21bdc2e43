// The calls of a trace by what ties kernels, copies and synchronizations to them.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "analyzer/trace_model.h"

namespace wicprof::analyzer {

/// When a call began and ended: the outermost, where the runtime's and the driver's part have one correlation.
struct CallSpan {
  TimeNs begin = 0, end = 0;
};

class CallIndex {
 public:
  explicit CallIndex(const TraceModel& model) {
    spans_.reserve(model.calls.size());
    for (const store::CallRow& call : model.calls) {
      if (call.correlation == 0) continue;
      const auto [at, is_new] = spans_.try_emplace(key(call.process, call.correlation), CallSpan{call.start, call.end});
      if (is_new) continue;
      if (call.start < at->second.begin) at->second.begin = call.start;
      if (call.end > at->second.end) at->second.end = call.end;
    }
  }

  /// Nothing where the call was not recorded.
  std::optional<CallSpan> find(store::ProcessId process, std::uint32_t correlation) const {
    const auto found = spans_.find(key(process, correlation));
    return found == spans_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  static std::uint64_t key(store::ProcessId process, std::uint32_t correlation) {
    return (std::uint64_t{process} << 32) | correlation;
  }
  std::unordered_map<std::uint64_t, CallSpan> spans_;
};

}  // namespace wicprof::analyzer
