// The machine code of the cases in machine_code_cases/, kept in machine_code_data/, and samples made up for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer::machine_code {

struct Case {
  std::string build;         ///< "O3"
  std::string architecture;  ///< "sm_90"
  std::string family;        ///< "locks"
  std::string name;          ///< of the kernel
  bool waits = false;
  bool judged = false;               ///< of the half that is only judged
  std::vector<store::SassRow> code;  ///< the kernel and the functions that it calls
};

/// The text of a file compressed with gzip. Empty if it cannot be read.
std::string unpack(const std::filesystem::path& file);

/// The cases in all files BUILD.ARCHITECTURE.txt.gz of a folder, by file, family and name. A family is judged only if
/// it is the first, third, fifth ... of all families by name.
std::vector<Case> read_cases(const std::filesystem::path& folder);

/// A program with the case's kernel and, with nine times its samples, a kernel that computes. The samples are made up
/// by rule: each loop has as many, most of them at its loads, fences and sleeps; at the first barrier behind the first
/// loop of a kernel that waits, 31 warps wait for one.
TraceModel made_up_program(const Case& of);

}  // namespace wicprof::analyzer::machine_code
