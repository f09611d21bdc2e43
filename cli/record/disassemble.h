// The machine instructions of the functions that were sampled, from their modules by nvdisasm.
#pragma once

#include <string>

#include "store/write/recorder.h"

namespace wicprof::cli {

/// nvdisasm: $WICPROF_NVDISASM, else in PATH, else where CUDA installs it. Empty when there is none.
std::string find_nvdisasm();

/// Puts the instructions of all functions with samples into the trace. `folder` holds their modules as <crc>.cubin, the
/// crc in 16 hexadecimal digits. What is missing, why, and what to do about it goes into the trace as `sass_missing`.
/// Gives up on what takes longer than 30 s in all. Does nothing where nothing was sampled.
void record_instructions(store::Recorder& recorder, const std::string& folder);

}  // namespace wicprof::cli
