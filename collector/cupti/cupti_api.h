// CUPTI as a table of functions, resolved at run time: the collector loads into any program, with or without CUPTI.
#pragma once

#include <cupti.h>
#include <cupti_pcsampling.h>

#include <string>

#include "protocol/result.h"

namespace wicprof::collector {

/// Every CUPTI that load_cupti() accepts has all functions except those marked as possibly nullptr.
struct CuptiApi {
  void* library = nullptr;
  std::string path;                           ///< as passed to dlopen()
  std::uint32_t version = CUPTI_API_VERSION;  ///< of the opened library
  bool loaded_by_program = false;             ///< the program had loaded the library before

  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiGetResultString) get_result_string = nullptr;
  decltype(&cuptiGetErrorMessage) get_error_message = nullptr;  ///< may be nullptr
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiSubscribe_v2) subscribe_v2 = nullptr;  ///< names the tool in the way; may be nullptr
  decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&cuptiEnableCallback) enable_callback = nullptr;
  decltype(&cuptiGetCallbackName) get_callback_name = nullptr;
  decltype(&cuptiActivityEnable) activity_enable = nullptr;
  decltype(&cuptiActivityDisable) activity_disable = nullptr;
  decltype(&cuptiActivityEnableDriverApi) activity_enable_driver_api = nullptr;    ///< may be nullptr
  decltype(&cuptiActivityEnableRuntimeApi) activity_enable_runtime_api = nullptr;  ///< may be nullptr
  decltype(&cuptiActivityRegisterCallbacks) activity_register_callbacks = nullptr;
  decltype(&cuptiActivityRegisterTimestampCallback) activity_register_timestamp_callback = nullptr;
  decltype(&cuptiActivityGetNextRecord) activity_get_next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) activity_get_num_dropped_records = nullptr;
  decltype(&cuptiActivityFlushAll) activity_flush_all = nullptr;
  decltype(&cuptiActivityFlushPeriod) activity_flush_period = nullptr;
  // These may be nullptr.
  decltype(&cuptiActivitySetAttribute) activity_set_attribute = nullptr;
  decltype(&cuptiActivityConfigureUnifiedMemoryCounter) activity_configure_unified_memory_counter = nullptr;
  decltype(&cuptiActivityEnableAllSyncRecords) activity_enable_all_sync_records = nullptr;

  decltype(&cuptiSetThreadIdType) set_thread_id_type = nullptr;

  // For sampling program counters; all may be nullptr.
  decltype(&cuptiGetDeviceId) get_device_id = nullptr;
  decltype(&cuptiGetContextId) get_context_id = nullptr;
  decltype(&cuptiPCSamplingEnable) pc_sampling_enable = nullptr;
  decltype(&cuptiPCSamplingDisable) pc_sampling_disable = nullptr;
  decltype(&cuptiPCSamplingSetConfigurationAttribute) pc_sampling_set_configuration_attribute = nullptr;
  decltype(&cuptiPCSamplingGetNumStallReasons) pc_sampling_get_num_stall_reasons = nullptr;
  decltype(&cuptiPCSamplingGetStallReasons) pc_sampling_get_stall_reasons = nullptr;
  decltype(&cuptiPCSamplingGetData) pc_sampling_get_data = nullptr;
  decltype(&cuptiRegisterComputeCrcCallback) register_compute_crc_callback = nullptr;
  decltype(&cuptiGetSassToSourceCorrelation) get_sass_to_source_correlation = nullptr;
};

/// Opens the CUPTI at `named` and no other. If `named` is empty, tries in this order: `preferred` unless empty, the
/// sonames, the path that this build found, the usual paths of toolkits. Errors: no CUPTI found, a required function is
/// missing, or its record layouts are too old.
Result<CuptiApi> load_cupti(const std::string& named, const std::string& preferred = {});

}  // namespace wicprof::collector
