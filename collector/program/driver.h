// Queries to the CUDA driver. Every program that CUPTI reports on has loaded the driver already.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>

namespace wicprof::collector {

// All functions: any thread. Where the driver gives no answer, numbers are 0 and texts are empty.

int device_attribute(int device, CUdevice_attribute which);

int device_count();

std::string device_name(int device);

/// In the format of uuid_text() (protocol/uuid.h). For a MIG instance: the UUID of the instance.
std::string device_uuid(int device);

/// In bytes.
std::uint64_t device_memory(int device);

/// Whether the driver writes dumps of the GPU at faults, or when somebody asks for one: by a variable or by
/// cuCoredumpSetAttributeGlobal(). After cuInit().
bool writes_gpu_dumps();

}  // namespace wicprof::collector
