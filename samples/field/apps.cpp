#include "field/apps.h"

namespace sample {

const std::vector<const AppInfo*>& field_apps() {
  static const std::vector<const AppInfo*> apps{&queues_info(),  &engine_info(),          &parameter_server_info(),
                                                &storage_info(), &expert_dispatch_info(), &megakernel_info(),
                                                &locks_info(),   &all_reduce_info()};
  return apps;
}

}  // namespace sample
