#include "collector/waits/call_places.h"

#include <algorithm>

#include "collector/program/python_frames.h"
#include "collector/waits/range_names.h"

namespace wicprof::collector {

PlaceOfWait CallPlaces::place(WaitingThread& thread, std::uint8_t number, const void* frame, EventSink& sink) {
  ThreadsPlaces& places = thread.places;
  LastPath& last = thread.last_path;
  const void* from = nullptr;
  bool looked = false;
  if (kWaitingCalls[number].by_runtime()) {
    looked = true;
    from = thread.caller.find(cuda_call(number), frame, [&](const void* address) {
      return last.is(number, address) || WaitSites::known_path(places, number, address);
    });
    if (from != nullptr && !last.is(number, from) && !WaitSites::known_path(places, number, from)) {
      const bool by_driver = !thread.caller.ambiguous() || !some_not_needed();
      if (by_driver) {
        WaitSites::note_path(places, number, from, number_of_runtime(thread.caller.runtime_call(), number));
      } else {  // nobody knows the place
        runtime_needed_ = true;
        from = nullptr;
      }
    }
    if (from != nullptr && !last.is(number, from)) {
      last = {number, static_cast<std::uint8_t>(WaitSites::call_of_path(places, number, from)), from};
    }
    if (from != nullptr) number = last.call;
  }
  thread.wait.number = number;
  thread.wait.from = from;
  if (const RangeName* range = RangeNames::innermost()) {
    if (const auto within = sites_.enter(places, number, names_[number], *range, sink)) return *within;
  }
  if (!looked) {
    from = thread.caller.find(cuda_call(number), frame,
                              [&](const void* address) { return WaitSites::known(places, number, address); });
  }
  thread.wait.from = from;
  if (const PythonFrames::Function function = PythonFrames::of_process().innermost(thread.python)) {
    if (const auto within = sites_.enter(places, number, names_[number], from, function, sink)) return *within;
  }
  return sites_.enter(places, number, names_[number], from);
}

void CallPlaces::prove(WaitingThread& thread, std::uint8_t number, const void* frame, std::uint32_t correlation) {
  if (!kWaitingCalls[number].by_runtime() || runtime_needed_) return;
  const bool same = correlation == thread.wait.correlation;
  if (same) thread.caller.unwind(cuda_call(number), frame);
  if (same && thread.caller.runtime_call() == names_[thread.wait.outer]) {
    ids_nest_ = true;
    watch_[thread.wait.outer] = Watch::proven;
  } else if (same && thread.caller.ambiguous() && inside_[thread.wait.outer] == nullptr && learn_inside(thread)) {
    // A program without names: the next wait shows whether that is enough to know the call.
  } else {
    runtime_needed_ = true;
  }
}

bool CallPlaces::learn_inside(const WaitingThread& thread) {
  const void* const inside = thread.wait.from == nullptr ? nullptr : Caller::callee_of(thread.wait.from);
  inside_[thread.wait.outer] = inside;
  return inside != nullptr;
}

CudaCall CallPlaces::cuda_call(std::uint8_t number) const {
  const WaitingCall& call = kWaitingCalls[number];
  CudaCall of{number, call.domain == kRuntimeCall, names_[number], cupti_};
  if (call.by_runtime()) {
    of.runtime_calls = names_;
    of.inside = inside_;
  }
  return of;
}

bool CallPlaces::some_not_needed() const {
  return std::any_of(std::begin(watch_), std::end(watch_), [](Watch one) { return one != Watch::asked; });
}

std::uint8_t CallPlaces::number_of_runtime(const std::string& name, std::uint8_t otherwise) const {
  for (std::size_t i = 0; i < std::size(kWaitingCalls) && !name.empty(); ++i) {
    if (kWaitingCalls[i].in_driver() && names_[i] == name) return static_cast<std::uint8_t>(i);
  }
  return otherwise;
}

}  // namespace wicprof::collector
