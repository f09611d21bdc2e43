// What a fuzz target is: one file that defines run() and seeds(). libfuzzer.cpp makes a program of it that clang's
// libFuzzer drives; replay.cpp makes a test of it that runs the seeds and the corpus with any compiler.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace wicprof::fuzz {

/// Handles one input; crashes if the code under test breaks its contract. One thread. Inputs are independent.
void run(std::string_view input);

/// Inputs to begin with: valid ones of each kind, so that the fuzzer need not guess the format.
std::vector<std::string> seeds();

/// Ends the process if `holds` is false; the fuzzer then keeps the input.
inline void require(bool holds, const char* contract) {
  if (holds) return;
  std::fprintf(stderr, "the contract is broken: %s\n", contract);
  std::abort();
}

}  // namespace wicprof::fuzz
