// The disassembler that finds polling loops in machine code.
#include <unistd.h>

#include "cli/checks/check.h"
#include "cli/record/disassemble.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct Nvdisasm>(const Machine&) {
  const std::string path = find_nvdisasm();
  if (!path.empty() && access(path.c_str(), X_OK) == 0) return {{"nvdisasm", CheckState::ok, path, {}, false}};
  const std::string reason = path.empty() ? "not found" : path + ", which WICPROF_NVDISASM names, cannot be executed";
  return {{"nvdisasm", CheckState::missing,
           reason + ": polling loops are found from samples alone, with less certainty",
           "put the CUDA toolkit's bin on PATH, or name the program in WICPROF_NVDISASM", false}};
}

}  // namespace wicprof::cli
