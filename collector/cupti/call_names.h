// Names of driver and runtime calls by CUPTI's callback number.
#pragma once

#include <string>

#include "collector/cupti/cupti_api.h"

namespace wicprof::collector {

/// The name without CUPTI's version suffix; "driver call 123" if this CUPTI has no name for the number.
std::string call_name(const CuptiApi& api, CUpti_CallbackDomain domain, CUpti_CallbackId id);

}  // namespace wicprof::collector
