// The reports that `wic-prof ci` writes.
//
// To add one, write its file and add one line below. The file defines
// `template <> std::string render_gate<struct NewReport>(const GateReportInput& input)`.
#pragma once

#include "reports/parts/gate_report.h"

namespace wicprof::reports {

inline constexpr GateReport kGateReports[] = {
    {"junit.xml", "", render_gate<struct JunitGate>},
    {"result.json", "json", render_gate<struct JsonGate>},
    {"summary.md", "text", render_gate<struct MarkdownGate>},
};

}  // namespace wicprof::reports
