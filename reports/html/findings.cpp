// The findings of the rules: each with its evidence, its remedy, and links to the numbers.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "reports/html/elements.h"
#include "reports/html/sections.h"
#include "reports/parts/phrases.h"

namespace wicprof::reports::html {
namespace {

constexpr std::size_t kMaxFindings = 100;

/// Links to the numbers behind a finding on this page.
std::string links_of(const TraceModel& model, const Analysis& analysis, const Finding& finding) {
  std::string links;
  const auto end_listed = analysis.sites.begin() + std::min(kMaxListedSites, analysis.sites.size());
  const auto listed = std::find_if(analysis.sites.begin(), end_listed,
                                   [&](const SiteStats& site) { return site.site == finding.site; });
  if (finding.site != 0 && listed != end_listed) {
    const Interval longest = listed->longest;
    links += fmt::format("<a href=\"#site-{}\">its numbers</a>", finding.site);
    links += fmt::format(
        " <button hidden type=\"button\" class=\"jump\" data-site=\"{}\" data-from=\"{}\" data-to=\"{}\">longest wait "
        "on the "
        "timeline</button>",
        finding.site, longest.begin - model.begin, longest.end - model.begin);
  } else if (finding.rule == "polling_kernel") {
    links += "<a href=\"#program-counters\">program counters</a>";
  } else if (finding.rule.starts_with("host_") && !host_calls(analysis).empty()) {
    links += "<a href=\"#host-waits\">host waits</a>";
  }
  return links;
}

std::string one_finding(const TraceModel& model, const Analysis& analysis, const Finding& finding, std::size_t number) {
  std::string_view css;
  if (finding.severity == Severity::critical) css = " bad";
  if (finding.severity == Severity::warning) css = " warn";
  const bool command = finding.remedy == finding.command;
  const std::string remedy = command ? command_line(finding.remedy) : text_of(finding.remedy);
  std::string out = fmt::format(
      "<div class=\"finding\" id=\"finding-{}\"><p><span class=\"badge{}\">{}</span> <b>{}</b> {}</p>\n", number, css,
      severity_name(finding.severity), text_of(rule_with_cost(finding)), text_of(finding.text));
  out += fmt::format("<dl class=\"small\"><dt>because</dt><dd>{}</dd><dt>do</dt><dd>{}</dd>", text_of(finding.evidence),
                     remedy);
  if (!command && !finding.command.empty())
    out += fmt::format("<dt>run</dt><dd>{}</dd>", command_line(finding.command));
  if (const std::string links = links_of(model, analysis, finding); !links.empty())
    out += fmt::format("<dt>see</dt><dd>{}</dd>", links);
  return out + "</dl></div>\n";
}

}  // namespace

std::string findings_part(const TraceModel& model, const Analysis& analysis) {
  std::string body;
  const std::size_t shown = std::min(kMaxFindings, analysis.findings.size());
  for (std::size_t i = 0; i < shown; ++i) body += one_finding(model, analysis, analysis.findings[i], i + 1);
  if (body.empty()) body = "<p>None.</p>\n";
  body += and_more(analysis.findings.size(), shown, "finding");
  if (!analysis.refusals.empty()) {
    body += fmt::format("<details><summary class=\"small\">{} could not look</summary>\n<ul class=\"small faint\">\n",
                        count_of(analysis.refusals.size(), "rule"));
    for (const Refusal& refusal : analysis.refusals)
      body += fmt::format("<li><code>{}</code>: {}</li>\n", text_of(refusal.rule), text_of(refusal.reason));
    body += "</ul></details>\n";
  }
  return section("findings", "Findings", body, analyze_command(model));
}

}  // namespace wicprof::reports::html
