// The records of CUPTI that we read, by the names that this project uses for them.
//
// CUPTI hands out the newest record layout that *it* knows, which need not be the one of the headers we were built
// with. Newer layouts only append; the assertions below say so for the fields that we read and the layouts since
// CUDA 11.8 (cupti_api.cpp refuses older ones). Fields are read where they lie: a record may be shorter than our
// struct. `Layouts` says which of the fields that came later this CUPTI's records have.
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

/// The number in a field that is an enumeration: a CUPTI newer than our headers may have values that it lacks, and
/// damaged records have any. By member, because no reference can be had to a field of a packed record.
template <class Record, class Enumeration>
std::uint32_t raw(const Record& record, Enumeration Record::*field) {
  static_assert(sizeof(Enumeration) == sizeof(std::uint32_t));
  std::uint32_t number;
  std::memcpy(&number, &(record.*field), sizeof number);
  return number;
}

/// Fields that not every layout has. By default those of the newest.
struct Layouts {
  bool event_sync = true;  ///< of synchronizations (with the call's result) and events (with the device): CUDA 12.8
  bool processors = true;  ///< of managed memory that thrashes: CUDA 12.8
  bool overhead_correlation = true;  ///< CUDA 12.2
  bool overhead_data = true;         ///< which whoever takes the record has to free: CUDA 13.0
};

/// `cupti_version`: what cuptiGetVersion says.
constexpr Layouts layouts_of(std::uint32_t cupti_version) {
  return {cupti_version >= 26, cupti_version >= 26, cupti_version >= 20, cupti_version >= 130'000};
}

// The last field that is read lies where the oldest layout has it; none lies behind it.
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
