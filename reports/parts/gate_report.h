// What every report about the gate takes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/gate/gate.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

/// Where and how the gate ran.
struct GateRun {
  std::string name;                ///< of what is checked
  std::string command;             ///< as a user would type it
  std::string utc;                 ///< when the first run began, ISO 8601
  double seconds = 0;              ///< duration of all runs together
  std::vector<std::string> files;  ///< names of the traces
};

struct GateReportInput {
  const GateRun& run;
  const GateConfig& config;
  const std::vector<GateSide>& sides;
  const GateResult& result;
};

struct GateReport {
  std::string_view file;    ///< the name of its file in the output folder
  std::string_view format;  ///< the value of --format that prints this report on stdout; empty = none
  std::string (*render)(const GateReportInput& input);
};

/// Declared only: each report's file specializes it for the report's tag, which reports/gate_reports.h names.
template <class Tag>
std::string render_gate(const GateReportInput& input);

}  // namespace wicprof::reports
