// The machine code of the cases in machine_code_cases/, kept in machine_code_data/, and samples made up for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
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

/// Samples that a GPU recorded while all cases of one build ran in turn, each beside a kernel that computes. Keys:
/// family, symbol.
using RecordedSamples = std::map<std::pair<std::string, std::string>, std::vector<store::PcTotalRow>>;

/// The samples in BUILD.ARCHITECTURE.samples.gz of a folder; empty without such a file.
RecordedSamples read_samples(const std::filesystem::path& folder, const std::string& build,
                             const std::string& architecture);

/// A program with the case's kernel, as recorded, and the average case's part of the kernel that ran beside all cases.
TraceModel recorded_program(const Case& of, const RecordedSamples& samples);

}  // namespace wicprof::analyzer::machine_code
