// Finds a trace's calls by process and correlation, which link kernels, copies and synchronizations to their calls.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/measure/flat_index.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// The time of a call: the outermost one if a runtime call and its driver call share a correlation.
struct CallSpan {
  TimeNs begin = 0, end = 0;
};
struct IndexedCall {
  CallSpan span;
  std::uint32_t thread = 0;
};

class CallIndex {
 public:
  explicit CallIndex(const TraceModel& model) {
    numbers_.reserve(model.calls.size());
    spans_.reserve(model.calls.size());
    threads_.reserve(model.calls.size());
    for (const store::CallRow& call : model.calls) {
      if (call.correlation == 0) continue;
      const std::uint32_t number = numbers_.number(key(call.process, call.correlation));
      if (number == spans_.size()) {
        spans_.push_back({call.start, call.end});
        threads_.push_back(call.thread);
        continue;
      }
      CallSpan& span = spans_[number];
      if (call.start < span.begin) span.begin = call.start;
      if (call.end > span.end) span.end = call.end;
    }
  }

  bool empty() const { return spans_.empty(); }

  /// Empty if the call was not recorded.
  std::optional<IndexedCall> find(store::ProcessId process, std::uint32_t correlation) const {
    const std::uint32_t number = numbers_.find(key(process, correlation));
    return number == FlatIndex::kNone ? std::nullopt : std::optional(IndexedCall{spans_[number], threads_[number]});
  }

 private:
  static std::uint64_t key(store::ProcessId process, std::uint32_t correlation) {
    return (std::uint64_t{process} << 32) | correlation;
  }
  FlatIndex numbers_;
  std::vector<CallSpan> spans_;
  std::vector<std::uint32_t> threads_;
};

}  // namespace wicprof::analyzer
