// The only place that interprets CUptiResult: callers get a Result with CUPTI's own error text and a remedy.
#pragma once

#include <cupti.h>

#include "collector/cupti/cupti_api.h"
#include "protocol/result.h"

namespace wicprof::collector {

/// `what`: the call for the message, with its argument if useful: "cuptiActivityEnable(kernels)".
Result<> cupti_call(const CuptiApi& api, const std::string& what, CUptiResult result);

enum class RecordStep {
  record,   ///< *record is the next record
  end,      ///< no more records
  damaged,  ///< the rest of this buffer cannot be read
};

/// Steps through a buffer; start with *record == nullptr.
RecordStep next_record(const CuptiApi& api, std::uint8_t* buffer, std::size_t valid_bytes, CUpti_Activity** record);

}  // namespace wicprof::collector
