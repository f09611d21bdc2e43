#include "collector/program/short_slices.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "collector/program/time_slice.h"

namespace wicprof::collector {

namespace {

pid_t own_id() { return static_cast<pid_t>(syscall(SYS_gettid)); }

std::vector<pid_t> threads_of(const std::string& process) {
  std::vector<pid_t> found;
  std::error_code error;  // the process may have ended
  for (std::filesystem::directory_iterator at("/proc/" + process + "/task", error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename();
    pid_t id = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), id).ec == std::errc{}) found.push_back(id);
  }
  return found;
}

/// Processes that a thread has started. None where Linux was built without CONFIG_PROC_CHILDREN.
std::vector<pid_t> children_of(const std::string& process, pid_t thread) {
  std::ifstream file("/proc/" + process + "/task/" + std::to_string(thread) + "/children");
  return {std::istream_iterator<pid_t>(file), std::istream_iterator<pid_t>()};
}

}  // namespace

void ShortSlices::begin() {
  if (getpid() != process_) return;
  const std::lock_guard lock(mutex_);
  short_.insert(own_id());
  needed_.store(true, std::memory_order_relaxed);
}

void ShortSlices::end(pid_t thread) {
  if (getpid() != process_) return;
  const std::lock_guard lock(mutex_);
  short_.erase(thread);
}

void ShortSlices::mend() {
  if (!needed_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);  // no thread shortens its slice between the question and the answer
  needed_.store(!short_.empty(), std::memory_order_relaxed);
  std::set<pid_t> seen;
  for (const pid_t thread : threads_of("self")) {
    if (!short_.contains(thread)) restore_short_slice(thread);
    for (const pid_t child : children_of("self", thread)) {
      if (!children_.contains(child)) mend_child(child);
      seen.insert(child);
    }
  }
  children_ = std::move(seen);
}

void ShortSlices::mend_child(pid_t process) {
  const std::string name = std::to_string(process);
  for (const pid_t thread : threads_of(name)) {
    restore_short_slice(thread);
    for (const pid_t child : children_of(name, thread)) mend_child(child);
  }
}

}  // namespace wicprof::collector
