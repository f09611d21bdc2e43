// What the program of a test tells its CUDA driver (fake_rewriting_libcuda.cpp), and asks it.
#pragma once

#include <cstdint>

/// Memory that the driver knows.
struct FakeMemory {
  std::uint64_t begin = 0, bytes = 0;
  bool is_host = false;  ///< pinned memory of the host; else of the device
};
/// extern "C" void fake_cuda_memory(const FakeMemory*);
/// extern "C" unsigned fake_cuda_clock_readings(): how many readings of the device's clock are done
/// extern "C" std::uint64_t* fake_cuda_table(): the last patched module's variable, as ModuleWords; nullptr: none
