// What the processes of a job were in when their recording ended, as the text that their trace keeps, and several such
// views as one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "analyzer/stuck/stuck.h"
#include "protocol/result.h"

namespace wicprof::analyzer {

/// JSON. Of signals, writers and samples, which the trace has in tables, little or nothing: leave them empty.
std::string view_text(const StuckView& view);
/// What view_text() was given. Error, without a name: the text is none of view_text().
Result<StuckView> view_of(const std::string& text);

using ProcessNumbers = std::function<std::uint32_t(std::uint32_t process)>;
/// Adds `shift` to all times, and gives each process another number.
void move_view(StuckView& view, TimeNs shift, const ProcessNumbers& number);
/// Adds all that one view has to another view.
void append_view(StuckView& to, StuckView&& from);

}  // namespace wicprof::analyzer
