// The list of the programs of samples/field, for programs that run every one of them.
#pragma once

#include <vector>

#include "common/app.h"

namespace sample {

inline constexpr const char* kFieldNoRival = "figure 17's rivals move the messages of the paper's applications alone";

const AppInfo& queues_info();
const AppInfo& engine_info();
const AppInfo& parameter_server_info();
const AppInfo& storage_info();
const AppInfo& expert_dispatch_info();
const AppInfo& megakernel_info();
const AppInfo& locks_info();
const AppInfo& all_reduce_info();

const std::vector<const AppInfo*>& field_apps();

}  // namespace sample
