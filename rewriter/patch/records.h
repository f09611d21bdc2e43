// The records of waits that have rounds enough for two looks.
#pragma once

#include <string>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// Part of a visit: records that the wait has begun.
std::string begin_record_text(const Site& site, const Table& table);

/// Records the end of the thread's last wait, from its state, if its begin is recorded: before the thread waits again,
/// or ends. `label` distinguishes the places of a module.
std::string end_text(const Table& table, const std::string& label);

}  // namespace wicprof::rewriter
