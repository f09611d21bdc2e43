// What an imported trace cannot show, however the program waits.
#pragma once

#include <fmt/format.h>

#include <string>

#include "analyzer/trace/trace_model.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {

/// The options of wic-prof run that record waits inside kernels of a program that nobody changed.
inline constexpr const char* kRecordsKernelWaits = "--rewrite";

/// "waits inside kernels are not recorded by Nsight Systems 2026.1"; empty for a trace that wic-prof recorded.
inline std::string unseen_kernel_waits(const TraceModel& model) {
  const std::string tools = model.meta_value(store::MetaKey::imported_from);
  return tools.empty() ? tools : fmt::format("waits inside kernels are not recorded by {}", one_line(tools));
}

}  // namespace wicprof::analyzer
