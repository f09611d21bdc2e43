// Disassembles the sampled functions with nvdisasm.
#pragma once

#include <string>

#include "store/write/recorder.h"

namespace wicprof::cli {

/// Path of nvdisasm: $WICPROF_NVDISASM, else from PATH, else from CUDA's install folders. Empty when none is found.
std::string find_nvdisasm();

/// Adds the instructions of all sampled functions to the trace. `folder` holds their modules as <crc>.cubin, with the
/// crc in 16 hexadecimal digits. The trace's `sass_missing` says what is missing, why, and how to get it. Skips the
/// modules that are left after 30 s in total. Does nothing when the trace has no samples.
void record_instructions(store::Recorder& recorder, const std::string& folder);

}  // namespace wicprof::cli
