// The timeline, and below it the details of the selection.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "gui/panels/aggregate_parts.h"
#include "gui/panels/parts.h"
#include "gui/panels/timeline_canvas.h"
#include "gui/view/first_words.h"

namespace wicprof::gui {

namespace {

void area_sums(App& app, const Ui& ui) {
  const Area& area = *app.area;
  heading(ui, fmt::format("{} on {}", analyzer::format_duration(area.end - area.begin),
                          analyzer::count_of(area.tracks, "track")));
  faint(ui, fmt::format("from {:.6f} s; {} in this stretch",
                        static_cast<double>(area.begin - app.timeline()->begin) / kSecond,
                        analyzer::count_of(area.events, "event")));
  if (area.sums.empty()) {
    faint(ui, "no events here");
    return;
  }
  if (!ImGui::BeginTable("area", 4, ImGuiTableFlags_SizingFixedFit)) return;
  ImGui::TableSetupColumn("state", ImGuiTableColumnFlags_WidthFixed, ui.px(130));
  ImGui::TableSetupColumn("time", ImGuiTableColumnFlags_WidthFixed, ui.px(110));
  ImGui::TableSetupColumn("mean", ImGuiTableColumnFlags_WidthFixed, ui.px(120));
  ImGui::TableSetupColumn("bar", ImGuiTableColumnFlags_WidthStretch);
  double all = 0;
  for (const AreaSum& sum : area.sums) all += sum.time_ns;
  for (const AreaSum& sum : area.sums) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    legend(ui, {sum.state});
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(analyzer::format_duration(static_cast<TimeNs>(sum.time_ns)).c_str());
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(fmt::format("{:.3g} at once", sum.mean_at_once).c_str());
    ImGui::TableNextColumn();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = std::max(ImGui::GetContentRegionAvail().x - ui.px(60), 1.0f), height = size_of(ui.regular);
    const float part = static_cast<float>(sum.time_ns / all);
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(at, ImVec2(at.x + width, at.y + height), ink(ui.theme().lane));
    list->AddRectFilled(at, ImVec2(at.x + width * part, at.y + height), state_ink(ui, sum.state));
    draw_text(list, ui.small, {at.x + width + ui.px(8), at.y, ui.px(52), height}, ink(ui.theme().faint),
              analyzer::format_percent(part));
    ImGui::Dummy(ImVec2(width, height));
  }
  ImGui::EndTable();
}

/// The facts of the selected event, looked up once per selection: a long trace has many edges to search.
struct SelectedFacts {
  std::vector<Fact> facts;
  std::optional<EventRef> event;
  std::uint64_t version = 0;  ///< of the snapshot

  const std::vector<Fact>& of(const App& app) {
    if (event != app.selected || version != app.snapshot().version) {
      facts = app.selected_facts();
      event = app.selected;
      version = app.snapshot().version;
    }
    return facts;
  }
};

/// A value that names an event: a click goes there.
bool link(const Ui& ui, const Fact& fact) {
  ImGui::PushStyleColor(ImGuiCol_Text, ink(ui.theme().accent));
  ImGui::BeginGroup();
  paragraph(ui, fact.value);
  ImGui::EndGroup();
  ImGui::PopStyleColor();
  note_item(ui, "fact." + fact.name);
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  return ImGui::IsItemClicked();
}

void selected_facts(App& app, const Ui& ui, const std::vector<Fact>& facts) {
  heading(ui, title_of(*app.model(), *app.selected));
  // In columns, so that all facts fit a low panel.
  constexpr std::size_t kColumns = 3;
  const std::size_t each = (facts.size() + kColumns - 1) / kColumns;
  std::optional<EventRef> clicked;
  if (!ImGui::BeginTable("facts", kColumns, ImGuiTableFlags_SizingStretchSame)) return;
  for (std::size_t first = 0; first < facts.size(); first += each) {
    ImGui::TableNextColumn();
    ImGui::PushID(static_cast<int>(first));
    if (ImGui::BeginTable("column", 2, ImGuiTableFlags_SizingFixedFit)) {
      const std::size_t next = std::min(first + each, facts.size());
      float widest = 0;
      for (std::size_t i = first; i < next; ++i) widest = std::max(widest, text_width(ui.regular, facts[i].name));
      ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, widest + ui.px(8));
      ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
      for (std::size_t i = first; i < next; ++i) {
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        faint(ui, facts[i].name);
        ImGui::TableNextColumn();
        if (!facts[i].of) {
          paragraph(ui, facts[i].value);
        } else if (link(ui, facts[i])) {
          clicked = facts[i].of;
        }
      }
      ImGui::EndTable();
    }
    ImGui::PopID();
  }
  ImGui::EndTable();
  if (clicked) app.select(*clicked, true);
}

}  // namespace

