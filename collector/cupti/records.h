// The CUPTI records that we read, under this project's names.
//
// CUPTI delivers the newest record layout that *it* knows, which may differ from the headers of this build. Newer
// layouts only append fields; the assertions below check this for the fields that we read and all layouts since
// CUDA 11.8 (cupti_api.cpp refuses older ones). A record may be shorter than our struct, so code reads single fields
// and never copies a record. `Layouts` says which of the later fields this CUPTI's records have.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace wicprof::collector {

using KernelRecord = CUpti_ActivityKernel10;
using CopyRecord = CUpti_ActivityMemcpy6;
using PeerCopyRecord = CUpti_ActivityMemcpyPtoP4;
using MemsetRecord = CUpti_ActivityMemset4;
using CallRecord = CUpti_ActivityAPI;
using DeviceRecord = CUpti_ActivityDevice5;
using MarkerRecord = CUpti_ActivityMarker2;
using MarkerDataRecord = CUpti_ActivityMarkerData2;
using SyncRecord = CUpti_ActivitySynchronization2;
using CudaEventRecord = CUpti_ActivityCudaEvent2;
using GraphRecord = CUpti_ActivityGraphTrace2;
using OverheadRecord = CUpti_ActivityOverhead3;
using UvmRecord = CUpti_ActivityUnifiedMemoryCounter3;

/// The number in an enumeration field. A newer CUPTI may write values that our headers lack, and a damaged record may
/// hold any value. Takes a member pointer because a reference cannot bind to a field of a packed record.
template <class Record, class Enumeration>
std::uint32_t raw(const Record& record, Enumeration Record::*field) {
  static_assert(sizeof(Enumeration) == sizeof(std::uint32_t));
  std::uint32_t number;
  std::memcpy(&number, &(record.*field), sizeof number);
  return number;
}

/// Fields that only some layouts have, with the CUDA version that added each. The default is the newest layout.
struct Layouts {
  /// Of synchronizations (together with the call's result) and of events (together with the device): CUDA 12.8.
  bool event_sync = true;
  bool processors = true;            ///< of thrashing managed memory: CUDA 12.8
  bool overhead_correlation = true;  ///< CUDA 12.2
  bool overhead_data = true;         ///< the reader of the record must free it: CUDA 13.0
};

/// `cupti_version`: from cuptiGetVersion().
constexpr Layouts layouts_of(std::uint32_t cupti_version) {
  return {cupti_version >= 26, cupti_version >= 26, cupti_version >= 20, cupti_version >= 130'000};
}

// The last field that we read has the same offset in the newest layout as in the oldest.
#define WIC_SAME_PLACE(Newer, Older, field) static_assert(offsetof(Newer, field) == offsetof(Older, field))
WIC_SAME_PLACE(KernelRecord, CUpti_ActivityKernel8, start);
WIC_SAME_PLACE(KernelRecord, CUpti_ActivityKernel8, correlationId);
WIC_SAME_PLACE(KernelRecord, CUpti_ActivityKernel8, name);
WIC_SAME_PLACE(KernelRecord, CUpti_ActivityKernel8, sharedMemoryExecuted);
WIC_SAME_PLACE(KernelRecord, CUpti_ActivityKernel8, graphNodeId);
WIC_SAME_PLACE(KernelRecord, CUpti_ActivityKernel8, graphId);
WIC_SAME_PLACE(KernelRecord, CUpti_ActivityKernel8, clusterZ);
WIC_SAME_PLACE(KernelRecord, CUpti_ActivityKernel9, name);
WIC_SAME_PLACE(KernelRecord, CUpti_ActivityKernel9, clusterZ);
WIC_SAME_PLACE(CopyRecord, CUpti_ActivityMemcpy5, correlationId);
WIC_SAME_PLACE(CopyRecord, CUpti_ActivityMemcpy5, graphId);
WIC_SAME_PLACE(PeerCopyRecord, CUpti_ActivityMemcpyPtoP3, correlationId);
WIC_SAME_PLACE(PeerCopyRecord, CUpti_ActivityMemcpyPtoP3, graphId);
WIC_SAME_PLACE(MemsetRecord, CUpti_ActivityMemset3, correlationId);
WIC_SAME_PLACE(MemsetRecord, CUpti_ActivityMemset3, graphId);
WIC_SAME_PLACE(DeviceRecord, CUpti_ActivityDevice4, uuid);
WIC_SAME_PLACE(DeviceRecord, CUpti_ActivityDevice4, name);
WIC_SAME_PLACE(DeviceRecord, CUpti_ActivityDevice4, isCudaVisible);
WIC_SAME_PLACE(DeviceRecord, CUpti_ActivityDevice4, migUuid);
WIC_SAME_PLACE(MarkerDataRecord, CUpti_ActivityMarkerData, category);
WIC_SAME_PLACE(SyncRecord, CUpti_ActivitySynchronization, cudaEventId);
WIC_SAME_PLACE(CudaEventRecord, CUpti_ActivityCudaEvent, eventId);
WIC_SAME_PLACE(GraphRecord, CUpti_ActivityGraphTrace, streamId);
WIC_SAME_PLACE(OverheadRecord, CUpti_ActivityOverhead, end);
WIC_SAME_PLACE(OverheadRecord, CUpti_ActivityOverhead2, correlationId);
WIC_SAME_PLACE(UvmRecord, CUpti_ActivityUnifiedMemoryCounter2, flags);
#undef WIC_SAME_PLACE

}  // namespace wicprof::collector
