// The driver's calls that load code or launch kernels, as CUPTI's callbacks have them.
#pragma once

#include "collector/cupti/records.h"

namespace wicprof::collector {

/// The image of a load, in the driver's own copy of the arguments; nullptr: not a load.
const void** image_of(CUpti_CallbackId id, const void* params);

/// The file that a load names; nullptr: the load names none.
const char** file_of(CUpti_CallbackId id, const void* params);

/// Whether a load has options with which the driver compiles other code than without them; ours is compiled without.
bool changes_code(CUpti_CallbackId id, const void* params);

/// What a load has given the program.
struct LoadedHandles {
  CUlibrary library = nullptr;
  CUmodule module = nullptr;
};

LoadedHandles handles_of(CUpti_CallbackId id, const void* params);

/// The addresses of a launched kernel's arguments; nullptr: no launch, or they are given in another form.
void** parameters_of(CUpti_CallbackId id, const void* params);

}  // namespace wicprof::collector
