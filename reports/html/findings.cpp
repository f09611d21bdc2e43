// The findings of the rules: each with its evidence, its remedy, and links to the numbers.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "analyzer/trace/wait_view.h"
#include "analyzer/words/format.h"
#include "reports/html/elements.h"
#include "reports/html/sections.h"
#include "reports/parts/phrases.h"

namespace wicprof::reports::html {
namespace {

constexpr std::size_t kMaxFindings = 100;

/// The longest wait at each site, which the timeline jumps to.
using LongestWaits = std::unordered_map<SiteId, Interval>;

LongestWaits longest_waits(const TraceModel& model) {
  LongestWaits longest;
  for_each_wait(model, [&](const WaitView& wait) {
    Interval& most = longest[wait.site];
    if (wait.end - wait.begin > most.end - most.begin) most = {wait.begin, wait.end};
  });
  return longest;
}

/// Links to the numbers behind a finding on this page.
std::string links_of(const TraceModel& model, const Analysis& analysis, const LongestWaits& waits,
                     const Finding& finding) {
  std::string links;
  const bool listed =
      std::any_of(analysis.sites.begin(), analysis.sites.begin() + std::min(kMaxListedSites, analysis.sites.size()),
                  [&](const SiteStats& site) { return site.site == finding.site; });
  if (finding.site != 0 && listed) {
    const auto found = waits.find(finding.site);
    const Interval longest = found != waits.end() ? found->second : Interval{model.begin, model.end};
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

std::string one_finding(const TraceModel& model, const Analysis& analysis, const LongestWaits& waits,
                        const Finding& finding, std::size_t number) {
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
  if (const std::string links = links_of(model, analysis, waits, finding); !links.empty())
    out += fmt::format("<dt>see</dt><dd>{}</dd>", links);
  return out + "</dl></div>\n";
}

}  // namespace

std::string findings_part(const TraceModel& model, const Analysis& analysis) {
  const LongestWaits waits = longest_waits(model);
  std::string body;
  const std::size_t shown = std::min(kMaxFindings, analysis.findings.size());
  for (std::size_t i = 0; i < shown; ++i) body += one_finding(model, analysis, waits, analysis.findings[i], i + 1);
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
