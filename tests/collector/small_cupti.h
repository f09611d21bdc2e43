// The part of CUPTI that sources under test need: it records nothing and refuses nothing.
#pragma once

#include <cstdint>

#include "collector/cupti/cupti_api.h"

namespace wicprof::collector {

inline CUptiResult no_name(CUpti_CallbackDomain, std::uint32_t, const char** name) {
  *name = nullptr;
  return CUPTI_ERROR_INVALID_PARAMETER;
}
inline CUptiResult a_name(CUpti_CallbackDomain, std::uint32_t, const char** name) {
  *name = "cudaEventSynchronize_v3020";
  return CUPTI_SUCCESS;
}
inline CUptiResult enable_kind(CUpti_ActivityKind) { return CUPTI_SUCCESS; }
inline CUptiResult enable_callback(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId) {
  return CUPTI_SUCCESS;
}
inline CUptiResult configure_counters(CUpti_ActivityUnifiedMemoryCounterConfig*, std::uint32_t) {
  return CUPTI_SUCCESS;
}
inline CUptiResult result_string(CUptiResult, const char** text) {
  *text = "AN_ERROR";
  return CUPTI_SUCCESS;
}

inline CuptiApi api_with(decltype(&cuptiGetCallbackName) get_callback_name) {
  CuptiApi api;
  api.get_result_string = result_string;
  api.get_callback_name = get_callback_name;
  api.activity_enable = enable_kind;
  api.enable_callback = enable_callback;
  api.activity_configure_unified_memory_counter = configure_counters;
  return api;
}

}  // namespace wicprof::collector
