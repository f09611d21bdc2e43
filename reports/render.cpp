#include "reports/render.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace wicprof::reports {

// In the order of the help text.
constexpr Format kFormats[] = {
    {"html", ".html", "one self-contained page", render_as<struct Html>, false, true, true},
    {"md", ".md", "", render_as<struct Markdown>, false, true},
    {"json", ".json", "", render_as<struct JsonReport>, false, true},
    {"csv", ".csv", "the wait sites", render_as<struct Csv>},
    {"perfetto", ".perfetto.json", "JSON for ui.perfetto.dev", render_as<struct Perfetto>},
    {"pftrace", ".pftrace", "Perfetto's own format, not text", render_as<struct PerfettoTrace>, true},
};

std::span<const Format> formats() { return kFormats; }

namespace {

const Format& format_of(std::string_view name) {
  const auto found =
      std::find_if(formats().begin(), formats().end(), [&](const Format& known) { return known.name == name; });
  if (found == formats().end()) throw std::invalid_argument("unknown report format " + std::string(name));
  return *found;
}

}  // namespace

std::string render(const ReportInput& input, std::string_view format) { return format_of(format).render(input); }

std::string render_trace(const TraceModel& model, const TraceModel* before, std::string_view format) {
  std::optional<Comparison> comparison;
  if (before != nullptr) {
    comparison = compare(*before, model);
  } else if (!model.interventions.empty()) {
    comparison = compare(model);
  }
  const Format& wanted = format_of(format);
  const DrawnAnalysis made = wanted.draws ? analyze_to_draw(model) : DrawnAnalysis{analyze(model), nullptr};
  return wanted.render({model, made.analysis, comparison ? &*comparison : nullptr, before, made.drawn});
}

}  // namespace wicprof::reports
