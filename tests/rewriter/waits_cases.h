// The kernels of tests/rewriter/waits as PTX, and what the recognition says of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rewriter/waits/recognize.h"

namespace wicprof::rewriter::waits_cases {

/// What the name of a case says of it; see waits/common.h.
enum class Truth { wait, either, stay, work };

/// One file of PTX: the cases of a family in one build.
struct Unit {
  std::string family;
  std::string build;         ///< "O1", "O3", "G"
  std::string architecture;  ///< "sm_80"
  bool judged = false;       ///< the family only judges: its misses are counted and never looked at
  std::string ptx;
};

/// Reads the files that waits/generate.py wrote. Empty: the folder has none.
std::vector<Unit> read_units(const std::filesystem::path& folder);

/// The answer for one kernel, with the functions that it calls.
struct Answer {
  std::string kernel;
  Truth truth = Truth::work;
  std::size_t patched = 0;           ///< back edges that a patch would change
  std::vector<std::string> reasons;  ///< of each loop: lines of the PTX, verdict, reason
};

/// Empty where the module is not understood.
std::vector<Answer> answers_of(const Unit& unit);

/// Of a group of cases.
struct Tally {
  std::size_t waits = 0, found = 0;             ///< that may be patched
  std::size_t either = 0, either_found = 0;     ///< that may be patched or left alone
  std::size_t others = 0, wrongly_patched = 0;  ///< kernels without a wait, and those that must stay as they are
  void add(const Answer& answer);
};

}  // namespace wicprof::rewriter::waits_cases
