#include "collector/waits/copy_to_host.h"

#include <cuda_runtime_api.h>

namespace wicprof::collector {

namespace {

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

CUstream stream_of(CUstream stream, CUstream default_stream) { return stream == nullptr ? default_stream : stream; }

std::optional<CopyToHost> of_kind(const void* to, const void* from, cudaMemcpyKind kind, CUstream stream) {
  if (kind == cudaMemcpyDeviceToHost) return CopyToHost{address_of(to), true, std::nullopt, stream};
  if (kind == cudaMemcpyDefault) return CopyToHost{address_of(to), false, address_of(from), stream};
  return std::nullopt;
}

std::optional<CopyToHost> of_volume(const cudaMemcpy3DParms* copy, CUstream stream) {
  if (copy == nullptr || copy->dstArray != nullptr) return std::nullopt;
  std::optional<CopyToHost> found = of_kind(copy->dstPtr.ptr, copy->srcPtr.ptr, copy->kind, stream);
  if (found && copy->srcArray != nullptr) found->from.reset();
  return found;
}

/// Of two or three dimensions.
template <class Shape>
std::optional<CopyToHost> of_shape(const Shape* copy, CUstream stream) {
  if (copy == nullptr || copy->srcMemoryType == CU_MEMORYTYPE_HOST) return std::nullopt;
  CopyToHost found;
  if (copy->dstMemoryType == CU_MEMORYTYPE_HOST) {
    found.to = address_of(copy->dstHost);
    found.surely_to_host = true;
  } else if (copy->dstMemoryType == CU_MEMORYTYPE_UNIFIED) {
    found.to = copy->dstDevice;
  } else {
    return std::nullopt;
  }
  if (copy->srcMemoryType == CU_MEMORYTYPE_UNIFIED) found.from = copy->srcDevice;
  found.stream = stream;
  return found;
}

std::optional<CopyToHost> of_runtime(CUpti_CallbackId id, const void* params) {
  CUstream default_stream = CU_STREAM_LEGACY;
  switch (id) {
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_ptsz_v7000:
      default_stream = CU_STREAM_PER_THREAD;
      [[fallthrough]];
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020: {
      const auto& copy = *static_cast<const cudaMemcpyAsync_v3020_params*>(params);
      return of_kind(copy.dst, copy.src, copy.kind, stream_of(copy.stream, default_stream));
    }
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DAsync_ptsz_v7000:
      default_stream = CU_STREAM_PER_THREAD;
      [[fallthrough]];
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DAsync_v3020: {
      const auto& copy = *static_cast<const cudaMemcpy2DAsync_v3020_params*>(params);
      return of_kind(copy.dst, copy.src, copy.kind, stream_of(copy.stream, default_stream));
    }
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DAsync_ptsz_v7000:
      default_stream = CU_STREAM_PER_THREAD;
      [[fallthrough]];
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DAsync_v3020: {
      const auto& copy = *static_cast<const cudaMemcpy3DAsync_v3020_params*>(params);
      return of_volume(copy.p, stream_of(copy.stream, default_stream));
    }
    default:
      return std::nullopt;
  }
}

std::optional<CopyToHost> of_driver(CUpti_CallbackId id, const void* params) {
  CUstream default_stream = CU_STREAM_LEGACY;
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds:
      default_stream = CU_STREAM_PER_THREAD;
      [[fallthrough]];
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2:
      return CopyToHost{address_of(static_cast<const cuMemcpyDtoH_v2_params*>(params)->dstHost), true, std::nullopt,
                        default_stream};
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz:
      default_stream = CU_STREAM_PER_THREAD;
      [[fallthrough]];
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2: {
      const auto& copy = *static_cast<const cuMemcpyDtoHAsync_v2_params*>(params);
      return CopyToHost{address_of(copy.dstHost), true, std::nullopt, stream_of(copy.hStream, default_stream)};
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync_ptsz:
      default_stream = CU_STREAM_PER_THREAD;
      [[fallthrough]];
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync: {
      const auto& copy = *static_cast<const cuMemcpyAsync_params*>(params);
      return CopyToHost{copy.dst, false, copy.src, stream_of(copy.hStream, default_stream)};
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2_ptds:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2_ptds:
      default_stream = CU_STREAM_PER_THREAD;
      [[fallthrough]];
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2:
      return of_shape(static_cast<const cuMemcpy2D_v2_params*>(params)->pCopy, default_stream);
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2_ptds:
      default_stream = CU_STREAM_PER_THREAD;
      [[fallthrough]];
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2:
      return of_shape(static_cast<const cuMemcpy3D_v2_params*>(params)->pCopy, default_stream);
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2_ptsz:
      default_stream = CU_STREAM_PER_THREAD;
      [[fallthrough]];
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2: {
      const auto& copy = *static_cast<const cuMemcpy2DAsync_v2_params*>(params);
      return of_shape(copy.pCopy, stream_of(copy.hStream, default_stream));
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2_ptsz:
      default_stream = CU_STREAM_PER_THREAD;
      [[fallthrough]];
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2: {
      const auto& copy = *static_cast<const cuMemcpy3DAsync_v2_params*>(params);
      return of_shape(copy.pCopy, stream_of(copy.hStream, default_stream));
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<CopyToHost> copy_to_host(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* params) {
  if (params == nullptr) return std::nullopt;
  return domain == CUPTI_CB_DOMAIN_RUNTIME_API ? of_runtime(id, params) : of_driver(id, params);
}

bool waits_for_pageable(const DriverApi& api, const CopyToHost& copy) {
  if (api.pointer_attribute == nullptr || api.stream_is_capturing == nullptr) return false;
  CUmemorytype type{};
  const auto ask = [&](std::uintptr_t address) {
    return api.pointer_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, static_cast<CUdeviceptr>(address));
  };
  // The driver does not know memory that nobody has pinned or allocated through CUDA.
  if (ask(copy.to) != CUDA_ERROR_INVALID_VALUE) return false;
  if (copy.from && (ask(*copy.from) != CUDA_SUCCESS || type != CU_MEMORYTYPE_DEVICE)) return false;
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  return api.stream_is_capturing(copy.stream, &capture) == CUDA_SUCCESS && capture == CU_STREAM_CAPTURE_STATUS_NONE;
}

}  // namespace wicprof::collector
