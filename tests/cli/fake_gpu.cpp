#include "tests/cli/fake_gpu.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace fake_gpu {

namespace {

constexpr long long kLongestKernel = 2'000'000'000;

enum class Work { kernel, busy, passes, waits, calls };

struct Op {
  Work work;
  std::uint64_t number = 0;  // in the order in which the program asked
  Kernel kernel{};
  long long begun = 0, until = 0;  // until: of busy
  std::vector<std::shared_ptr<Op>> after{};
  CUhostFn function = nullptr;
  void* data = nullptr;
  bool calling = false, done = false;
};
using Ops = std::vector<std::shared_ptr<Op>>;

struct Capture {
  std::thread::id thread;
  CUstreamCaptureMode mode;
  CUstream origin;
  std::size_t nodes = 0;
  bool lost = false;
};

struct Stream {
  CUcontext context = nullptr;
  CUstream handle = nullptr;
  std::uint64_t id = 0;
  bool legacy = false, blocking = true, destroyed = false;
  int priority = 0;
  std::deque<std::shared_ptr<Op>> ops;
  std::shared_ptr<Capture> capture;
};

struct Event {
  Ops recorded;
  unsigned flags = 0;
  CUcontext context = nullptr;
  std::shared_ptr<Capture> capture;
};

/// Handles of one kind, from 0x10 on; the one destroyed last is made first.
template <class Handle>
class Handles {
 public:
  Handle make() {
    if (free_.empty()) return reinterpret_cast<Handle>(last_ += 16);
    const Handle one = free_.back();
    free_.pop_back();
    return one;
  }
  void gone(Handle one) { free_.push_back(one); }

 private:
  std::uintptr_t last_ = 0;
  std::vector<Handle> free_;
};

struct Gpu {
  std::mutex mutex;
  std::condition_variable more;
  bool running = false, forked = false;
  std::uint64_t number = 0, ids = 2;
  CUresult refuses = CUDA_SUCCESS;
  struct Context {
    unsigned flags = 0;
    std::uint64_t id = 0;
  };
  std::map<CUcontext, Context> contexts;
  std::vector<std::shared_ptr<Stream>> streams;
  std::map<CUevent, Event> events;
  std::map<CUgraph, std::size_t> graphs;
  std::set<std::shared_ptr<Capture>> captures;
  Handles<CUcontext> context_handles;
  Handles<CUstream> stream_handles;
  Handles<CUevent> event_handles;
  Handles<CUgraph> graph_handles;
  std::map<std::pair<std::thread::id, CUcontext>, CUstream> per_thread;
};

/// Never destroyed: threads may wait until the process ends.
Gpu& gpu() {
  static Gpu* const one = [] {
    auto* const made = new Gpu;
    made->contexts = {{first_context(), {0, 1}}, {other_context(), {0, 2}}};
    for (const CUcontext context : {first_context(), other_context()}) {
      auto stream = std::make_shared<Stream>();
      stream->context = context;
      stream->legacy = true;
      made->streams.push_back(stream);
    }
    auto stream = std::make_shared<Stream>();
    stream->context = other_context();
    stream->handle = stream_of_other_context();
    made->streams.push_back(stream);
    return made;
  }();
  return *one;
}

// A child of fork() has neither the thread nor what other threads held.
[[maybe_unused]] const int fork_handlers = pthread_atfork([] { gpu().mutex.lock(); }, [] { gpu().mutex.unlock(); },
                                                          [] {
                                                            new (&gpu().mutex) std::mutex;
                                                            gpu().forked = gpu().running;
                                                          });

struct Pushed {
  std::size_t depth = 0;
  CUcontext contexts[16] = {};
  bool begun = false;
};
Pushed& pushed() {
  thread_local Pushed one;
  if (!one.begun) one = {1, {first_context()}, true};
  return one;
}
thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
thread_local bool in_host_function = false;

using Lock = std::unique_lock<std::mutex>;

long long now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

// All that follows: the mutex is held.

Stream* find(CUstream handle) {
  const CUcontext context = current_context();
  const bool legacy = handle == nullptr || handle == CU_STREAM_LEGACY;
  if (handle == CU_STREAM_PER_THREAD) {
    CUstream& own = gpu().per_thread[{std::this_thread::get_id(), context}];
    if (own == nullptr) {
      auto stream = std::make_shared<Stream>();
      stream->context = context;
      stream->handle = own = gpu().stream_handles.make();
      gpu().streams.push_back(stream);
    }
    handle = own;
  }
  for (const auto& stream : gpu().streams) {
    if (stream->destroyed) continue;
    if (legacy ? stream->legacy && stream->context == context : stream->handle == handle && !stream->legacy)
      return stream.get();
  }
  return nullptr;
}

bool all_done(const Ops& ops) {
  return std::all_of(ops.begin(), ops.end(), [](const auto& op) { return op->done; });
}

/// Whether work of the legacy stream or work of blocking streams, which the program asked for earlier, is not done.
bool held_back(const Stream& stream, const Op& op) {
  if (!stream.legacy && !stream.blocking) return false;
  for (const auto& other : gpu().streams) {
    if (other->context != stream.context || other.get() == &stream || !other->blocking) continue;
    if ((stream.legacy || other->legacy) && !other->ops.empty() && other->ops.front()->number < op.number) return true;
  }
  return false;
}

/// Returns whether it is done.
bool go_on(Op& op) {
  if (op.begun == 0) op.begun = now();
  switch (op.work) {
    case Work::kernel: {
      const long long passed = now() - op.begun;
      if (passed < op.kernel.ns) return false;
      if (op.kernel.hold != nullptr && *op.kernel.hold == 0 && passed < kLongestKernel) return false;
      if (op.kernel.sets != nullptr) *op.kernel.sets = 1;
      return true;
    }
    case Work::busy:
      return now() >= op.until;
    case Work::waits:
      return all_done(op.after);
    case Work::calls:
      return false;  // the GPU's thread says when
    case Work::passes:
      return true;
  }
  return true;
}

/// Returns a host function whose turn it is, if any.
std::shared_ptr<Op> advance() {
  std::shared_ptr<Op> call;
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& stream : gpu().streams) {
      while (!stream->ops.empty()) {
        const std::shared_ptr<Op> op = stream->ops.front();
        if (!op->done && held_back(*stream, *op)) break;
        if (op->work == Work::calls && !op->calling && !call) call = op;
        if (!op->done && !go_on(*op)) break;
        op->done = changed = true;
        stream->ops.pop_front();
      }
    }
  }
  std::erase_if(gpu().streams, [](const auto& stream) { return stream->destroyed && stream->ops.empty(); });
  return call;
}

