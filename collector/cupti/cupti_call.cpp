#include "collector/cupti/cupti_call.h"

namespace wicprof::collector {

namespace {

const char* cure(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return "another profiler or debugger uses CUPTI in this program, and CUPTI serves one at a time: run without it, "
             "or record without CUPTI (--trace host)";
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "run as root (in a container: with --cap-add=SYS_ADMIN), or load the NVIDIA driver with "
             "NVreg_RestrictProfilingToAdminUsers=0";
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_INVALID_KIND:
    case CUPTI_ERROR_NOT_COMPATIBLE:
      return "this driver, GPU or CUPTI does not offer it: leave it out of WICPROF_TRACE";
    case CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED:
    case CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE:
      return "this platform or GPU does not report managed memory: leave uvm out of WICPROF_TRACE";
    case CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES:
      return "not supported on GPUs without peer access to each other: restrict the program to one GPU "
             "(CUDA_VISIBLE_DEVICES)";
    case CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS:
      return "run without the Multi-Process Service";
    default:
      return "run `wic-prof doctor` to see this machine's driver and CUPTI";
  }
}

std::string text_of_result(const CuptiApi& api, CUptiResult result) {
  const char* name = nullptr;
  if (api.get_result_string != nullptr) api.get_result_string(result, &name);
  std::string text = name != nullptr ? name : "CUPTI error " + std::to_string(static_cast<int>(result));
  const char* message = nullptr;
  if (api.get_error_message != nullptr) api.get_error_message(result, &message);
  if (message != nullptr && text != message) text += std::string(", ") + message;
  return text;
}

}  // namespace

Result<> cupti_call(const CuptiApi& api, const std::string& what, CUptiResult result) {
  if (result == CUPTI_SUCCESS) return ok();
  return unavailable(what + " failed: " + text_of_result(api, result) + "; " + cure(result));
}

RecordStep next_record(const CuptiApi& api, std::uint8_t* buffer, std::size_t valid_bytes, CUpti_Activity** record) {
  switch (api.activity_get_next_record(buffer, valid_bytes, record)) {
    case CUPTI_SUCCESS:
      return *record != nullptr ? RecordStep::record : RecordStep::damaged;
    case CUPTI_ERROR_MAX_LIMIT_REACHED:
      return RecordStep::end;
    default:
      return RecordStep::damaged;
  }
}

}  // namespace wicprof::collector
