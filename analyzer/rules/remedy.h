// Commands that findings recommend.
#pragma once

#include <string>
#include <string_view>

#include "protocol/strategy.h"

namespace wicprof::analyzer {

/// The command that parks the waits at one site of the running program; the name is quoted for a shell.
std::string park_command(std::string_view site_name);
/// The same, parking under `strategy`.
std::string park_command(std::string_view site_name, StrategyId strategy);

}  // namespace wicprof::analyzer
