// The strings that pull a CUPTI for tests (fake_cupti.cpp): it keeps CUPTI's contract about buffers and callbacks, and
// what "happens on the GPU" is what a guest program says.
#pragma once

#include <cupti.h>

#include <cstdint>

/// Set by a test: "fail=cuptiSubscribe", "result=35" (how it fails), "fail_kind=10", "dropped=7", "no_uvm",
/// "version=18", "old"; separated by spaces. Records are as long as that version's.
inline constexpr char kFakeVariable[] = "WICPROF_TEST_CUPTI";

struct FakeCuptiControls {
  void (*add)(const void* record, std::size_t bytes);  ///< a record that CUPTI gathered, if its kind is enabled
  void (*enter)(CUpti_CallbackDomain domain, CUpti_CallbackId id, std::uint32_t correlation);
  void (*leave)(CUpti_CallbackDomain domain, CUpti_CallbackId id, std::uint32_t correlation);
  void (*context_created)();
  int (*flushes)();         ///< how often cuptiActivityFlushAll(0) has ended
  int (*forced_flushes)();  ///< the same with the forced flag
  std::uint64_t (*now)();   ///< the clock that was registered; 0 while there is none
  bool (*events_set_up)();  ///< events have device times, and queries that find work undone make no records
};
/// extern "C" const FakeCuptiControls* fake_cupti_controls();
