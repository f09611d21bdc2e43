#include "collector/door_check.h"

#include <dlfcn.h>

#include "collector/cupti/cupti_api.h"
#include "collector/cupti/cupti_call.h"
#include "collector/program/environment.h"
#include "collector/rewrite/door.h"

namespace wicprof::collector {

namespace {

void CUPTIAPI at_load(void* door, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (call.callbackSite != CUPTI_API_ENTER || call.functionParams == nullptr) return;
  auto& params = *static_cast<cuLibraryLoadData_params*>(const_cast<void*>(call.functionParams));
  if (const void* const answer = static_cast<Door*>(door)->answer(params.code); answer != nullptr) params.code = answer;
}

DoorAnswer unknown(std::string reason) { return {DoorState::unknown, std::move(reason)}; }

}  // namespace

DoorAnswer try_door() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return unknown("there is no CUDA driver");
  const auto init = reinterpret_cast<CUresult (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto count_devices = reinterpret_cast<CUresult (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int devices = 0;
  if (init == nullptr || count_devices == nullptr) return unknown("the CUDA driver is incomplete");
  if (const CUresult started = init(0); started != CUDA_SUCCESS) {
    return unknown("the CUDA driver does not start (error " + std::to_string(started) + ")");
  }
  if (count_devices(&devices) != CUDA_SUCCESS || devices == 0) return unknown("there is no GPU");
  const Environment environment = read_environment();
  const Result<CuptiApi> cupti = load_cupti(environment.cupti_path, environment.nvtx_cupti);
  if (!cupti) return unknown("no usable CUPTI was found");
  static Door* const door = new Door;  // its thread may outlive this call
  CUpti_SubscriberHandle subscriber = nullptr;
  const Result<> subscribed = cupti_call(*cupti, "cuptiSubscribe", cupti->subscribe(&subscriber, at_load, door));
  if (!subscribed) return unknown(subscribed.error().message);
  const Result<> enabled = cupti_call(
      *cupti, "cuptiEnableCallback",
      cupti->enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData));
  if (!enabled) return {DoorState::closed, enabled.error().message};
  const std::string problem = door->problem(RewriteDriver::loaded());
  return {problem.empty() ? DoorState::open : DoorState::closed, problem};
}

}  // namespace wicprof::collector
