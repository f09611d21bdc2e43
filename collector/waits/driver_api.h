// The driver's functions that waiting in a call's place needs. They are the exported ones, to which the callbacks of
// CUPTI belong as well: whoever calls them from a callback sees no callbacks of its own.
#pragma once

#include <cuda.h>

namespace wicprof::collector {

/// Any function may be nullptr: an older driver, or none.
struct DriverApi {
  // The names with one definition per default stream are called with explicit streams only.
  CUresult (*stream_query)(CUstream) = nullptr;
  CUresult (*event_query)(CUevent) = nullptr;
  CUresult (*stream_is_capturing)(CUstream, CUstreamCaptureStatus*) = nullptr;
  CUresult (*stream_context)(CUstream, CUcontext*) = nullptr;  ///< of a default stream: the current one
  CUresult (*stream_get_attribute)(CUstream, CUstreamAttrID, CUstreamAttrValue*) = nullptr;
  CUresult (*exchange_capture_mode)(CUstreamCaptureMode*) = nullptr;
  CUresult (*context_flags)(unsigned*) = nullptr;  ///< of the current context
  CUresult (*current_context)(CUcontext*) = nullptr;
  CUresult (*push_context)(CUcontext) = nullptr;
  CUresult (*pop_context)(CUcontext*) = nullptr;
  CUresult (*create_event)(CUevent*, unsigned) = nullptr;
  CUresult (*destroy_event)(CUevent) = nullptr;
  CUresult (*pointer_attribute)(void*, CUpointer_attribute, CUdeviceptr) = nullptr;
  CUresult (*record_context)(CUcontext, CUevent) = nullptr;  ///< all work of a context; since CUDA 12.5

  /// Of the driver that the process has loaded.
  static const DriverApi& loaded();
};

}  // namespace wicprof::collector
