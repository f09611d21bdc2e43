#include "cli/record/sender.h"

#include <cstdlib>
#include <fstream>

#include "protocol/file_text.h"
#include "protocol/session.h"

namespace wicprof::cli {

namespace {

constexpr int kMostAncestors = 1000;  // the chain may change while it is read

/// The parent's pid; 0: there is none, or the process has ended.
pid_t parent_of(pid_t pid) {
  const std::string all = file_text("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = all.rfind(')');  // the name may contain anything; then ") STATE PARENT"
  return name_end == std::string::npos || name_end + 4 > all.size() ? 0 : std::atoi(all.c_str() + name_end + 4);
}

bool has_session(pid_t pid, const std::string& session_path) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  const std::string wanted = std::string(kSessionVariable) + "=" + session_path;
  for (std::string entry; std::getline(file, entry, '\0');) {
    if (entry == wanted) return true;
  }
  return false;
}

}  // namespace

bool is_of_program(pid_t sender, pid_t app, const std::string& session_path) {
  pid_t pid = sender;
  for (int i = 0; i < kMostAncestors && pid > 1; ++i) {
    if (pid == app) return true;
    pid = parent_of(pid);
  }
  return sender > 0 && has_session(sender, session_path);
}

}  // namespace wicprof::cli
