// A CUPTI that writes down every record of the PC Sampling API as CUPTI delivers it, before the collector reads it.
//
// called_functions.sh builds it as a library that needs libcupti (-Wl,--no-as-needed -lcupti), and names it in
// WICPROF_CUPTI_PATH. It writes to the file in WICPROF_DUMP.
//
// One line per record: module, function index, offset, samples, name ("-": CUPTI gave none).
//
// One line "fetch" per call that delivered samples: all samples, dropped samples, samples of kernels that are not the
// user's.
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

extern "C" __attribute__((visibility("default"))) CUptiResult cuptiPCSamplingGetData(
    CUpti_PCSamplingGetDataParams* params) {
  using Function = CUptiResult (*)(CUpti_PCSamplingGetDataParams*);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "cuptiPCSamplingGetData"));
  static std::FILE* const file =
      std::getenv("WICPROF_DUMP") != nullptr ? std::fopen(std::getenv("WICPROF_DUMP"), "w") : nullptr;
  if (real == nullptr) return CUPTI_ERROR_NOT_SUPPORTED;
  const CUptiResult result = real(params);
  const auto& data = *static_cast<const CUpti_PCSamplingData*>(params->pcSamplingData);
  if (file == nullptr || result != CUPTI_SUCCESS) return result;
  for (std::size_t i = 0; i < std::min(data.totalNumPcs, data.collectNumPcs); ++i) {
    const CUpti_PCSamplingPCData& pc = data.pPcData[i];
    unsigned long long samples = 0;
    for (std::size_t k = 0; k < pc.stallReasonCount; ++k) samples += pc.stallReason[k].samples;
    std::fprintf(file, "%016llx %u %llx %llu %s\n", static_cast<unsigned long long>(pc.cubinCrc), pc.functionIndex,
                 static_cast<unsigned long long>(pc.pcOffset), samples,
                 pc.functionName != nullptr ? pc.functionName : "-");
  }
  if (data.totalSamples + data.droppedSamples + data.nonUsrKernelsTotalSamples > 0) {
    std::fprintf(file, "fetch %llu %llu %llu\n", static_cast<unsigned long long>(data.totalSamples),
                 static_cast<unsigned long long>(data.droppedSamples),
                 static_cast<unsigned long long>(data.nonUsrKernelsTotalSamples));
  }
  std::fflush(file);
  return result;
}
