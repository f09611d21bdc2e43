// Names of driver and runtime calls by CUPTI's callback number.
#pragma once

#include <string>
#include <string_view>

#include "collector/cupti/cupti_api.h"

namespace wicprof::collector {

/// A call's name without the version that CUPTI appends: cudaLaunchKernel_v7000 becomes cudaLaunchKernel. The driver's
/// own suffixes (cuCtxPushCurrent_v2, cuStreamSynchronize_ptsz) are part of the name.
std::string_view plain_call_name(std::string_view name);

/// The name without CUPTI's version suffix; "driver call 123" if this CUPTI has no name for the number.
std::string call_name(const CuptiApi& api, CUpti_CallbackDomain domain, CUpti_CallbackId id);

}  // namespace wicprof::collector
