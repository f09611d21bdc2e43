// The library's two entry points. The CUDA driver calls the first within cuInit() (CUDA_INJECTION64_PATH); the NVTX
// headers call the second at the program's first NVTX call (NVTX_INJECTION64_PATH).
#include "collector/injection.h"

extern "C" {

__attribute__((visibility("default"))) int InitializeInjection(void) {
  wicprof::collector::start_once();
  return 1;  // success even if nothing is recorded: the program must not notice
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(void* get_export_table) {
  return wicprof::collector::connect_nvtx(get_export_table) ? 1 : 0;
}

}  // extern "C"
