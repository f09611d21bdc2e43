#include "analyzer/trace/thread_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {

ThreadNames::ThreadNames(const TraceModel& model) : model_(model), first_process_(model.app()) {
  // A new thread bears the name of the main thread, which the kernel cuts after 15 characters.
  std::set<std::string> inherited{model.meta_value(store::MetaKey::app).substr(0, 15)};
  for (const store::ProcessRow& process : model.processes) inherited.insert(process.name.substr(0, 15));
  for (const store::ThreadSampleRow& sample : model.thread_samples) {
    const std::string name(sample.name);
    if (!name.empty() && inherited.count(name) == 0) own_names_[{sample.process, sample.thread}] = name;
  }
}

bool ThreadNames::is_main(store::ProcessId process, std::uint32_t thread) const {
  if (thread == 0) return false;
  return process != 0 ? process == thread : first_process_ == thread || model_.process(thread) != nullptr;
}

std::string ThreadNames::in_process(store::ProcessId process, std::uint32_t thread) const {
  if (is_main(process, thread)) return "main thread";
  const auto named = std::find_if(own_names_.begin(), own_names_.end(), [&](const auto& each) {
    return each.first.second == thread && (process == 0 || each.first.first == process);
  });
  if (named == own_names_.end()) return fmt::format("thread {}", thread);
  return fmt::format("{} (thread {})", one_line(named->second), thread);
}

std::string ThreadNames::of(store::ProcessId process, std::uint32_t thread) const {
  std::string name = in_process(process, thread);
  const store::ProcessRow* row = model_.process(process != 0 ? process : thread);
  if (row == nullptr || model_.program_processes() < 2) return name;
  return name + (row->rank ? fmt::format(" of rank {}", *row->rank) : fmt::format(" of process {}", row->id));
}

}  // namespace wicprof::analyzer
