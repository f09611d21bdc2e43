#include "collector/waits/replaced_arguments.h"

#include <cstddef>
#include <thread>

#include "collector/program/own_thread.h"
#include "collector/waits/driver_scopes.h"
#include "collector/waits/own_calls.h"
#include "collector/waits/waiting_thread.h"

namespace wicprof::collector {

namespace {

template <class Argument>
Argument argument_of(CUresult (*)(Argument));  // for its type

void write_argument(void* params, void* argument) { *static_cast<void**>(params) = argument; }
static_assert(offsetof(cuStreamSynchronize_params, hStream) == 0 && offsetof(cuEventSynchronize_params, hEvent) == 0);

}  // namespace

ReplacedArguments::Kind ReplacedArguments::kind_of(CUpti_CallbackId id) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz:
      return Kind::stream;
    case CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize:
      return Kind::event;
    default:
      return Kind::none;
  }
}

bool ReplacedArguments::taken(CUpti_CallbackId id, CUcontext context) {
  const Kind kind = kind_of(id);
  if (kind == Kind::none) return false;
  bool& taken = taken_[static_cast<int>(kind)];
  std::call_once(tried_[static_cast<int>(kind)], [&] {
    if (listeners_.any()) return;
    void* const idle = idle_one(kind, context);
    if (idle == nullptr) return;
    if (std::thread thread = start_own_thread([&] { taken = try_call(kind, idle); }); thread.joinable()) thread.join();
  });
  return taken;
}

bool ReplacedArguments::try_call(Kind kind, void* idle) {
  const auto call = [&]() -> CUresult {
    const auto with = [&](auto function) {
      return function == nullptr ? CUDA_ERROR_NOT_SUPPORTED
                                 : function(static_cast<decltype(argument_of(function))>(idle));
    };
    return kind == Kind::stream ? with(driver_.stream_synchronize) : with(driver_.event_synchronize);
  };
  WaitingThread& thread = threads_.here();
  const OwnCalls::Span own(thread.own_calls, thread.id);
  const CallingDriver calling(thread);
  const RelaxedCapture relaxed(driver_);
  // Else the default stream would be one with the program's work.
  if (driver_.set_context == nullptr || driver_.set_context(nullptr) != CUDA_SUCCESS) return false;
  if (call() != CUDA_SUCCESS) return false;
  thread.tries_replacing = true;
  const CUresult with_nothing = call();
  thread.tries_replacing = false;
  return with_nothing != CUDA_SUCCESS;
}

void ReplacedArguments::replace_by_nothing(CUpti_CallbackId id, void* params) {
  if (params != nullptr && kind_of(id) != Kind::none) write_argument(params, nullptr);
}

void* ReplacedArguments::idle_one(Kind kind, CUcontext context) {
  switch (kind) {
    case Kind::stream:
      return handles_.idle_stream(context);
    case Kind::event:
      return handles_.ready_event(context);
    case Kind::none:
      break;
  }
  return nullptr;
}

bool ReplacedArguments::replace(CUpti_CallbackId id, void* params, CUcontext context) {
  void* const idle = idle_one(kind_of(id), context);
  if (idle == nullptr) return false;
  write_argument(params, idle);
  return true;
}

}  // namespace wicprof::collector
