// What host threads are called: "main thread" instead of a bare number.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// Keeps a reference to the model, which must outlive it.
class ThreadNames {
 public:
  explicit ThreadNames(const TraceModel& model);

  /// "main thread", "cuda-EvtHandlr (thread 1693)", "thread 1696"; with the rank or the number of its process if the
  /// program has several processes. `process` 0: not known.
  std::string of(store::ProcessId process, std::uint32_t thread) const;
  /// The same without the process.
  std::string in_process(store::ProcessId process, std::uint32_t thread) const;
  bool is_main(store::ProcessId process, std::uint32_t thread) const;

 private:
  const TraceModel& model_;
  std::uint32_t first_process_ = 0;  ///< the process that wic-prof started; 0: unknown
  /// Names that threads gave themselves or got from a library. A new thread has the name of its process.
  std::map<std::pair<store::ProcessId, std::uint32_t>, std::string> own_names_;
};

}  // namespace wicprof::analyzer
