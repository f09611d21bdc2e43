// Names of driver and runtime calls by CUPTI's callback number.
#pragma once

#include <string>

#include "collector/cupti/cupti_api.h"

namespace wicprof::collector {

/// Without CUPTI's version ending; "driver call 123" for a number that this CUPTI has no name for.
std::string call_name(const CuptiApi& api, CUpti_CallbackDomain domain, CUpti_CallbackId id);

}  // namespace wicprof::collector
