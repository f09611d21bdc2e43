#include "reports/render.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace wicprof::reports {

// In the order of the help text.
constexpr Format kFormats[] = {
    {"html", ".html", "one self-contained page", render_as<struct Html>, false, true},
    {"md", ".md", "", render_as<struct Markdown>, false, true},
    {"json", ".json", "", render_as<struct JsonReport>, false, true},
    {"csv", ".csv", "the wait sites", render_as<struct Csv>},
    {"perfetto", ".perfetto.json", "JSON for ui.perfetto.dev", render_as<struct Perfetto>},
    {"pftrace", ".pftrace", "Perfetto's own format, not text", render_as<struct PerfettoTrace>, true},
};

std::span<const Format> formats() { return kFormats; }

std::string render(const ReportInput& input, std::string_view format) {
  const auto found =
      std::find_if(formats().begin(), formats().end(), [&](const Format& known) { return known.name == format; });
  if (found == formats().end()) throw std::invalid_argument("unknown report format " + std::string(format));
  return found->render(input);
}

std::string render_trace(const TraceModel& model, const TraceModel* before, std::string_view format) {
  const Analysis analysis = analyze(model);
  std::optional<Comparison> comparison;
  if (before != nullptr) {
    comparison = compare(*before, model);
  } else if (!model.interventions.empty()) {
    comparison = compare(model);
  }
  return render({model, analysis, comparison ? &*comparison : nullptr, before}, format);
}

}  // namespace wicprof::reports
