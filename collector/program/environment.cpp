#include "collector/program/environment.h"

#include <cstdlib>

#include "protocol/session.h"

namespace wicprof::collector {

namespace {

std::string variable(const char* name, const char* fallback) {
  const char* value = secure_getenv(name);
  return value == nullptr || *value == '\0' ? fallback : value;
}

bool is_cupti(const std::string& path) { return path.substr(path.rfind('/') + 1).starts_with("libcupti"); }

// Falls back silently on a malformed number: a guest does not print errors in the user's program.
unsigned milliseconds(const std::string& text, unsigned fallback) {
  if (text.empty() || text.size() > 6 || text.find_first_not_of("0123456789") != std::string::npos) return fallback;
  return static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, 10));
}

}  // namespace

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + ",") {
    if (c == ',') {
      if (!word.empty()) words.push_back(word);
      word.clear();
    } else if (c != ' ') {
      word += c;
    }
  }
  return words;
}

Environment read_environment() {
  Environment environment;
  environment.session = variable(kSessionVariable, "");
  environment.cupti_path = variable(kCuptiPathVariable, "");
  const std::string nvtx = variable(kNvtxInjectionVariable, "");
  if (is_cupti(nvtx)) environment.nvtx_cupti = nvtx;
  environment.trace = split_list(variable(kTraceVariable, "cuda,nvtx"));
  environment.flush_ms = milliseconds(variable(kFlushVariable, ""), environment.flush_ms);
  return environment;
}

std::string modules_folder() { return variable(kModulesVariable, ""); }

std::uint64_t samples_per_second() {
  const std::string text = variable(kPcSamplesVariable, "");
  constexpr std::uint64_t kDefault = 1'000'000;
  if (text.empty() || text.size() > 12 || text.find_first_not_of("0123456789") != std::string::npos) return kDefault;
  return std::strtoull(text.c_str(), nullptr, 10);
}

std::string gpu_dump_variable() {
  for (const char* const name : kGpuDumpVariables) {
    if (const std::string value = variable(name, "0"); value != "0") return name;
  }
  return {};
}

bool recompile_only() { return variable(kRewriteVariable, "") == "recompile"; }

bool counts_waits() { return variable(kRewriteVariable, "") != "uncounted"; }

bool nvtx_open_wanted() { return variable(kNvtxOpenVariable, "") == "1"; }

}  // namespace wicprof::collector
