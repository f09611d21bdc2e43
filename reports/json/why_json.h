// Why a program is slow, as a JSON document (docs/schemas/why.schema.json).
#pragma once

#include <string>
#include <vector>

#include "reports/parts/why.h"

namespace wicprof::reports {

/// `comparison`: what the answer rests on; nullptr if nothing was compared.
std::string why_json(const Why& why, const Comparison* comparison, const std::vector<std::string>& traces);

}  // namespace wicprof::reports
