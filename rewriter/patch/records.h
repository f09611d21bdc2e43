// The records of waits that have rounds enough for two looks.
#pragma once

#include <string>
#include <vector>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// Part of a visit: records that the wait has begun, once, if %__wic_r says that waits are recorded.
std::string begin_text(const Site& site, const Table& table);

/// What stands where loops are left: a wait of `sites` is over.
std::string exit_text(const std::vector<const Site*>& sites);

/// Records the end of the thread's last wait if its begin is recorded: before the thread waits again, or ends. `label`
/// distinguishes the places of a module.
std::string end_text(const Table& table, const std::string& label);

}  // namespace wicprof::rewriter