class TimelinePanel final : public Panel {
  void draw(App& app, const Ui& ui) override;
  void area_sites(const App& app, const Ui& ui);
  void search_hits(App& app, const Ui& ui);
  void choose_kind(App& app, const Ui& ui);
  void answer(App& app, const Ui& ui, float width);
  TimelineState timeline_;
  SelectedFacts selected_facts_;
  FirstWords words_;
  std::uint64_t words_version_ = 0;  ///< of the snapshot that words_ describes
  std::string hits_of_;              ///< the search whose kinds are in kinds_
  std::uint64_t hits_total_ = 0;     ///< of that search
  std::vector<EventKind> kinds_;
  std::size_t shown_hit_ = 0;  ///< the list of hits scrolls when another one becomes the current one
};

template <>
std::unique_ptr<Panel> make_panel<TimelinePanel>() {
  return std::make_unique<TimelinePanel>();
}

/// The table per site of the dragged area.
void TimelinePanel::area_sites(const App& app, const Ui& ui) {
  const Area& area = *app.area;
  heading(ui, "Waits in this stretch");
  if (area.sites.empty()) {
    faint(ui, app.snapshot().large ? "no single waits are known here: zoom in until the window shows them"
                                   : "no waits on these tracks");
    return;
  }
  if (!ImGui::BeginTable("area.sites", 5, ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollY)) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn("site or call", ImGuiTableColumnFlags_WidthStretch);
  for (const char* title : {"how", "waits", "waiting", "wake p50"})
    ImGui::TableSetupColumn(title, ImGuiTableColumnFlags_WidthFixed, ui.px(96));
  ImGui::TableHeadersRow();
  for (const AreaSite& site : area.sites) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(site.name.c_str());
    ImGui::TableNextColumn();
    legend(ui, {site.way});
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(analyzer::format_count(site.waits).c_str());
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(analyzer::format_duration(site.waiting_ns).c_str());
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(site.wake_p50_ns ? analyzer::format_duration(*site.wake_p50_ns).c_str() : "-");
  }
  ImGui::EndTable();
}

/// One button per kind of the hits; a click narrows the search to that kind, or widens it again.
void TimelinePanel::choose_kind(App& app, const Ui& ui) {
  if (hits_of_ != app.hits.text || hits_total_ != app.hits.total) {
    hits_of_ = app.hits.text;
    hits_total_ = app.hits.total;
    bool occurs[kEventKinds] = {};
    for (const SearchHit& one : app.hits.hits) occurs[static_cast<std::size_t>(one.row.kind)] = true;
    kinds_.clear();
    for (std::size_t i = 0; i < kEventKinds; ++i) {
      if (occurs[i]) kinds_.push_back(static_cast<EventKind>(i));
    }
  }
  const Result<SearchQuery> query = read_query(app.hits.text);
  constexpr EventKind kEach = EventKind::thread_sample;  // no search finds samples
  const EventKind chosen = query ? query->kind.value_or(kEach) : kEach;
  if (chosen == kEach && kinds_.size() < 2) return;
  std::optional<std::string> wanted;
  if (segment_button(ui, "hits.all", "all", chosen == kEach, ui.theme().accent)) wanted = with_kind(app.hits.text, {});
  for (const EventKind kind : kinds_) {
    ImGui::SameLine(0, ui.px(2));
    const std::string word(kind_word(kind));
    if (segment_button(ui, "hits." + word, word.c_str(), chosen == kind, ui.theme().accent))
      wanted = with_kind(app.hits.text, kind);
  }
  if (wanted) app.search_for(*wanted);
}

/// The hits of the search, those of exactly the name first; a click goes to one.
void TimelinePanel::search_hits(App& app, const Ui& ui) {
  const SearchHits& hits = app.hits;
  heading(ui, fmt::format("{} for '{}'", analyzer::count_of(hits.total, "event"), hits.text));
  choose_kind(app, ui);
  if (hits.total > hits.hits.size())
    faint(ui, fmt::format("the first {} are listed", analyzer::format_count(hits.hits.size())));
  ImGui::BeginChild("hits");
  std::optional<std::size_t> clicked;
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(hits.hits.size()));
  while (clipper.Step()) {
    for (int line = clipper.DisplayStart; line < clipper.DisplayEnd; ++line) {
      const auto index = static_cast<std::size_t>(line);
      const SearchHit& one = hits.hits[index];
      const auto ref = find_row(*app.model(), one.row);
      const std::string title = ref ? title_of(*app.model(), *ref) : std::string(kind_name(one.row.kind));
      ImGui::PushID(line);
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float width = ImGui::GetContentRegionAvail().x;
      if (ImGui::Selectable("##hit", index == app.hit)) clicked = index;
      note_item(ui, fmt::format("hit.{}", line));
      draw_text(ImGui::GetWindowDrawList(), ui.regular,
                {at.x + ui.px(4), at.y, width - ui.px(180), size_of(ui.regular)}, ink(ui.theme().text), title);
      draw_text(ImGui::GetWindowDrawList(), ui.small, {at.x, at.y, width - ui.px(6), size_of(ui.regular)},
                ink(ui.theme().faint),
                fmt::format("{:.6f} s{}", static_cast<double>(one.begin - app.timeline()->begin) / kSecond,
                            one.end > one.begin ? ", " + analyzer::format_duration(one.end - one.begin) : ""),
                Align::right);
      ImGui::PopID();
    }
  }
  if (shown_hit_ != app.hit) ImGui::SetScrollY(static_cast<float>(app.hit) * ImGui::GetTextLineHeightWithSpacing());
  shown_hit_ = app.hit;
  ImGui::EndChild();
  if (!clicked) return;
  app.hit = *clicked;
  shown_hit_ = *clicked;
  app.go_to(app.hits.hits[*clicked]);
}

