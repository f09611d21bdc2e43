// The size of each kind of record in each CUPTI version. Layouts since CUDA 11.8 share a common prefix.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/cupti/records.h"

namespace wicprof::collector {

/// The versions that changed a layout that we read, and the newest: CUDA 11.8, 12.0, 12.2, 12.6, 12.8, 13.0.
inline constexpr std::uint32_t kCuptiVersions[] = {18, 19, 20, 24, 26, 130'001};

/// 0 for a kind that no source handles.
inline std::size_t record_bytes(CUpti_ActivityKind kind, std::uint32_t version) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return version >= 130'000 ? sizeof(CUpti_ActivityKernel10)
             : version >= 19    ? sizeof(CUpti_ActivityKernel9)
                                : sizeof(CUpti_ActivityKernel8);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return version >= 26 ? sizeof(CUpti_ActivityMemcpy6) : sizeof(CUpti_ActivityMemcpy5);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return version >= 26 ? sizeof(CUpti_ActivityDevice5) : sizeof(CUpti_ActivityDevice4);
    case CUPTI_ACTIVITY_KIND_MARKER:
      return sizeof(CUpti_ActivityMarker2);
    case CUPTI_ACTIVITY_KIND_MARKER_DATA:
      return version >= 130'000 ? sizeof(CUpti_ActivityMarkerData2) : sizeof(CUpti_ActivityMarkerData);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return version >= 26 ? sizeof(CUpti_ActivitySynchronization2) : sizeof(CUpti_ActivitySynchronization);
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return version >= 26 ? sizeof(CUpti_ActivityCudaEvent2) : sizeof(CUpti_ActivityCudaEvent);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return version >= 24 ? sizeof(CUpti_ActivityGraphTrace2) : sizeof(CUpti_ActivityGraphTrace);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return version >= 130'000 ? sizeof(CUpti_ActivityOverhead3)
             : version >= 20    ? sizeof(CUpti_ActivityOverhead2)
                                : sizeof(CUpti_ActivityOverhead);
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return version >= 26 ? sizeof(CUpti_ActivityUnifiedMemoryCounter3) : sizeof(CUpti_ActivityUnifiedMemoryCounter2);
    default:
      return 0;
  }
}

}  // namespace wicprof::collector
