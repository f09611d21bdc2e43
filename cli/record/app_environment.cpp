#include "cli/record/app_environment.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <optional>

#include "cli/files/exe_path.h"
#include "cli/record/loadable.h"
#include "cli/terminal/messages.h"
#include "protocol/environment.h"
#include "protocol/session.h"

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

}  // namespace

AppEnvironment app_environment(const std::string& program, const std::string& session_path, const std::string& trace,
                               bool nvtx_open, const std::string& modules_folder) {
  AppEnvironment result;
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  const auto replace = [&](const char* name, const std::string& value) {
    const auto [it, added] = variables.try_emplace(name, value);
    if (added || it->second == value) return;
    warn(fmt::format("{} was set to {}; the program gets {} instead, because the CUDA driver loads only one tool", name,
                     it->second, value));
    it->second = value;
  };

  variables[kSessionVariable] = session_path;
  variables[kTraceVariable] = trace;
  if (nvtx_open) variables.insert_or_assign(kNvtxOpenVariable, std::string(1, '1'));
  const auto loads = [&](const std::string& library, const char* lost) {
    const std::string reason = why_not_loadable(program, library);
    if (!reason.empty())
      result.not_seen.push_back(fmt::format("{}: {} does not load {}: {}", lost, program, library, reason));
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
  // A loader writes of a preloaded library that it refuses to the program's stderr.
  const std::optional<std::string> nvrtc = beside_binary(std::string("../lib/") + kNvrtcLibrary);
  if (collects && nvrtc && has_word(trace, "rewrite") && loads(*nvrtc, "what NVRTC compiles is not patched")) {
    std::string& preloaded = variables[kPreloadVariable];
    preloaded = *nvrtc + (preloaded.empty() ? "" : ":" + preloaded);
  }
  if (modules_folder.empty()) {
    variables.erase(kModulesVariable);
  } else {
    variables[kModulesVariable] = modules_folder;
  }
  if (const auto blocking = variables.find(kLaunchBlockingVariable);
      blocking != variables.end() && !blocking->second.empty() && blocking->second != "0") {
    warn(
        fmt::format("{}={} makes each launch wait for the end of its kernel: kernels that wait for each other or for "
                    "the launching thread never get what they wait for, and no two kernels overlap; unset it to see "
                    "how the program waits",
                    kLaunchBlockingVariable, blocking->second));
  }

  for (const auto& [name, value] : variables) result.entries.push_back(name + "=" + value);
  return result;
}

}  // namespace wicprof::cli
