#include "collector/waits/host_copy.h"

#include <cuda_runtime_api.h>

namespace wicprof::collector {

namespace {

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

struct Ends {
  Where to, from;
};

Ends ends_of(cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return {Where::host, Where::host};
    case cudaMemcpyHostToDevice:
      return {Where::device, Where::host};
    case cudaMemcpyDeviceToHost:
      return {Where::host, Where::device};
    case cudaMemcpyDeviceToDevice:
      return {Where::device, Where::device};
    default:
      return {Where::unknown, Where::unknown};
  }
}

HostCopy of_kind(const void* to, const void* from, cudaMemcpyKind kind, CUstream stream = nullptr,
                 std::size_t bytes = 0) {
  const Ends ends = ends_of(kind);
  return {address_of(to), address_of(from), ends.to, ends.from, bytes, stream};
}

std::optional<HostCopy> of_volume(const cudaMemcpy3DParms* parameters, CUstream stream = nullptr) {
  if (parameters == nullptr) return std::nullopt;
  HostCopy copy = of_kind(parameters->dstPtr.ptr, parameters->srcPtr.ptr, parameters->kind, stream);
  if (parameters->dstArray != nullptr) copy.to_is = Where::device;
  if (parameters->srcArray != nullptr) copy.from_is = Where::device;
  return copy;
}

Where where(CUmemorytype type) {
  return type == CU_MEMORYTYPE_HOST ? Where::host : type == CU_MEMORYTYPE_UNIFIED ? Where::unknown : Where::device;
}

/// Of two or three dimensions.
template <class Shape>
std::optional<HostCopy> of_shape(const Shape* shape, CUstream stream = nullptr) {
  if (shape == nullptr) return std::nullopt;
  const Where to_is = where(shape->dstMemoryType), from_is = where(shape->srcMemoryType);
  return HostCopy{to_is == Where::host ? address_of(shape->dstHost) : shape->dstDevice,
                  from_is == Where::host ? address_of(shape->srcHost) : shape->srcDevice,
                  to_is,
                  from_is,
                  0,
                  stream};
}

template <class Params>
const Params& as(const void* params) {
  return *static_cast<const Params*>(params);
}

std::optional<HostCopy> of_runtime(CUpti_CallbackId id, const void* params) {
  switch (id) {
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_ptds_v7000: {
      const auto& call = as<cudaMemcpy_v3020_params>(params);
      return of_kind(call.dst, call.src, call.kind);
    }
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2D_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2D_ptds_v7000: {
      const auto& call = as<cudaMemcpy2D_v3020_params>(params);
      return of_kind(call.dst, call.src, call.kind);
    }
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3D_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3D_ptds_v7000:
      return of_volume(as<cudaMemcpy3D_v3020_params>(params).p);
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyToSymbol_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyToSymbol_ptds_v7000: {
      const auto& call = as<cudaMemcpyToSymbol_v3020_params>(params);
      HostCopy copy = of_kind(nullptr, call.src, call.kind);
      copy.to_is = Where::device;
      return copy;
    }
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyFromSymbol_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyFromSymbol_ptds_v7000: {
      const auto& call = as<cudaMemcpyFromSymbol_v3020_params>(params);
      HostCopy copy = of_kind(call.dst, nullptr, call.kind);
      copy.from_is = Where::device;
      return copy;
    }
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_ptsz_v7000: {
      const auto& call = as<cudaMemcpyAsync_v3020_params>(params);
      return of_kind(call.dst, call.src, call.kind, call.stream, call.count);
    }
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DAsync_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DAsync_ptsz_v7000: {
      const auto& call = as<cudaMemcpy2DAsync_v3020_params>(params);
      return of_kind(call.dst, call.src, call.kind, call.stream);
    }
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DAsync_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DAsync_ptsz_v7000: {
      const auto& call = as<cudaMemcpy3DAsync_v3020_params>(params);
      return of_volume(call.p, call.stream);
    }
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyFromSymbolAsync_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyFromSymbolAsync_ptsz_v7000: {
      const auto& call = as<cudaMemcpyFromSymbolAsync_v3020_params>(params);
      HostCopy copy = of_kind(call.dst, nullptr, call.kind, call.stream);
      copy.from_is = Where::device;
      return copy;
    }
    default:
      return std::nullopt;
  }
}

std::optional<HostCopy> of_driver(CUpti_CallbackId id, const void* params) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy_ptds: {
      const auto& call = as<cuMemcpy_params>(params);
      return HostCopy{call.dst, call.src};
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2_ptds:
      return HostCopy{0, 0, Where::device, Where::host};
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds:
      return HostCopy{0, 0, Where::host, Where::device};
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2_ptds:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2_ptds:
      return of_shape(as<cuMemcpy2D_v2_params>(params).pCopy);
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2_ptds:
      return of_shape(as<cuMemcpy3D_v2_params>(params).pCopy);
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync_ptsz: {
      const auto& call = as<cuMemcpyAsync_params>(params);
      return HostCopy{call.dst, call.src, Where::unknown, Where::unknown, call.ByteCount, call.hStream};
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz: {
      const auto& call = as<cuMemcpyHtoDAsync_v2_params>(params);
      return HostCopy{0, address_of(call.srcHost), Where::device, Where::host, call.ByteCount, call.hStream};
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz: {
      const auto& call = as<cuMemcpyDtoHAsync_v2_params>(params);
      return HostCopy{address_of(call.dstHost), 0, Where::host, Where::device, call.ByteCount, call.hStream};
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2_ptsz: {
      const auto& call = as<cuMemcpy2DAsync_v2_params>(params);
      return of_shape(call.pCopy, call.hStream);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2_ptsz: {
      const auto& call = as<cuMemcpy3DAsync_v2_params>(params);
      return of_shape(call.pCopy, call.hStream);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<HostCopy> host_copy(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* params,
                                  CUstream default_stream) {
  if (params == nullptr) return std::nullopt;
  std::optional<HostCopy> copy = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? of_runtime(id, params) : of_driver(id, params);
  if (copy && copy->stream == nullptr) copy->stream = default_stream;
  return copy;
}

std::optional<bool> waits(const HostCopy& copy, CopyCall call, HostMemory& known, CopyQuestions& driver) {
  if (call == CopyCall::none) return false;
  const auto memory = [&](std::uintptr_t address, Where is) {
    if (is == Where::device) return MemoryKind::device;
    if (is == Where::unknown) return driver.memory_of(address);
    return known.at(address, [&](std::uintptr_t asked) { return driver.memory_of(asked); });
  };
  const auto is_of_host = [&](std::uintptr_t address, Where is) -> std::optional<bool> {
    if (is == Where::host) return true;
    const MemoryKind kind = memory(address, is);
    if (kind == MemoryKind::unknown) return std::nullopt;
    return kind != MemoryKind::device;
  };
  if (call == CopyCall::synchronous) {
    if (copy.to_is == Where::host || copy.from_is == Where::host) return true;
    const std::optional<bool> from = is_of_host(copy.from, copy.from_is), to = is_of_host(copy.to, copy.to_is);
    if (from == true || to == true) return true;
    if (!from || !to) return std::nullopt;
    return false;
  }
  const auto waits_for = [&](MemoryKind to) -> std::optional<bool> {
    if (to == MemoryKind::unknown) return std::nullopt;
    if (to == MemoryKind::pageable) return true;
    if (to == MemoryKind::pinned) return is_of_host(copy.from, copy.from_is);
    if (copy.bytes < kTooLongForBuffers) return false;
    const MemoryKind from = memory(copy.from, copy.from_is);
    if (from == MemoryKind::unknown) return std::nullopt;
    return from == MemoryKind::pageable;
  };
  const std::optional<bool> found = waits_for(memory(copy.to, copy.to_is));
  return found == true ? !driver.captures(copy.stream) : found;
}

}  // namespace wicprof::collector