bool idle() {
  return std::all_of(gpu().streams.begin(), gpu().streams.end(), [](const auto& one) { return one->ops.empty(); });
}

/// The GPU's thread.
void run() {
  Lock lock(gpu().mutex);
  for (;;) {
    if (idle()) gpu().more.wait(lock);
    const std::shared_ptr<Op> call = advance();
    if (call) call->calling = true;
    lock.unlock();
    if (call) {
      in_host_function = true;
      call->function(call->data);
      in_host_function = false;
    } else {
      usleep(20);
    }
    lock.lock();
    if (call) call->done = true;
  }
}

std::shared_ptr<Op> put(Stream& stream, Op op) {
  op.number = ++gpu().number;
  const auto one = std::make_shared<Op>(std::move(op));
  stream.ops.push_back(one);
  if (!std::exchange(gpu().running, true)) std::thread(run).detach();
  gpu().more.notify_one();
  return one;
}

/// The last work of the stream; of a legacy one, also that of the blocking streams beside it.
Ops last_of(const Stream& stream) {
  Ops last;
  for (const auto& one : gpu().streams) {
    const bool counts = one.get() == &stream || (stream.legacy && one->blocking && one->context == stream.context);
    if (counts && !one->ops.empty()) last.push_back(one->ops.back());
  }
  return last;
}

Ops last_of(CUcontext context) {
  Ops last;
  for (const auto& one : gpu().streams) {
    if (one->context == context && !one->ops.empty()) last.push_back(one->ops.back());
  }
  return last;
}

/// As the driver waits: it spins.
void wait(Lock& lock, const Ops& ops) {
  for (;;) {
    advance();
    if (all_done(ops)) return;
    lock.unlock();
    sched_yield();
    lock.lock();
  }
}

