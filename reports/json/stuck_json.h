// What a program that hangs waits for, as a part of a JSON document.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "analyzer/stuck/stuck.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

nlohmann::ordered_json stuck_json(const StuckView& view, const StuckAnswer& answer);

}  // namespace wicprof::reports
