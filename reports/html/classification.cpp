// The classification of the program's communication, with its evidence.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/html/elements.h"
#include "reports/html/sections.h"

namespace wicprof::reports::html {
namespace {

std::string answer(std::string_view question, std::string_view name, double confidence) {
  const std::string meter =
      confidence > 0 ? fmt::format(
                           "<span class=\"meter\" aria-hidden=\"true\"><i style=\"width:{:.0f}%\"></i></span>"
                           "<span class=\"faint small\">confidence {:.2f}</span>",
                           confidence * 100, confidence)
                     : std::string();
  return fmt::format("<div class=\"tile\"><span class=\"faint\">{}</span><b>{}</b>{}</div>\n", question, name, meter);
}

std::string period_of(const CommunicationAnswer& c) {
  if (c.period.what.empty()) return {};
  return fmt::format("{}{}", text_of(c.period.what),
                     c.period.ns > 0 ? ", every " + format_duration(c.period.ns) : std::string());
}

/// "-" for an unknown answer, which has no confidence.
Cell confidence(double value) { return value > 0 ? number(value) : Cell("-"); }

std::vector<Cell> row_of(std::string what, const CommunicationAnswer& c, std::uint64_t messages) {
  return {std::move(what),
          count(messages),
          std::string(model_name(c.model)),
          confidence(c.model_confidence),
          std::string(pattern_name(c.pattern)),
          confidence(c.pattern_confidence),
          period_of(c)};
}

}  // namespace

std::string classification_part(const TraceModel& model, const Classification& c) {
  std::string body = "<div class=\"tiles\">\n" + answer("model", model_name(c.model), c.model_confidence) +
                     answer("pattern", pattern_name(c.pattern), c.pattern_confidence) + "</div>\n";
  if (!c.evidence.empty()) body += "<h3>Evidence</h3>\n<ul class=\"small\">\n";
  for (const std::string& line : c.evidence) body += fmt::format("<li>{}</li>\n", text_of(line));
  if (!c.evidence.empty()) body += "</ul>\n";
  const std::vector<std::string> columns{">messages", "model", ">confidence", "pattern", ">confidence", "iteration"};
  const auto table_of = [&](const char* first) {
    std::vector<std::string> header{first};
    header.insert(header.end(), columns.begin(), columns.end());
    return Table(header);
  };
  if (c.pairs.size() > 1) {
    Table table = table_of("between");
    const std::size_t shown = std::min(kMaxListedRows, c.pairs.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const PairAnswer& pair = c.pairs[i];
      table.add(row_of(text_of(pair.first) + " and " + text_of(pair.second), pair, pair.forth + pair.back));
    }
    body += "<h3>Between each pair</h3>\n" + table.str() + and_more(c.pairs.size(), shown, "pair");
  }
  if (c.sites.size() > 1) {
    Table table = table_of("site");
    const std::size_t shown = std::min(kMaxListedRows, c.sites.size());
    for (std::size_t i = 0; i < shown; ++i)
      table.add(row_of(name_of(c.sites[i].name), c.sites[i], c.sites[i].messages));
    body += "<h3>At each wait site</h3>\n" + table.str() + and_more(c.sites.size(), shown, "site");
  }
  return section("communication", "Communication", body, analyze_command(model));
}

}  // namespace wicprof::reports::html
