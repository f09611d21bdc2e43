// Figures that were measured on an H200, as evidence: only for programs that ran on one.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// "measured on an H200: FIGURE" for a device that is an H200; else that this device was not measured, without FIGURE.
std::string measured_on_h200(const TraceModel& model, DeviceId device, std::string_view figure);
/// The same for the device whose threads wait at the site.
std::string measured_on_h200_at(const TraceModel& model, SiteId site, std::string_view figure);

/// Whether the threads that wait at the site are those of the CPU device, which does not model a GPU's performance.
bool waits_on_cpu_device(const TraceModel& model, SiteId site);

}  // namespace wicprof::analyzer
