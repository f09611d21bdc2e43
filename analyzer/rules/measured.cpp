#include "analyzer/rules/measured.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

bool is_cpu_device(const TraceModel& model, DeviceId id) {
  const store::DeviceRow* device = model.device(id);
  return device != nullptr ? device->kind == DeviceKind::simt : id >= kSimtDeviceBase;
}

/// The device of the site's first wait inside a kernel; the CPU if there is none.
DeviceId device_of(const TraceModel& model, SiteId site) {
  const auto wait =
      std::find_if(model.waits.begin(), model.waits.end(), [&](const auto& row) { return row.site == site; });
  return wait == model.waits.end() ? kHostDevice : wait->device;
}

}  // namespace

std::string measured_on_h200(const TraceModel& model, DeviceId id, std::string_view figure) {
  const store::DeviceRow* device = model.device(id);
  if (device != nullptr && device->kind == DeviceKind::cuda && device->name.find("H200") != device->name.npos)
    return fmt::format("measured on an H200: {}", figure);
  if (is_cpu_device(model, id)) {
    return "what this costs on a GPU is not known from this run: the CPU device does not model a GPU's performance, "
           "record the program on a GPU";
  }
  return fmt::format("what this costs on {} was not measured: wic-prof has figures of an H200",
                     one_line(model.device_name(id)));
}

std::string measured_on_h200_at(const TraceModel& model, SiteId site, std::string_view figure) {
  return measured_on_h200(model, device_of(model, site), figure);
}

bool waits_on_cpu_device(const TraceModel& model, SiteId site) { return is_cpu_device(model, device_of(model, site)); }

}  // namespace wicprof::analyzer
