#include "collector/cupti/call_names.h"

#include "collector/cupti/cupti_call.h"
#include "collector/program/symbol_name.h"

namespace wicprof::collector {

std::string call_name(const CuptiApi& api, CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const char* name = nullptr;
  const CUptiResult found = api.get_callback_name(domain, id, &name);
  if (!cupti_call(api, "cuptiGetCallbackName", found) || name == nullptr) {
    return (domain == CUPTI_CB_DOMAIN_DRIVER_API ? "driver call " : "runtime call ") + std::to_string(id);
  }
  return std::string(plain_call_name(name));
}

}  // namespace wicprof::collector
