#include "cli/record/app_environment.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>

#include "cli/files/exe_path.h"
#include "cli/record/loadable.h"
#include "cli/terminal/messages.h"
#include "protocol/environment.h"
#include "protocol/session.h"
#include "protocol/trace_words.h"

namespace wicprof::cli {

std::string find_cupti() {
  if (const char* named = std::getenv(kCuptiPathVariable); named != nullptr && *named != '\0') return named;
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(variable); root != nullptr && *root != '\0') {
      folders.push_back(std::string(root) + "/extras/CUPTI/lib64");
      folders.push_back(std::string(root) + "/lib64");
    }
  }
  for (const char* folder : {"/usr/local/cuda/extras/CUPTI/lib64", "/usr/local/cuda/lib64", "/usr/local/cuda/lib",
                             "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"}) {
    folders.emplace_back(folder);
  }
  for (const std::string& folder : folders) {
    for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
      const std::string path = folder + "/" + name;
      struct stat info {};
      if (stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), R_OK) == 0) return path;
    }
  }
  // The loader's own search path (LD_LIBRARY_PATH, ld.so.conf).
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
    if (void* library = dlopen(name, RTLD_LAZY | RTLD_LOCAL); library != nullptr) {
      dlclose(library);
      return name;
    }
  }
  return {};
}

namespace {

/// Whether `word` stands in a list with commas.
bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// This process's environment as it is: in its order, with doubles and with entries that are no variables.
class Variables {
 public:
  Variables() {
    for (char** entry = environ; *entry != nullptr; ++entry) entries_.emplace_back(*entry);
  }

  /// Empty without such a variable.
  std::string get(const std::string& name) const {
    const auto found = std::find_if(entries_.begin(), entries_.end(), names(name));
    return found == entries_.end() ? std::string() : found->substr(name.size() + 1);
  }
  void set(const std::string& name, const std::string& value) {
    const auto found = std::find_if(entries_.begin(), entries_.end(), names(name));
    if (found == entries_.end()) {
      entries_.push_back(name + "=" + value);
      return;
    }
    *found = name + "=" + value;
    entries_.erase(std::remove_if(found + 1, entries_.end(), names(name)), entries_.end());
  }
  void erase(const std::string& name) { std::erase_if(entries_, names(name)); }
  std::vector<std::string> take() && { return std::move(entries_); }

 private:
  static std::function<bool(const std::string&)> names(const std::string& name) {
    return [start = name + "="](const std::string& entry) { return entry.starts_with(start); };
  }

  std::vector<std::string> entries_;
};

/// Whether the loader takes this path in LD_PRELOAD, whose list has no quotes.
bool can_be_preloaded(const std::string& path) { return path.find_first_of(" :$") == std::string::npos; }

}  // namespace

AppEnvironment app_environment(const std::string& program, const std::string& session_path, const CapturePlan& capture,
                               const std::string& modules_folder, const std::string& mpi_program) {
  const std::string& trace = capture.collector;
  AppEnvironment result;
  Variables variables;
  const auto replace = [&](const char* name, const std::string& value) {
    const std::string before = variables.get(name);
    variables.set(name, value);
    if (before.empty() || before == value) return;
    warn(fmt::format("{} was set to {}; the program gets {} instead, because the CUDA driver loads only one tool", name,
                     before, value));
  };

  variables.set(kSessionVariable, session_path);
  variables.set(kTraceVariable, trace);
  if (!capture.ranges.empty()) variables.set(kNvtxOpenVariable, std::string(1, '1'));
  const auto lost = [&](const char* what, const std::string& library, const std::string& reason) {
    result.not_seen.push_back(fmt::format("{}: {} does not load {}: {}", what, program, library, reason));
  };
  const auto loads = [&](const std::string& library, const char* what) {
    const std::string reason = why_not_loadable(program, library);
    if (!reason.empty()) lost(what, library, reason);
    return reason.empty();
  };
  const std::optional<std::string> library = beside_binary(std::string("../lib/") + kInjectionLibrary);
  const bool collects = library && loads(*library, "no CUDA activity recorded");
  result.files.push_back(session_path);
  if (collects) {
    result.files.push_back(*library);
    replace(kCudaInjectionVariable, *library);
    replace(kNvtxInjectionVariable, *library);
  }
  // A loader writes of a preloaded library that it refuses, or cannot find, to the program's stderr.
  const auto preload = [&](const char* name, const std::string& into, const char* what) {
    const std::optional<std::string> own = beside_binary(std::string("../lib/") + name);
    if (!own) return;
    if (!can_be_preloaded(*own)) {
      lost(what, *own,
           "the loader divides LD_PRELOAD at spaces and colons; install wic-prof in a folder without these");
    } else if (needs_address_sanitizer(into)) {
      lost(what, *own, "the library of AddressSanitizer, which the program is built with, has to come first");
    } else if (loads(*own, what)) {
      // Behind the user's own, which may need to be the first.
      const std::string preloaded = variables.get(kPreloadVariable);
      variables.set(kPreloadVariable, preloaded.empty() ? *own : preloaded + ":" + *own);
    }
  };
  if (collects && has_word(trace, "rewrite")) preload(kNvrtcLibrary, program, "what NVRTC compiles is not patched");
  if (!mpi_program.empty()) preload(kMpiLibrary, mpi_program, "no MPI calls recorded");
  // NCCL has one plugin, and says nothing of one that it cannot load.
  if (capture.nccl != RankCapture::none) {
    const std::optional<std::string> plugin = beside_binary(std::string("../lib/") + kNcclLibrary);
    const std::string set = variables.get(kNcclPluginVariable);
    if (!plugin) {
      const bool asked = capture.nccl == RankCapture::asked;
      if (asked) result.not_seen.push_back(fmt::format("no calls of NCCL recorded: {} is not installed", kNcclLibrary));
    } else if (!set.empty() && set != *plugin) {
      result.not_seen.push_back(
          fmt::format("no calls of NCCL recorded: another plugin is set ({}={})", kNcclPluginVariable, set));
    } else {
      variables.set(kNcclPluginVariable, *plugin);
    }
  }
  if (modules_folder.empty()) {
    variables.erase(kModulesVariable);
  } else {
    variables.set(kModulesVariable, modules_folder);
  }
  if (const std::string blocking = variables.get(kLaunchBlockingVariable); !blocking.empty() && blocking != "0") {
    warn(
        fmt::format("{}={} makes each launch wait for the end of its kernel: kernels that wait for each other or for "
                    "the launching thread never get what they wait for, and no two kernels overlap; unset it to see "
                    "how the program waits",
                    kLaunchBlockingVariable, blocking));
  }
  result.entries = std::move(variables).take();
  return result;
}

}  // namespace wicprof::cli
