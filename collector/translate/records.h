// The records of CUPTI that we read, by the names that this project uses for them.
//
// CUPTI hands out the newest record layout that *it* knows, which need not be the one of the headers we were built
// with. Newer layouts only append; the assertions below say so for the fields that we read and the layouts since
// CUDA 11.8 (cupti_api.cpp refuses older ones). Fields are read where they lie: a record may be shorter than our
// struct.
#pragma once

#include <cupti.h>

#include <cstddef>

namespace wicprof::collector {

using KernelRecord = CUpti_ActivityKernel10;
using CopyRecord = CUpti_ActivityMemcpy6;
using PeerCopyRecord = CUpti_ActivityMemcpyPtoP4;
using MemsetRecord = CUpti_ActivityMemset4;
using CallRecord = CUpti_ActivityAPI;
using DeviceRecord = CUpti_ActivityDevice5;
using MarkerRecord = CUpti_ActivityMarker2;

static_assert(offsetof(KernelRecord, start) == offsetof(CUpti_ActivityKernel8, start));
static_assert(offsetof(KernelRecord, correlationId) == offsetof(CUpti_ActivityKernel8, correlationId));
static_assert(offsetof(KernelRecord, name) == offsetof(CUpti_ActivityKernel8, name));
static_assert(offsetof(KernelRecord, name) == offsetof(CUpti_ActivityKernel9, name));
static_assert(offsetof(CopyRecord, correlationId) == offsetof(CUpti_ActivityMemcpy5, correlationId));
static_assert(offsetof(PeerCopyRecord, correlationId) == offsetof(CUpti_ActivityMemcpyPtoP3, correlationId));
static_assert(offsetof(MemsetRecord, correlationId) == offsetof(CUpti_ActivityMemset3, correlationId));
static_assert(offsetof(DeviceRecord, name) == offsetof(CUpti_ActivityDevice4, name));
static_assert(offsetof(DeviceRecord, isCudaVisible) == offsetof(CUpti_ActivityDevice4, isCudaVisible));

}  // namespace wicprof::collector
