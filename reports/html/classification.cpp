// The classification of the program's communication, with its evidence.
#include <fmt/format.h>

#include "analyzer/words/format.h"
#include "reports/html/drawing_style.h"
#include "reports/html/elements.h"
#include "reports/html/sections.h"
#include "reports/parts/tables.h"

namespace wicprof::reports::html {
namespace {

std::string answer(std::string_view question, std::string_view name, double confidence) {
  const std::string how_sure = confidence > 0 ? fmt::format(" {} <span class=\"faint small\">confidence {:.2f}</span>",
                                                            meter(confidence, "park"), confidence)
                                              : std::string();
  return fmt::format("<div class=\"tile\"><span class=\"faint\">{}</span> <b>{}</b>{}</div>\n", question, name,
                     how_sure);
}

}  // namespace

std::string classification_part(const TraceModel& model, const Classification& c) {
  std::string body = "<div class=\"tiles\">\n" + answer("model", model_name(c.model), c.model_confidence) +
                     answer("pattern", pattern_name(c.pattern), c.pattern_confidence) + "</div>\n";
  if (!c.evidence.empty()) body += "<h3>Evidence</h3>\n<ul class=\"small\">\n";
  for (const std::string& line : c.evidence) body += fmt::format("<li>{}</li>\n", text_of(line));
  if (!c.evidence.empty()) body += "</ul>\n";
  if (c.pairs.size() > 1) body += "<h3>Between each pair</h3>\n" + table_html(pairs_table(c, kMaxListedRows));
  if (c.sites.size() > 1)
    body += "<h3>At each wait site</h3>\n" + table_html(site_communication_table(c, kMaxListedRows));
  return section("communication", "Communication", body, analyze_command(model));
}

}  // namespace wicprof::reports::html
