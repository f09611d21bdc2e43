// The few questions that we have for the CUDA driver. It is there already in any program that CUPTI tells us of.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>

namespace wicprof::collector {

/// 0 where the driver does not say. Any thread.
int device_attribute(int device, CUdevice_attribute which);

/// 0 where the driver does not say. Any thread.
int device_count();

/// Empty where the driver does not say. Any thread.
std::string device_name(int device);

/// As uuid_text() has it (protocol/uuid.h); that of the part of a GPU (MIG) where it is one. Empty where the driver
/// does not say. Any thread.
std::string device_uuid(int device);

/// In bytes; 0 where the driver does not say. Any thread.
std::uint64_t device_memory(int device);

}  // namespace wicprof::collector
