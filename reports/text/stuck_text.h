// What a program that hangs waits for, on the screen: the causes, then all that waits.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "reports/text/screen.h"

namespace wicprof::reports {

/// `document`: reports/json/stuck_json.h, which a trace may hold. An exception of nlohmann::json where it is none.
std::string stuck_text(const nlohmann::ordered_json& document, const Screen& screen);

}  // namespace wicprof::reports
