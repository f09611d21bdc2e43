// The plugin that NCCL loads (NCCL_PROFILER_PLUGIN). It always reports success, and keeps nothing behind a handle: a
// handle is the time at which the program's call began, since NCCL also stops events whose handle is out of date.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "collector/nccl/profiler_interface.h"
#include "collector/nccl/recording.h"

namespace {

using namespace wicprof;
using collector::NcclCommunicator;
using collector::NcclRecording;

constexpr int kWanted = nccl::kColl | nccl::kP2p | nccl::kGroupApi | nccl::kCollApi | nccl::kP2pApi;

/// Of a group: its address is even, and so no handle of a call.
alignas(8) char group_mark;

void* call_handle(TimeNs entered, bool captured) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(entered) << 2 | (captured ? 2u : 0u) | 1u);
}
struct Call {
  TimeNs entered;
  bool captured;
};
Call call_of(const void* handle, TimeNs now) {
  const auto word = reinterpret_cast<std::uintptr_t>(handle);
  if ((word & 1u) == 0) return {now, false};  // not known
  return {std::min(static_cast<TimeNs>(word >> 2), now), (word & 2u) != 0};
}

void set_mask(int* mask, int value) {
  if (mask != nullptr) __atomic_store_n(mask, value, __ATOMIC_RELAXED);
}

int init(void** context, int* mask, const char* name, std::uint64_t id, int ranks, int rank) noexcept {
  if (context != nullptr) *context = nullptr;
  NcclRecording* const recording = NcclRecording::here();
  if (recording == nullptr || context == nullptr) {
    set_mask(mask, 0);
    return nccl::kSuccess;
  }
  try {
    auto made = std::make_unique<NcclCommunicator>();
    made->id = id == 0 ? 1 : id;
    made->mask = mask;
    recording->made_communicator(*made, name == nullptr ? std::string_view() : name, ranks, rank);
    *context = made.release();
    set_mask(mask, kWanted);
  } catch (...) {  // out of memory: what this communicator does is not recorded
  }
  return nccl::kSuccess;
}

int init4(void** context, int* mask, const char* name, std::uint64_t id, int, int ranks, int rank, void*) noexcept {
  return init(context, mask, name, id, ranks, rank);
}

int init5(void** context, std::uint64_t id, int* mask, const char* name, int, int ranks, int rank, void*) noexcept {
  return init(context, mask, name, id, ranks, rank);
}

void collective(NcclRecording& recording, NcclCommunicator& of, const auto& event, Call call, TimeNs now) {
  const MpiOperation operation = collector::nccl_operation(event.operation);
  if (operation == MpiOperation::none) return;
  const bool rooted = operation == MpiOperation::nccl_broadcast || operation == MpiOperation::nccl_reduce;
  recording.enqueued(operation, of, event.sequence + 1, rooted ? event.root : -1,
                     static_cast<std::int64_t>(event.count) * collector::nccl_datatype_bytes(event.datatype),
                     call.entered, now);
}

void message(NcclRecording& recording, NcclCommunicator& of, const auto& event, Call call, TimeNs now) {
  const MpiOperation operation = collector::nccl_operation(event.operation);
  if (operation != MpiOperation::nccl_send && operation != MpiOperation::nccl_recv) return;
  recording.enqueued(operation, of, of.next_message(event.peer, operation == MpiOperation::nccl_send), event.peer,
                     static_cast<std::int64_t>(event.count) * collector::nccl_datatype_bytes(event.datatype),
                     call.entered, now);
}

template <class Described>
int start_event(void* context, void** handle, Described* event) noexcept {
  if (handle != nullptr) *handle = nullptr;
  auto* const of = static_cast<NcclCommunicator*>(context);
  if (of == nullptr || handle == nullptr || event == nullptr) return nccl::kSuccess;
  const TimeNs now = now_ns();
  NcclRecording* const recording = NcclRecording::here();
  if (recording == nullptr || !recording->goes_on(now)) {
    set_mask(of->mask, 0);
    return nccl::kSuccess;
  }
  constexpr bool kHasCalls = sizeof event->type == 8;  // NCCL shows the program's calls
  try {
    const Call call = call_of(event->parent, now);
    const std::uint64_t type = event->type;
    switch (type) {
      case nccl::kGroupApi:
        recording->enter(now);
        *handle = &group_mark;
        break;
      case nccl::kCollApi:
      case nccl::kP2pApi: {
        const bool captured = type == nccl::kCollApi ? event->collective_call.captured : event->message_call.captured;
        if (captured) recording->captured();
        *handle = call_handle(now, captured);
        break;
      }
      case nccl::kColl:
      case nccl::kP2p:
        // NCCL does not number what a graph launches.
        if (call.captured) break;
        if (!kHasCalls) recording->enter(now);
        if (type == nccl::kColl) {
          collective(*recording, *of, event->collective, call, now);
        } else {
          message(*recording, *of, event->message, call, now);
        }
        if (!kHasCalls) recording->leave(now);
        break;
      default:
        break;
    }
  } catch (...) {  // out of memory: the event is not recorded
  }
  return nccl::kSuccess;
}

int stop_event(void* handle) noexcept {
  if (handle != &group_mark) return nccl::kSuccess;
  if (NcclRecording* const recording = NcclRecording::here()) recording->leave(now_ns());
  return nccl::kSuccess;
}

int record_state(void*, int, void*) noexcept { return nccl::kSuccess; }

int finalize(void* context) noexcept {
  const std::unique_ptr<NcclCommunicator> communicator(static_cast<NcclCommunicator*>(context));
  if (NcclRecording* const recording = NcclRecording::here(); recording != nullptr && communicator != nullptr)
    recording->forget_communicator(*communicator);
  return nccl::kSuccess;
}

constexpr char kName[] = "wic-prof";

}  // namespace

#define WICPROF_PLUGIN extern "C" __attribute__((visibility("default")))
// NCCL calls through these, and changes none.
WICPROF_PLUGIN wicprof::nccl::Profiler4 ncclProfiler_v4;
WICPROF_PLUGIN wicprof::nccl::Profiler5 ncclProfiler_v5, ncclProfiler_v6;
wicprof::nccl::Profiler4 ncclProfiler_v4{kName,      init4,        start_event<nccl::Description4>,
                                         stop_event, record_state, finalize};
wicprof::nccl::Profiler5 ncclProfiler_v5{kName,      init5,        start_event<nccl::Description5>,
                                         stop_event, record_state, finalize};
wicprof::nccl::Profiler5 ncclProfiler_v6{kName,      init5,        start_event<nccl::Description5>,
                                         stop_event, record_state, finalize};
