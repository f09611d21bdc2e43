// The records of waits that have rounds enough for two looks.
#pragma once

#include <string>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// Writes a Record with the time %__wic_f, %__wic_g rounds, and the site and flags %__wic_e. `address` and `value` are
/// instructions that bring them into %__wic_x and %__wic_y. `skip`: the end of the label behind the text, where a module
/// without records goes on.
std::string record_text(const Table& table, const std::string& address, const std::string& value,
                        const std::string& skip);

/// Records the end of the thread's last wait, from its state, if its begin is recorded: before the thread waits again,
/// or ends. `label` distinguishes the places of a module.
std::string end_text(const Table& table, const std::string& label);

}  // namespace wicprof::rewriter
