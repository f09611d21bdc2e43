#include "collector/cupti/call_names.h"

#include "collector/cupti/cupti_call.h"

namespace wicprof::collector {

std::string_view plain_call_name(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  if (at == std::string_view::npos || at == 0) return name;
  const std::string_view version = name.substr(at + 2);
  if (version.size() < 4 || version.find_first_not_of("0123456789") != std::string_view::npos) return name;
  return name.substr(0, at);
}

std::string call_name(const CuptiApi& api, CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const char* name = nullptr;
  const CUptiResult found = api.get_callback_name(domain, id, &name);
  if (!cupti_call(api, "cuptiGetCallbackName", found) || name == nullptr) {
    return (domain == CUPTI_CB_DOMAIN_DRIVER_API ? "driver call " : "runtime call ") + std::to_string(id);
  }
  return std::string(plain_call_name(name));
}

}  // namespace wicprof::collector
