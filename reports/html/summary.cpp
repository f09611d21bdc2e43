// The top of the page: what was recorded, what is missing, and the answers as tiles.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/change.h"
#include "analyzer/words/format.h"
#include "reports/html/elements.h"
#include "reports/html/sections.h"
#include "reports/parts/phrases.h"
#include "reports/parts/verdict.h"

namespace wicprof::reports::html {
namespace {

std::string header_part(const TraceModel& model, const Analysis& analysis) {
  std::string out = "<header>\n";
  const std::string app = model.meta_value(store::MetaKey::app);
  out += fmt::format("<h1>{}</h1>\n", text_of(app.empty() ? model.name : app));
  if (!command_of(model).empty()) out += fmt::format("<p><code>{}</code></p>\n", text_of(command_of(model)));
  out += fmt::format("<p class=\"faint\">{}</p>\n<dl class=\"facts small\">", text_of(trace_line(model, analysis)));
  const auto fact = [&](std::string_view what, const std::string& value) {
    if (!value.empty()) out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", what, text_of(value));
  };
  fact("why written", dump_line(model));
  fact("recorded", model.meta_value(store::MetaKey::started_utc));
  fact("host", shorten(model.meta_value(store::MetaKey::host), kNameWidth));
  fact("trace", model.name);
  fact("mode", model.meta_value(store::MetaKey::mode));
  fact("schedule", model.meta_value(store::MetaKey::schedule));
  fact("exit status", model.meta_value(store::MetaKey::app_status));
  fact("ended by signal", model.meta_value(store::MetaKey::app_signal));
  fact("wic-prof", model.meta_value(store::MetaKey::wic_prof_version));
  return out + "</dl>\n</header>\n";
}

std::string loss_part(const Analysis& analysis) {
  if (analysis.loss.empty()) return {};
  std::string list;
  for (const Loss& loss : analysis.loss) list += fmt::format("<li>{}</li>\n", text_of(loss.text));
  return fmt::format(
      "<section class=\"loss\">\n<h2>{}</h2>\n<ul>\n{}</ul>\n"
      "</section>\n",
      loss_title(analysis), list);
}

std::string verdict_part(const TraceVerdict& verdict) {
  static constexpr std::string_view kCss[] = {" good", " bad", " warn", ""};
  std::string out = fmt::format("<section id=\"verdict\">\n<p><span class=\"badge{}\">verdict</span> <b>{}</b></p>\n",
                                kCss[static_cast<std::size_t>(verdict.tone)], text_of(one_line(verdict.headline)));
  if (!verdict.detail.empty()) out += fmt::format("<p>{}</p>\n", text_of(verdict.detail));
  if (!verdict.command.empty())
    out += fmt::format("<p>{}: {}</p>\n", verdict.command_title(), command_line(verdict.command));
  return out + "</section>\n";
}

/// A question with its answer. The last three arguments are HTML.
std::string tile_to(std::string_view href, std::string_view question, std::string_view answer,
                    std::string_view detail) {
  return fmt::format(
      "<a class=\"tile\" href=\"#{}\"><span class=\"faint\">{}</span> <b>{}</b> <span class=\"faint "
      "small\">{}</span></a>\n",
      href, question, answer, detail);
}

std::string waiting_tile(const Analysis& analysis) {
  if (analysis.sites.empty()) return tile_to("sites", "waiting", "none seen", "no wait sites in this trace");
  const SiteStats& site = analysis.sites.front();
  return tile_to("sites", "waiting", text_of(format_percent(site.share)),
                 fmt::format("of a waiter's time is spent at {}", text_of(shorten(one_line(site.name), 40))));
}

std::string communication_tile(const Classification& c) {
  return tile_to("communication", "communication", std::string(model_name(c.model)),
                 fmt::format("pattern: {}", pattern_name(c.pattern)));
}

std::string findings_tile(const Analysis& analysis) {
  const auto number_of = [&](Severity severity) {
    return std::count_if(analysis.findings.begin(), analysis.findings.end(),
                         [&](const Finding& finding) { return finding.severity == severity; });
  };
  const auto critical = number_of(Severity::critical), warnings = number_of(Severity::warning);
  std::string serious = critical == 0 ? std::string() : fmt::format("{} critical", critical);
  if (warnings > 0)
    serious += (serious.empty() ? "" : ", ") + count_of(static_cast<std::uint64_t>(warnings), "warning");
  return tile_to("findings", "findings", serious.empty() ? std::string("no warnings") : serious,
                 fmt::format("{} for information", number_of(Severity::info)));
}

std::string ranks_tile(const Analysis& analysis) {
  if (analysis.mpi.ranks.empty()) return {};
  const RankCost& worst = analysis.mpi.ranks.front();
  return tile_to("ranks", "waited for most", fmt::format("rank {}", worst.rank),
                 fmt::format("{} in all", format_duration(worst.cost_ns)));
}

std::string parking_tile(const ReportInput& input) {
  if (const Comparison* c = input.comparison; c != nullptr && c->speedup) {
    const std::string question = fmt::format("after: {}", text_of(c->after.label));
    if (c->verdict == Verdict::inconclusive) return tile_to("comparison", question, "inconclusive", text_of(c->why));
    return tile_to("comparison", question, change_text(1 / c->speedup->value),
                   "time per iteration, measured against before");
  }
  if (const auto& gain = input.analysis.prediction.program) {
    return tile_to("models", "parking, predicted", change_text(1 / gain->value),
                   "time of the run, interval: " + change_interval_text(predicted_change(*gain)));
  }
  if (const auto& bounds = input.analysis.prediction.bounds) {
    return tile_to("models", "parking", "unknown",
                   fmt::format("the run would be {}: measure it with run --ab",
                               analyzer::comparative_interval_text(1 / bounds->high, 1 / bounds->low)));
  }
  return tile_to("models", "parking", "unknown", "neither measured nor predicted");
}

}  // namespace

std::string summary_part(const ReportInput& input) {
  const Analysis& analysis = input.analysis;
  const std::string tiles = input.model.is_digest() ? ranks_tile(analysis)
                                                    : parking_tile(input) + waiting_tile(analysis) +
                                                          communication_tile(analysis.classification);
  return header_part(input.model, analysis) + loss_part(analysis) +
         verdict_part(trace_verdict(input.model, analysis, input.comparison)) + "<div class=\"tiles summary\">\n" +
         tiles + findings_tile(analysis) + "</div>\n";
}

}  // namespace wicprof::reports::html
