// The GPUs of the test's driver: streams are queues of work, as the driver's are, and the work takes time without a
// GPU. One thread of the process makes them go on, and calls host functions. What is answered, and in which order work
// may begin, is what the driver's documents say; the same questions are asked of a GPU (tests/guest/*.cu).
#pragma once

#include <cuda.h>

#include <cstddef>

namespace fake_gpu {

/// A kernel: takes `ns`, then runs until `*hold` is not 0 (at most two seconds), then writes 1 to `*sets`. Either may
/// be nullptr.
struct Kernel {
  long long ns = 0;
  const volatile unsigned* hold = nullptr;
  volatile unsigned* sets = nullptr;
};

// All functions: any thread, but not from within another. A context nullptr is the calling thread's current one.

/// What concerns streams and events answers with that error from now on. In a child of a process that used the GPU it
/// is CUDA_ERROR_NOT_INITIALIZED, in a host function CUDA_ERROR_NOT_PERMITTED.
void refuse(CUresult error);

// Contexts. Every thread begins with the first one.
CUcontext first_context();
CUcontext other_context();  ///< of another GPU; its only stream, which nobody creates:
CUstream stream_of_other_context();
CUcontext current_context();
void set_current(CUcontext context);  ///< nullptr: none
CUresult push(CUcontext context);
CUresult pop(CUcontext* context);
CUresult create_context(CUcontext* made, unsigned flags);
CUresult destroy_context(CUcontext context);
CUresult context_flags(unsigned* flags);
void set_flags(CUcontext context, unsigned flags);

// Streams. nullptr and CU_STREAM_LEGACY: the legacy one of the current context; CU_STREAM_PER_THREAD: the thread's.
CUresult create_stream(CUstream* made, unsigned flags, int priority);  ///< a handle that was destroyed comes back first
CUresult destroy_stream(CUstream stream);                              ///< its work goes on
CUresult context_of(CUstream stream, CUcontext* context);
CUresult id_of(CUstream stream, unsigned long long* id);  ///< of each one its own, whatever its handle
CUresult id_of(CUcontext context, unsigned long long* id);
CUresult priority_of(CUstream stream, int* priority);
CUresult launch(CUstream stream, const Kernel& kernel);
CUresult launch_host_function(CUstream stream, CUhostFn function, void* data);
CUresult query_stream(CUstream stream);
CUresult wait_for_stream(CUstream stream);  ///< for what is in it now
CUresult wait_for_context(CUcontext context);

// Events.
CUresult create_event(CUevent* made, unsigned flags);
CUresult destroy_event(CUevent event);
CUresult record(CUevent event, CUstream stream);
CUresult stream_waits_for(CUstream stream, CUevent event);
CUresult query_event(CUevent event);
CUresult wait_for_event(CUevent event);  ///< for its last record before now

// Captures.
CUresult begin_capture(CUstream stream, CUstreamCaptureMode mode);
CUresult end_capture(CUstream stream, CUgraph* graph);
CUresult is_capturing(CUstream stream, CUstreamCaptureStatus* status);
void exchange_capture_mode(CUstreamCaptureMode* mode);
std::size_t nodes_of(CUgraph graph);

/// What a thread may do only where no capture forbids it, such as copies: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, and
/// the captures are lost.
CUresult unless_captured();

/// The streams of the first or of the other context that nobody created are at work until that time (CLOCK_MONOTONIC),
/// of several per-thread streams the caller's. A time before that of the last call ends earlier what they do.
void busy_until(bool other, long long time);

}  // namespace fake_gpu
