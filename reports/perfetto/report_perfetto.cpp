// The trace for Perfetto's viewer (ui.perfetto.dev). A document has at most kMostBytes: of a longer trace it keeps
// stretches of time, those around changes of mode first (stretches.h), and with them the kernels, calls and ranges that
// are long compared with the run. A track of its own shows the stretches that were left out.
#include <algorithm>

#include "reports/parts/report.h"
#include "reports/perfetto/picture.h"

namespace wicprof::reports {
namespace {

/// No event is shorter. A trace with more rows than fit at this length is never written as a whole.
constexpr std::size_t kLeastBytesPerRow = 60;
constexpr double kAim = 0.95;  // of the bound, so that a second attempt suffices

std::string fitting(const TraceModel& model, std::string (*write)(const Picture&)) {
  const std::vector<WakeEdge> edges = match(model).edges;
  std::vector<TimeNs> marks;
  for (const store::InterventionRow& row : model.interventions) marks.push_back(row.effective);
  const double fits = static_cast<double>(kMostBytes / kLeastBytesPerRow);
  double part = std::min(1.0, fits / static_cast<double>(std::max<std::size_t>(rows_of(model), 1)));
  while (true) {
    const Stretches stretches = part < 1 ? Stretches(begins_of(model), marks, part) : Stretches();
    std::string document = write(draw(model, edges, stretches));
    const bool least = part * static_cast<double>(Stretches::kMost) < 1;
    if (document.size() <= kMostBytes || least) return document;
    part *= kAim * static_cast<double>(kMostBytes) / static_cast<double>(document.size());
  }
}

}  // namespace

template <>
std::string render_as<struct Perfetto>(const ReportInput& input) {
  return fitting(input.model, chrome_json);
}

template <>
std::string render_as<struct PerfettoTrace>(const ReportInput& input) {
  return fitting(input.model, track_events);
}

}  // namespace wicprof::reports
