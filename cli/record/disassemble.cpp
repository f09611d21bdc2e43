#include "cli/record/disassemble.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "analyzer/machine_code/nvdisasm.h"
#include "cli/record/find_program.h"
#include "cli/record/program_output.h"
#include "cli/terminal/messages.h"
#include "protocol/time.h"

namespace wicprof::cli {

namespace {

constexpr TimeNs kDisassemblyTimeout = 30 * kSecond;  // all modules together

// What the disassembler prints. Errors: those of output_of(), and its own.
Result<std::string> listing_of(const std::vector<std::string>& words, TimeNs deadline) {
  Result<ProgramOutput> output = output_of(words, deadline);
  if (!output) return output.error();
  if (output->status == 0) return std::move(output->text);
  std::replace(output->errors.begin(), output->errors.end(), '\n', ' ');
  return unavailable(
      fmt::format("{} failed: {}", words.front(), output->errors.empty() ? "it printed no reason" : output->errors));
}

bool is_program(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

}  // namespace

std::string find_nvdisasm() {
  if (const char* named = std::getenv("WICPROF_NVDISASM"); named != nullptr && *named != '\0') return named;
  if (const Result<std::string> found = find_program("nvdisasm")) return *found;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* root = std::getenv(variable);
    if (root == nullptr || *root == '\0') continue;
    if (const std::string path = std::string(root) + "/bin/nvdisasm"; is_program(path)) return path;
  }
  const std::string usual = "/usr/local/cuda/bin/nvdisasm";
  return is_program(usual) ? usual : std::string();
}

void record_instructions(store::Recorder& recorder, const std::string& folder) {
  const store::SampledFunctions functions = recorder.sampled_functions();
  if (functions.empty()) return;
  const std::string tool = find_nvdisasm();
  std::string missing;
  if (tool.empty()) {
    missing =
        "nvdisasm was not found; install it (it comes with the CUDA toolkit) in PATH, or name it with WICPROF_NVDISASM";
  }
  const TimeNs deadline = now_ns() + kDisassemblyTimeout;
  std::size_t absent = 0, unread = 0, late = 0;
  std::string reason;
  for (const auto& [module, symbols] : functions) {
    if (tool.empty()) break;
    const std::string file = fmt::format("{}/{:016x}.cubin", folder, module);
    if (access(file.c_str(), R_OK) != 0) {
      ++absent;
      continue;
    }
    if (now_ns() >= deadline) {
      ++late;
      continue;
    }
    // Prefer the source lines of inlined code (-gi). Some versions do not know -gi, and some refuse -g and -gi for
    // modules without line information.
    Result<std::string> listing = listing_of({tool, "-c", "-gi", file}, deadline);
    if (!listing && now_ns() < deadline) listing = listing_of({tool, "-c", "-g", file}, deadline);
    if (!listing && now_ns() < deadline) listing = listing_of({tool, "-c", file}, deadline);
    if (!listing && now_ns() >= deadline) {
      ++late;
      continue;
    }
    if (!listing) {
      ++unread;
      reason = listing.error().message;
      continue;
    }
    const std::vector<store::SassRow> rows = analyzer::parse_nvdisasm(*listing, module, symbols);
    for (const store::SassRow& row : rows) recorder.add_sass(row);
    if (rows.empty()) {
      ++unread;
      reason = tool + " printed none of the sampled functions";
    }
  }
  if (late > 0) {
    missing =
        fmt::format("{} of {} modules were not disassembled: {} would have exceeded the limit of {} s for all modules",
                    late, functions.size(), tool, kDisassemblyTimeout / kSecond);
  } else if (unread > 0) {
    missing = fmt::format(
        "{} of {} modules could not be disassembled ({}); try nvdisasm of the CUDA version that built the "
        "program, named with WICPROF_NVDISASM",
        unread, functions.size(), reason);
  } else if (absent > 0) {
    missing = fmt::format("the program did not save {} of {} modules: it ended too early, or {} has no space left",
                          absent, functions.size(), folder);
  }
  if (!missing.empty()) recorder.set_meta(store::MetaKey::sass_missing, missing);
}

}  // namespace wicprof::cli