CUresult ready(const Ops& ops) {
  advance();
  return all_done(ops) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult refusal() {
  if (gpu().forked) return CUDA_ERROR_NOT_INITIALIZED;
  return in_host_function ? CUDA_ERROR_NOT_PERMITTED : gpu().refuses;
}

/// What the capture rules say about a call that is not safe while streams are captured.
CUresult forbidden() {
  CUresult result = CUDA_SUCCESS;
  for (const auto& capture : gpu().captures) {
    const bool own = capture->thread == std::this_thread::get_id();
    if (capture->lost || capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
        capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
      continue;
    if (!own && (capture->mode != CU_STREAM_CAPTURE_MODE_GLOBAL || capture_mode != CU_STREAM_CAPTURE_MODE_GLOBAL))
      continue;
    capture->lost = true;
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

/// Whether the call would have the legacy stream depend on a captured one: those captures are lost, unless `keeps`.
CUresult implicit(const Stream& stream, bool keeps = false) {
  if (!stream.legacy) return CUDA_SUCCESS;
  CUresult result = CUDA_SUCCESS;
  for (const auto& one : gpu().streams) {
    if (one->context != stream.context || !one->blocking || !one->capture || one->capture->lost) continue;
    if (!keeps) one->capture->lost = true;
    result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  return result;
}

CUresult lost_or(const Stream& stream, CUresult result) {
  return stream.capture && stream.capture->lost ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : result;
}

/// What a call answers that asks about a stream or waits for it; `wanted` is its answer where nothing is captured.
template <class Wanted>
CUresult about(Lock&, CUstream handle, Wanted wanted) {
  if (const CUresult result = refusal(); result != CUDA_SUCCESS) return result;
  Stream* const stream = find(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture) {
    const CUresult result = lost_or(*stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    stream->capture->lost = true;
    return result;
  }
  if (const CUresult result = implicit(*stream); result != CUDA_SUCCESS) return result;
  if (const CUresult result = forbidden(); result != CUDA_SUCCESS) return result;
  return wanted(*stream);
}

template <class Wanted>
CUresult about(Lock&, CUevent handle, Wanted wanted) {
  if (const CUresult result = refusal(); result != CUDA_SUCCESS) return result;
  const auto found = gpu().events.find(handle);
  if (found == gpu().events.end()) return CUDA_ERROR_INVALID_HANDLE;
  if (found->second.capture) {
    found->second.capture->lost = true;
    return CUDA_ERROR_CAPTURED_EVENT;
  }
  if (const CUresult result = forbidden(); result != CUDA_SUCCESS) return result;
  return wanted(found->second);
}

/// Puts work into a stream, or a node into its capture.
CUresult add(CUstream handle, Op op) {
  if (const CUresult result = refusal(); result != CUDA_SUCCESS) return result;
  Stream* const stream = find(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture) {
    ++stream->capture->nodes;
    return lost_or(*stream, CUDA_SUCCESS);
  }
  if (const CUresult result = implicit(*stream); result != CUDA_SUCCESS) return result;
  put(*stream, std::move(op));
  return CUDA_SUCCESS;
}

}  // namespace

CUcontext first_context() {
  static char one[64];
  return reinterpret_cast<CUcontext>(one);
}
CUcontext other_context() { return reinterpret_cast<CUcontext>(77); }
CUstream stream_of_other_context() { return reinterpret_cast<CUstream>(78); }

void refuse(CUresult error) {
  const Lock lock(gpu().mutex);
  gpu().refuses = error;
}

CUcontext current_context() {
  const Pushed& all = pushed();
  return all.depth == 0 ? nullptr : all.contexts[all.depth - 1];
}
void set_current(CUcontext context) {
  Pushed& all = pushed();
  if (all.depth != 0) --all.depth;
  if (context != nullptr) all.contexts[all.depth++] = context;
}
CUresult push(CUcontext context) {
  const Lock lock(gpu().mutex);
  if (!gpu().contexts.contains(context)) return CUDA_ERROR_INVALID_CONTEXT;
  Pushed& all = pushed();
  if (all.depth == std::size(all.contexts)) return CUDA_ERROR_INVALID_CONTEXT;
  all.contexts[all.depth++] = context;
  return CUDA_SUCCESS;
}
CUresult pop(CUcontext* context) {
  Pushed& all = pushed();
  if (all.depth == 0) return CUDA_ERROR_INVALID_CONTEXT;
  *context = all.contexts[--all.depth];
  return CUDA_SUCCESS;
}
CUresult create_context(CUcontext* made, unsigned flags) {
  {
    const Lock lock(gpu().mutex);
    if (const CUresult result = refusal(); result != CUDA_SUCCESS) return result;
    *made = gpu().context_handles.make();
    gpu().contexts[*made] = {flags, ++gpu().ids};
    auto stream = std::make_shared<Stream>();
    stream->context = *made;
    stream->legacy = true;
    gpu().streams.push_back(stream);
  }
  return push(*made);
}
CUresult destroy_context(CUcontext context) {
  Lock lock(gpu().mutex);
  if (gpu().contexts.erase(context) == 0) return CUDA_ERROR_INVALID_CONTEXT;
  for (const auto& stream : gpu().streams) {
    if (stream->context == context) stream->destroyed = true;
  }
  std::erase_if(gpu().events, [&](const auto& one) { return one.second.context == context; });
  gpu().context_handles.gone(context);
  wait(lock, last_of(context));
  if (current_context() == context) --pushed().depth;
  return CUDA_SUCCESS;
}
CUresult context_flags(unsigned* flags) {
  const Lock lock(gpu().mutex);
  const auto found = gpu().contexts.find(current_context());
  if (found == gpu().contexts.end()) return CUDA_ERROR_INVALID_CONTEXT;
  *flags = found->second.flags;
  return CUDA_SUCCESS;
}
void set_flags(CUcontext context, unsigned flags) {
  const Lock lock(gpu().mutex);
  gpu().contexts[context].flags = flags;
}

CUresult create_stream(CUstream* made, unsigned flags, int priority) {
  const Lock lock(gpu().mutex);
  if (const CUresult result = refusal(); result != CUDA_SUCCESS) return result;
  if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  auto stream = std::make_shared<Stream>();
  stream->context = current_context();
  stream->handle = *made = gpu().stream_handles.make();
  stream->id = ++gpu().ids;
  stream->blocking = (flags & CU_STREAM_NON_BLOCKING) == 0;
  stream->priority = priority;
  gpu().streams.push_back(stream);
  return CUDA_SUCCESS;
}
CUresult destroy_stream(CUstream handle) {
  const Lock lock(gpu().mutex);
  if (const CUresult result = refusal(); result != CUDA_SUCCESS) return result;
  Stream* const stream = find(handle);
  if (stream == nullptr || stream->legacy) return CUDA_ERROR_INVALID_HANDLE;
  stream->destroyed = true;
  gpu().stream_handles.gone(handle);
  advance();
  return CUDA_SUCCESS;
}
CUresult context_of(CUstream handle, CUcontext* context) {
  const Lock lock(gpu().mutex);
  const Stream* const stream = find(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *context = stream->context;
  return CUDA_SUCCESS;
}
CUresult id_of(CUstream handle, unsigned long long* id) {
  const Lock lock(gpu().mutex);
  const Stream* const stream = find(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *id = stream->id;
  return CUDA_SUCCESS;
}
CUresult id_of(CUcontext context, unsigned long long* id) {
  const Lock lock(gpu().mutex);
  const auto found = gpu().contexts.find(context == nullptr ? current_context() : context);
  if (found == gpu().contexts.end()) return CUDA_ERROR_INVALID_CONTEXT;
  *id = found->second.id;
  return CUDA_SUCCESS;
}
CUresult priority_of(CUstream handle, int* priority) {
  const Lock lock(gpu().mutex);
  const Stream* const stream = find(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *priority = stream->priority;
  return CUDA_SUCCESS;
}
CUresult launch(CUstream stream, const Kernel& kernel) {
  const Lock lock(gpu().mutex);
  Op op{Work::kernel};
  op.kernel = kernel;
  return add(stream, std::move(op));
}
CUresult launch_host_function(CUstream stream, CUhostFn function, void* data) {
  const Lock lock(gpu().mutex);
  Op op{Work::calls};
  op.function = function;
  op.data = data;
  return add(stream, std::move(op));
}
CUresult query_stream(CUstream stream) {
  Lock lock(gpu().mutex);
  return about(lock, stream, [](const Stream& one) { return ready(last_of(one)); });
}
CUresult wait_for_stream(CUstream stream) {
  Lock lock(gpu().mutex);
  return about(lock, stream, [&](const Stream& one) { return wait(lock, last_of(one)), CUDA_SUCCESS; });
}
CUresult wait_for_context(CUcontext context) {
  Lock lock(gpu().mutex);
  if (const CUresult result = refusal(); result != CUDA_SUCCESS) return result;
  if (context == nullptr) context = current_context();
  if (!gpu().contexts.contains(context)) return CUDA_ERROR_INVALID_CONTEXT;
  if (const CUresult result = forbidden(); result != CUDA_SUCCESS) return result;
  wait(lock, last_of(context));
  return CUDA_SUCCESS;
}

CUresult create_event(CUevent* made, unsigned flags) {
  const Lock lock(gpu().mutex);
  if (const CUresult result = refusal(); result != CUDA_SUCCESS) return result;
  if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *made = gpu().event_handles.make();
  Event event;
  event.flags = flags;
  event.context = current_context();
  gpu().events[*made] = event;
  return CUDA_SUCCESS;
}
CUresult destroy_event(CUevent event) {
  const Lock lock(gpu().mutex);
  if (const CUresult result = refusal(); result != CUDA_SUCCESS) return result;
  if (gpu().events.erase(event) == 0) return CUDA_ERROR_INVALID_HANDLE;
  gpu().event_handles.gone(event);
  return CUDA_SUCCESS;
}
CUresult record(CUevent event, CUstream handle) {
  const Lock lock(gpu().mutex);
  if (const CUresult result = refusal(); result != CUDA_SUCCESS) return result;
  Stream* const stream = find(handle);
  const auto found = gpu().events.find(event);
  if (stream == nullptr || found == gpu().events.end()) return CUDA_ERROR_INVALID_HANDLE;
  if (found->second.context != stream->context) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture) {
    if (!stream->capture->lost) found->second.capture = stream->capture;
    return lost_or(*stream, CUDA_SUCCESS);
  }
  if (const CUresult result = implicit(*stream); result != CUDA_SUCCESS) return result;
  found->second.capture = nullptr;
  found->second.recorded = {put(*stream, Op{Work::passes})};
  return CUDA_SUCCESS;
}
CUresult stream_waits_for(CUstream handle, CUevent event) {
  const Lock lock(gpu().mutex);
  const auto found = gpu().events.find(event);
  Stream* const stream = find(handle);
  if (stream == nullptr || found == gpu().events.end()) return CUDA_ERROR_INVALID_HANDLE;
  if (found->second.capture) {  // the stream joins the capture
    if (found->second.capture->lost) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!gpu().captures.contains(found->second.capture)) return CUDA_ERROR_CAPTURED_EVENT;
    if (stream->legacy) return implicit(*stream);
    stream->capture = found->second.capture;
    return CUDA_SUCCESS;
  }
  if (stream->capture && !found->second.recorded.empty()) {
    stream->capture->lost = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  Op op{Work::waits};
  op.after = found->second.recorded;
  return add(handle, std::move(op));
}
CUresult query_event(CUevent event) {
  Lock lock(gpu().mutex);
  return about(lock, event, [](const Event& one) { return ready(one.recorded); });
}
CUresult wait_for_event(CUevent event) {
  Lock lock(gpu().mutex);
  return about(lock, event, [&](const Event& one) { return wait(lock, Ops(one.recorded)), CUDA_SUCCESS; });
}

CUresult begin_capture(CUstream handle, CUstreamCaptureMode mode) {
  const Lock lock(gpu().mutex);
  if (const CUresult result = refusal(); result != CUDA_SUCCESS) return result;
  Stream* const stream = find(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
  stream->capture = std::make_shared<Capture>(Capture{std::this_thread::get_id(), mode, handle});
  gpu().captures.insert(stream->capture);
  return CUDA_SUCCESS;
}
CUresult end_capture(CUstream handle, CUgraph* graph) {
  const Lock lock(gpu().mutex);
  *graph = nullptr;
  Stream* const stream = find(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (!capture) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->origin != handle) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != std::this_thread::get_id())
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  for (const auto& one : gpu().streams) {
    if (one->capture == capture) one->capture = nullptr;
  }
  gpu().captures.erase(capture);
  if (capture->lost) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  *graph = gpu().graph_handles.make();
  gpu().graphs[*graph] = capture->nodes;
  return CUDA_SUCCESS;
}
CUresult is_capturing(CUstream handle, CUstreamCaptureStatus* status) {
  const Lock lock(gpu().mutex);
  const Stream* const stream = find(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *status = !stream->capture        ? CU_STREAM_CAPTURE_STATUS_NONE
            : stream->capture->lost ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                    : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return implicit(*stream, true);
}
void exchange_capture_mode(CUstreamCaptureMode* mode) { *mode = std::exchange(capture_mode, *mode); }
std::size_t nodes_of(CUgraph graph) {
  const Lock lock(gpu().mutex);
  return gpu().graphs[graph];
}
CUresult unless_captured() {
  const Lock lock(gpu().mutex);
  const CUresult result = refusal();
  return result == CUDA_SUCCESS ? forbidden() : result;
}

void busy_until(bool other, long long time) {
  const Lock lock(gpu().mutex);
  const CUcontext context = other ? other_context() : first_context();
  static long long last[2] = {};
  const bool shorter = time < std::exchange(last[other], time);
  const Stream* const own = other ? find(stream_of_other_context()) : find(CU_STREAM_PER_THREAD);
  for (const auto& stream : gpu().streams) {
    if (stream->context != context) continue;
    for (const auto& op : stream->ops) {
      if (op->work == Work::busy) op->until = std::min(op->until, time);
    }
    if (!stream->legacy && stream.get() != own) continue;
    if (shorter) continue;
    Op op{Work::busy};
    op.until = time;
    put(*stream, std::move(op));
  }
}

}  // namespace fake_gpu