/// Before a selection: the answer on the left, the worst findings on the right.
void TimelinePanel::answer(App& app, const Ui& ui, float width) {
  const Facts* facts = app.facts();
  if (facts == nullptr) {
    heading(ui, app.progress().doing.empty() ? "The timeline" : "The analysis is on its way");
    faint(ui, "Click an event to see its details; drag over tracks to sum up a stretch of time. ? shows all keys.");
    return;
  }
  if (words_version_ != app.snapshot().version) {
    words_ = first_words(*app.model(), facts->analysis, facts->comparison, app.path());
    words_version_ = app.snapshot().version;
  }
  const reports::TraceVerdict& verdict = words_.verdict;
  const Theme& theme = ui.theme();
  const Colour tone = verdict.tone == reports::Tone::good   ? theme.good
                      : verdict.tone == reports::Tone::bad  ? theme.bad
                      : verdict.tone == reports::Tone::warn ? theme.warn
                                                            : theme.text;
  ImGui::BeginChild("answer", ImVec2(width * 0.46f, 0));
  ImGui::PushStyleColor(ImGuiCol_Text, ink(tone));
  ImGui::PushFont(ui.bold);
  paragraph(ui, verdict.headline);
  ImGui::PopFont();
  ImGui::PopStyleColor();
  if (!verdict.detail.empty()) paragraph(ui, verdict.detail);
  if (ImGui::Button("Copy the next command")) {
    ImGui::SetClipboardText(verdict.command.c_str());
    app.notice = "copied: " + verdict.command;
  }
  note_item(ui, "answer.next");
  ImGui::PushFont(ui.mono);
  faint(ui, verdict.command);
  ImGui::PopFont();
  if (const auto missing = no_strips(*app.model(), facts->analysis, app.snapshot().large))
    faint(ui, missing->reason + " Next: " + missing->command);
  ImGui::EndChild();
  ImGui::SameLine(0, ui.px(16));
  ImGui::BeginChild("worst");
  for (const std::size_t index : words_.worst) {
    const analyzer::Finding& finding = facts->analysis.findings[index];
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const Colour colour = finding.severity == analyzer::Severity::critical  ? ui.theme().bad
                          : finding.severity == analyzer::Severity::warning ? ui.theme().warn
                                                                            : ui.theme().faint;
    const float line = ImGui::GetContentRegionAvail().x, height = ui.px(36);
    if (ImGui::InvisibleButton(fmt::format("worst.{}", index).c_str(), ImVec2(std::max(line, 1.0f), height)))
      app.show("findings");
    note_item(ui, fmt::format("worst.{}", index));
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", (finding.text + "\n" + finding.remedy).c_str());
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(at, ImVec2(at.x + ui.px(4), at.y + height - ui.px(4)), ink(colour));
    draw_text(list, ui.regular, {at.x + ui.px(12), at.y - ui.px(1), line - ui.px(12), ui.px(18)}, ink(ui.theme().text),
              finding.text);
    draw_text(list, ui.small, {at.x + ui.px(12), at.y + ui.px(16), line - ui.px(12), ui.px(16)}, ink(ui.theme().faint),
              finding.remedy);
  }
  ImGui::EndChild();
}

void TimelinePanel::draw(App& app, const Ui& ui) {
  if (draw_not_ready(app, ui, false)) return;
  if (app.timeline()->tracks.empty()) {
    begin_card(ui, "nothing", ImGui::GetContentRegionAvail().x, 0);
    draw_nothing(app, ui, "Nothing to show on a timeline", no_tracks());
    return end_card();
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const float details = ui.px(168), gap = ui.px(6);
  draw_timeline(app, ui, {at.x, at.y, size.x, size.y - details}, timeline_);
  const bool listed = !app.hits.hits.empty();
  const float right = app.area ? size.x * 0.5f : listed ? size.x * 0.34f : 0;
  const float left = right > 0 ? size.x - right - gap : size.x;
  ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + size.y - details));
  begin_card(ui, "details", left, details);
  note_rect(ui, "details", {at.x, at.y + size.y - details, left, details});
  if (app.area) {
    area_sums(app, ui);
  } else if (app.selected) {
    selected_facts(app, ui, selected_facts_.of(app));
  } else {
    answer(app, ui, left - ui.px(28));
  }
  end_card();
  if (right <= 0) return;
  ImGui::SetCursorScreenPos(ImVec2(at.x + left + gap, at.y + size.y - details));
  begin_card(ui, "beside", right, details);
  if (app.area) {
    area_sites(app, ui);
  } else {
    search_hits(app, ui);
  }
  end_card();
}

}  // namespace wicprof::gui
