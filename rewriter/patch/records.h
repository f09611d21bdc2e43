// The records of waits that have lasted until a look.
#pragma once

#include <string>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// Part of a visit. Where %__wic_q is set: the record that the thread's wait before has ended, from its state; else:
/// the record that its wait has begun. One text for both, since it is long. `number`: text that makes
/// %__wic_h Site::number.
std::string record_text(const Site& site, const Table& table, const std::string& number);

/// Records the end of the thread's last wait, if its begin is recorded, or adds that wait to those that were timed.
/// `label` distinguishes the places of a module.
std::string end_text(const Table& table, const std::string& label);

}  // namespace wicprof::rewriter
