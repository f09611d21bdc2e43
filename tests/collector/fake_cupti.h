// Controls of a fake CUPTI for tests (fake_cupti.cpp). It follows CUPTI's contract for buffers and callbacks, and the
// guest program supplies the records of the "GPU".
#pragma once

#include <cupti.h>

#include <cstdint>

/// Options from a test: "fail=cuptiSubscribe", "other=NAME" (the tool that has subscribed then), "result=35" (the
/// CUptiResult), "fail_kind=10", "dropped=7", "no_uvm", "version=18", "old", "slow_disable" (50 ms per kind);
/// separated by spaces. Records have the sizes of that version.
inline constexpr char kFakeVariable[] = "WICPROF_TEST_CUPTI";

/// A callback's own calls of the driver have no callbacks.
struct FakeCuptiControls {
  void (*add)(const void* record, std::size_t bytes);  ///< adds a record if its kind is enabled
  void (*enter)(CUpti_CallbackDomain domain, CUpti_CallbackId id, std::uint32_t correlation);
  void (*enter_with)(CUpti_CallbackDomain domain, CUpti_CallbackId id, std::uint32_t correlation, const void* params);
  /// A launch of that kernel; nullptr: of the default one.
  void (*enter_as)(const char* symbol, CUpti_CallbackDomain domain, CUpti_CallbackId id, std::uint32_t correlation,
                   const void* params);
  void (*leave)(CUpti_CallbackDomain domain, CUpti_CallbackId id, std::uint32_t correlation);
  void (*leave_with)(CUpti_CallbackDomain domain, CUpti_CallbackId id, std::uint32_t correlation, const void* params);
  /// Of a call of the driver that returned `result`.
  void (*leave_returning)(CUpti_CallbackId id, std::uint32_t correlation, const void* params, CUresult result);
  void (*context_created)();
  int (*flushes)();            ///< number of completed cuptiActivityFlushAll(0)
  int (*forced_flushes)();     ///< like flushes(), with the forced flag
  std::uint64_t (*now)();      ///< the registered clock's time; 0 without a clock
  bool (*queries_left_out)();  ///< no records of unfinished queries
  void (*nvtx)(CUpti_CallbackId id, const void* params, const void* result);  ///< a callback of the domain NVTX
  bool (*subscribed)();                                               ///< the collector holds the only subscription
  bool (*enabled)(CUpti_CallbackDomain domain, CUpti_CallbackId id);  ///< its callbacks arrive
  bool (*records)(CUpti_ActivityKind kind);                           ///< its records are kept
};
/// extern "C" const FakeCuptiControls* fake_cupti_controls();
