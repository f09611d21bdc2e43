// The driver's functions that waiting in a call's place needs. They are the exported ones, whose calls have callbacks
// and records as the program's have: whoever calls them says so (CallingDriver, OwnCalls).
#pragma once

#include <cuda.h>

namespace wicprof::collector {

/// Any function may be nullptr: an older driver, or none.
struct DriverApi {
  // The names with one definition per default stream are called with explicit streams only.
  CUresult (*stream_query)(CUstream) = nullptr;
  CUresult (*stream_synchronize)(CUstream) = nullptr;
  CUresult (*stream_wait_event)(CUstream, CUevent, unsigned) = nullptr;
  CUresult (*stream_is_capturing)(CUstream, CUstreamCaptureStatus*) = nullptr;
  CUresult (*stream_context)(CUstream, CUcontext*) = nullptr;  ///< of a default stream: the current one
  CUresult (*stream_get_attribute)(CUstream, CUstreamAttrID, CUstreamAttrValue*) = nullptr;
  CUresult (*create_stream)(CUstream*, unsigned) = nullptr;
  CUresult (*destroy_stream)(CUstream) = nullptr;
  CUresult (*event_query)(CUevent) = nullptr;
  CUresult (*event_synchronize)(CUevent) = nullptr;
  CUresult (*event_record)(CUevent, CUstream) = nullptr;
  CUresult (*create_event)(CUevent*, unsigned) = nullptr;
  CUresult (*destroy_event)(CUevent) = nullptr;
  CUresult (*exchange_capture_mode)(CUstreamCaptureMode*) = nullptr;
  CUresult (*pointer_attributes)(unsigned, CUpointer_attribute*, void**, CUdeviceptr) = nullptr;
  CUresult (*context_flags)(unsigned*) = nullptr;  ///< of the current context
  CUresult (*current_context)(CUcontext*) = nullptr;
  CUresult (*set_context)(CUcontext) = nullptr;
  CUresult (*push_context)(CUcontext) = nullptr;
  CUresult (*pop_context)(CUcontext*) = nullptr;

  /// Of the driver that the process has loaded. The first call takes the loader's lock: make it within cuInit().
  static const DriverApi& loaded();
};

}  // namespace wicprof::collector
