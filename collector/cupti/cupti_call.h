// The sole reader of CUptiResult: everybody else gets a Result with CUPTI's own words and a cure.
#pragma once

#include <cupti.h>

#include "collector/cupti/cupti_api.h"
#include "protocol/result.h"

namespace wicprof::collector {

/// `what` names the call, with its argument where that helps: "cuptiActivityEnable(kernels)".
Result<> cupti_call(const CuptiApi& api, const std::string& what, CUptiResult result);

enum class RecordStep {
  record,   ///< *record is the next one
  end,      ///< there are no more
  damaged,  ///< what follows in this buffer cannot be read
};

/// Steps through a buffer; start with *record == nullptr.
RecordStep next_record(const CuptiApi& api, std::uint8_t* buffer, std::size_t valid_bytes, CUpti_Activity** record);

}  // namespace wicprof::collector
