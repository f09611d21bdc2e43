// Whole reports about a trace.
//
// To add a format, write its file or folder and add one line to kFormats in render.cpp. The file defines
// `template <> std::string render_as<struct NewFormat>(const ReportInput& input)`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reports/parts/report.h"

namespace wicprof::reports {

/// The formats, in the order in which the help text names them.
std::span<const Format> formats();

/// `format` must name one of formats().
std::string render(const ReportInput& input, std::string_view format);

/// Analyzes `model` and renders the result. Compares it with `before`, unless that is nullptr; else compares the modes
/// of `model` if its mode changed during the run.
std::string render_trace(const TraceModel& model, const TraceModel* before, std::string_view format);

}  // namespace wicprof::reports
