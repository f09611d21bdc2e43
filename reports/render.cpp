// One document from a model, by format.
#include "analyzer/analysis.h"
#include "reports/csv/csv.h"
#include "reports/html/page.h"
#include "reports/json/json.h"
#include "reports/markdown/markdown.h"
#include "reports/perfetto/perfetto.h"

namespace wicprof::analyzer {
namespace {

std::string report_text(const ReportInput& input) {
  std::string text = analysis_text(input.model, input.analysis);
  if (input.comparison != nullptr) text += "\n" + comparison_text(*input.comparison);
  return text;
}

}  // namespace

std::optional<ReportFormat> report_format_from_name(std::string_view name) {
  if (name == "text") return ReportFormat::text;
  if (name == "json") return ReportFormat::json;
  if (name == "md") return ReportFormat::markdown;
  if (name == "html") return ReportFormat::html;
  if (name == "csv") return ReportFormat::csv;
  if (name == "perfetto") return ReportFormat::perfetto;
  return std::nullopt;
}

std::string render(const ReportInput& input, ReportFormat format) {
  switch (format) {
    case ReportFormat::json:
      return report_json(input);
    case ReportFormat::markdown:
      return report_markdown(input);
    case ReportFormat::html:
      return report_html(input);
    case ReportFormat::csv:
      return report_csv(input);
    case ReportFormat::perfetto:
      return report_perfetto(input.model);
    case ReportFormat::text:
      break;
  }
  return report_text(input);
}

}  // namespace wicprof::analyzer
