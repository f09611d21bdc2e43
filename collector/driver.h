// The few questions that we have for the CUDA driver. It is there already in any program that CUPTI tells us of.
#pragma once

#include <cuda.h>

namespace wicprof::collector {

/// 0 where the driver does not say. Any thread.
int device_attribute(int device, CUdevice_attribute which);

/// 0 where the driver does not say. Any thread.
int device_count();

}  // namespace wicprof::collector
