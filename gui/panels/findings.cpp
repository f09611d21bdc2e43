// Findings with evidence and remedy, the classification, and the rules that could not check the trace.
#include <fmt/format.h>

#include "analyzer/words/format.h"
#include "gui/panels/aggregate_parts.h"
#include "gui/panels/parts.h"
#include "protocol/shell_words.h"

namespace wicprof::gui {

namespace {

void severity_badge(const Ui& ui, analyzer::Severity severity) {
  const Theme& theme = ui.theme();
  switch (severity) {
    case analyzer::Severity::critical:
      return badge(ui, "critical", theme.bad, theme.bad_soft);
    case analyzer::Severity::warning:
      return badge(ui, "warning", theme.warn, theme.warn_soft);
    case analyzer::Severity::info:
      return badge(ui, "info", theme.faint, theme.lane);
  }
}

/// Shows the longest wait at the finding's site on the timeline.
void show_on_timeline(App& app, const analyzer::Finding& finding) {
  app.show(kTimelineView);
  const std::optional<SiteDetail> detail = app.facts()->detail_of(finding.site);
  if (!detail || !detail->longest) {
    app.notice = "this finding concerns the whole program, not one place";
    return;
  }
  app.go_to(*detail->longest);
  app.window.follow(false);
  app.window.focus(detail->longest->begin, detail->longest->end);
}

void one_finding(App& app, const Ui& ui, const analyzer::Finding& finding, std::size_t index) {
  ImGui::PushID(static_cast<int>(index));
  severity_badge(ui, finding.severity);
  ImGui::SameLine(0, ui.px(10));
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + ui.px(3));
  ImGui::PushFont(ui.bold);
  ImGui::TextUnformatted(finding.site_name.empty() ? finding.rule.c_str()
                                                   : fmt::format("{} at {}", finding.rule, finding.site_name).c_str());
  ImGui::PopFont();
  paragraph(ui, finding.text);
  std::vector<std::pair<std::string, std::string>> facts;
  if (!finding.evidence.empty()) facts.emplace_back("evidence", finding.evidence);
  if (!finding.remedy.empty()) facts.emplace_back("remedy", finding.remedy);
  if (!facts.empty()) fact_table(ui, "facts", facts);
  if (finding.site != 0) {
    if (ImGui::Button("Show on the timeline")) show_on_timeline(app, finding);
    note_item(ui, fmt::format("finding.{}.jump", index));
    ImGui::SameLine(0, ui.px(8));
  }
  const std::string command =
      !finding.command.empty() ? finding.command : "wic-prof analyze --verbose " + shell_word(app.path());
  if (ImGui::Button("Copy command")) {
    ImGui::SetClipboardText(command.c_str());
    app.notice = "copied: " + command;
  }
  note_item(ui, fmt::format("finding.{}.copy", index));
  ImGui::SameLine(0, ui.px(10));
  ImGui::AlignTextToFramePadding();
  ImGui::PushFont(ui.mono);
  faint(ui, command);
  ImGui::PopFont();
  ImGui::PopID();
}

void classification(const Ui& ui, const analyzer::Classification& found) {
  heading(ui, "Communication");
  const auto with = [](std::string_view name, double confidence) {
    return confidence > 0 ? fmt::format("{} (confidence {:.2f})", name, confidence) : std::string(name);
  };
  fact_table(ui, "classes",
             {{"model", with(analyzer::model_name(found.model), found.model_confidence)},
              {"pattern", with(analyzer::pattern_name(found.pattern), found.pattern_confidence)}});
  ImGui::Dummy(ImVec2(0, ui.px(4)));
  for (const std::string& line : found.evidence) {
    ImGui::Bullet();
    ImGui::SameLine();
    faint(ui, line);
  }
}

}  // namespace

class FindingsPanel final : public Panel {
  void draw(App& app, const Ui& ui) override;
};

template <>
std::unique_ptr<Panel> make_panel<FindingsPanel>() {
  return std::make_unique<FindingsPanel>();
}

void FindingsPanel::draw(App& app, const Ui& ui) {
  if (draw_not_ready(app, ui, true)) return;
  const analyzer::Analysis& analysis = app.facts()->analysis;
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const float right = std::min(size.x * 0.4f, ui.px(430)), gap = ui.px(10);
  begin_card(ui, "findings", size.x - right - gap, 0);
  if (analysis.findings.empty()) {
    draw_nothing(app, ui, "No findings", no_findings(analysis, app.path()));
  } else {
    heading(ui, analyzer::count_of(analysis.findings.size(), "finding"));
  }
  ImGui::Dummy(ImVec2(0, ui.px(4)));
  for (std::size_t i = 0; i < analysis.findings.size(); ++i) {
    if (i > 0) {
      ImGui::Dummy(ImVec2(0, ui.px(6)));
      ImGui::Separator();
      ImGui::Dummy(ImVec2(0, ui.px(6)));
    }
    one_finding(app, ui, analysis.findings[i], i);
  }
  end_card();
  ImGui::SameLine(0, gap);
  ImGui::BeginGroup();
  begin_card(ui, "classification", right, size.y * 0.55f);
  classification(ui, analysis.classification);
  end_card();
  begin_card(ui, "refusals", right, 0);
  heading(ui, analyzer::count_of(analysis.refusals.size(), "rule") + " could not check this trace");
  for (const analyzer::Refusal& refusal : analysis.refusals) {
    ImGui::TextUnformatted(refusal.rule.c_str());
    faint(ui, refusal.reason);
    ImGui::Dummy(ImVec2(0, ui.px(4)));
  }
  end_card();
  ImGui::EndGroup();
}

}  // namespace wicprof::gui
