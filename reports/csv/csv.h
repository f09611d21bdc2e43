// One table of an analysis as comma-separated values (RFC 4180), for spreadsheets and scripts.
#pragma once

#include <string>

#include "analyzer/analysis.h"

namespace wicprof::analyzer {

/// The wait sites, a line each under a line of names; times in ns; an empty field = not known.
std::string report_csv(const ReportInput& input);

/// A field of such a line: quoted where it has to be.
std::string csv_field(std::string_view text);

}  // namespace wicprof::analyzer
