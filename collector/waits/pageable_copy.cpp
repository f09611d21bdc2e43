#include "collector/waits/pageable_copy.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace wicprof::collector {

namespace {

struct CopyToHost {
  const void* to = nullptr;  ///< nullptr: it is another copy
  CUstream stream = nullptr;
};

CopyToHost copy_of(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* params) {
  if (params == nullptr) return {};
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    const auto& copy = *static_cast<const cuMemcpyDtoHAsync_v2_params*>(params);
    const bool per_thread = id == CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz;
    return {copy.dstHost,
            copy.hStream == nullptr ? (per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY) : copy.hStream};
  }
  const auto& copy = *static_cast<const cudaMemcpyAsync_v3020_params*>(params);
  // cudaMemcpyDefault: the driver finds out what is copied where, in a call of its own kind.
  if (copy.kind != cudaMemcpyDeviceToHost) return {};
  const bool per_thread = id == CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_ptsz_v7000;
  return {copy.dst, copy.stream == nullptr ? (per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY) : copy.stream};
}

}  // namespace

bool waits_for_pageable_copy(const DriverApi& api, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             const void* params) {
  const CopyToHost copy = copy_of(domain, id, params);
  if (copy.to == nullptr || api.pointer_attribute == nullptr || api.stream_is_capturing == nullptr) return false;
  // The driver does not know memory that nobody has pinned or allocated through CUDA.
  CUmemorytype type{};
  const auto address = static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(copy.to));
  if (api.pointer_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != CUDA_ERROR_INVALID_VALUE) return false;
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  return api.stream_is_capturing(copy.stream, &capture) == CUDA_SUCCESS && capture == CU_STREAM_CAPTURE_STATUS_NONE;
}

}  // namespace wicprof::collector
