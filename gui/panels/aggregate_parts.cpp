#include "gui/panels/aggregate_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"

namespace wicprof::gui {

namespace {

using analyzer::WaitDistribution;
using analyzer::WaitHistogram;
using analyzer::WaitWay;
using analyzer::WayFigures;

float widest_word(const Ui& ui, std::string_view text) {
  float widest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    widest = std::max(widest, text_width(ui.regular, text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return widest;
}

/// The head of a column: a title that is wider than the column takes several lines.
void draw_head(const Ui& ui, std::string_view title, float width) {
  std::string line;
  while (!title.empty()) {
    const std::size_t end = std::min(title.find(' '), title.size());
    const std::string word(title.substr(0, end)), longer = line.empty() ? word : line + ' ' + word;
    if (!line.empty() && text_width(ui.regular, longer) > width) {
      right_aligned(line);
      line = word;
    } else {
      line = longer;
    }
    title.remove_prefix(std::min(end + 1, title.size()));
  }
  right_aligned(line);
}

void draw_histogram(const Ui& ui, const WaitHistogram& values, std::optional<WaitWay> way, float height) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, axis = ui.px(20);
  const float left = ui.px(52), plot = width - left, tall = height - axis - ui.px(8), top = at.y + ui.px(8);
  const std::uint64_t most = std::max<std::uint64_t>(1, values.most_of(way));
  for (const double part : {0.0, 0.5, 1.0}) {
    const float y = top + tall * static_cast<float>(1 - part);
    list->AddLine(ImVec2(at.x + left, y), ImVec2(at.x + width, y), ink(ui.theme().line), 1);
    draw_text(list, ui.small, {at.x, y - ui.px(8), left - ui.px(8), ui.px(16)}, ink(ui.theme().faint),
              analyzer::format_count(static_cast<std::uint64_t>(part * static_cast<double>(most))), Align::right);
  }
  const float step = plot / static_cast<float>(values.bins.size());
  float labelled_to = 0;
  constexpr std::size_t kBinsPerLabel = 4;
  const std::size_t every = values.bins.size() > kBinsPerLabel ? kBinsPerLabel : 1;
  for (std::size_t i = 0; i < values.bins.size(); ++i) {
    const WaitHistogram::Bin& bin = values.bins[i];
    const float x = at.x + left + static_cast<float>(i) * step;
    float base = top + tall;
    std::uint64_t shown = 0;
    for (const WaitWay one : analyzer::kWaitWays) {
      const std::uint64_t count = way && *way != one ? 0 : bin.of(one);
      const float h = tall * static_cast<float>(count) / static_cast<float>(most);
      if (count > 0)
        list->AddRectFilled(ImVec2(x + 1, base - std::max(h, 1.0f)), ImVec2(x + step - 1, base),
                            state_ink(ui, analyzer::state_of_way(one)));
      base -= h;
      shown += count;
    }
    const std::string label = analyzer::format_duration(bin.begin);
    const float text = text_width(ui.small, label);
    if (i % every == 0 && x >= labelled_to && x + text < at.x + width) {
      draw_text(list, ui.small, {x, top + tall + ui.px(2), text + 1, axis}, ink(ui.theme().faint), label);
      labelled_to = x + text + ui.px(12);
    }
    if (ImGui::IsMouseHoveringRect(ImVec2(x, top), ImVec2(x + step, top + tall)))
      ImGui::SetTooltip("%s to %s: %s", label.c_str(), analyzer::format_duration(bin.end).c_str(),
                        analyzer::count_of(shown, "wait").c_str());
  }
  ImGui::Dummy(ImVec2(width, height));
}

}  // namespace

std::optional<analyzer::WorstWait> draw_lengths(const Ui& ui, const WaitDistribution& lengths,
                                                std::optional<WaitWay>& way, float height) {
  if (lengths.ways.empty()) {
    faint(ui, "No wait is in this choice.");
    return std::nullopt;
  }
  const bool occurs = !way || std::any_of(lengths.ways.begin(), lengths.ways.end(),
                                          [&](const WayFigures& one) { return one.way == *way; });
  const std::optional<WaitWay> shown = occurs ? way : std::nullopt;
  if (lengths.ways.size() > 1) {
    if (segment_button(ui, "lengths.all", "all", !shown, ui.theme().accent)) way.reset();
    for (const WayFigures& one : lengths.ways) {
      ImGui::SameLine(0, ui.px(2));
      const State state = analyzer::state_of_way(one.way);
      if (segment_button(ui, fmt::format("lengths.{}", analyzer::way_key(one.way)),
                         std::string(analyzer::look_of(state).name).c_str(), shown == one.way, colour_of(ui, state)))
        way = one.way;
    }
  }
  if (lengths.ways.size() == 1) legend(ui, {analyzer::state_of_way(lengths.ways.front().way)});
  if (!lengths.histogram.bins.empty()) draw_histogram(ui, lengths.histogram, shown, height);
  if (lengths.histogram.instant > 0)
    faint(ui, analyzer::count_of(lengths.histogram.instant, "wait") + " shorter than 10 ns not drawn");
  std::vector<FigureLine> lines;
  for (const WayFigures& one : lengths.ways) {
    if (!shown || *shown == one.way)
      lines.push_back({std::string(analyzer::look_of(analyzer::state_of_way(one.way)).name), &one.figures});
  }
  const std::optional<std::size_t> clicked = draw_figures(ui, "lengths.figures", "", lines);
  return clicked ? lines[*clicked].figures->worst : std::nullopt;
}

std::optional<std::size_t> draw_figures(const Ui& ui, const std::string& id, const std::string& title,
                                        const std::vector<FigureLine>& lines) {
  // Columns without any value would only take room.
  bool known[analyzer::kFigureColumns.size()] = {};
  std::vector<std::array<std::string, analyzer::kFigureColumns.size()>> texts;
  for (const FigureLine& line : lines) {
    texts.push_back(analyzer::figure_cells(*line.figures));
    for (std::size_t i = 0; i < texts.back().size(); ++i) known[i] = known[i] || texts.back()[i] != "-";
  }
  const auto columns = static_cast<int>(1 + std::count(std::begin(known), std::end(known), true));
  if (!ImGui::BeginTable(id.c_str(), columns, ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingStretchProp))
    return std::nullopt;
  std::optional<std::size_t> clicked;
  // In proportion to the widest words of the titles; a column of values is at least as wide as "12.3 ms".
  const float least = text_width(ui.regular, "12.3 ms") + ui.px(6);
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch, 2.6f * least);
  for (std::size_t i = 0; i < std::size(known); ++i) {
    if (known[i])
      ImGui::TableSetupColumn(std::string(analyzer::kFigureColumns[i].title).c_str(),
                              ImGuiTableColumnFlags_WidthStretch,
                              std::max(least, widest_word(ui, analyzer::kFigureColumns[i].title) + ui.px(6)));
  }
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  faint(ui, title);
  for (std::size_t i = 0; i < std::size(known); ++i) {
    if (!known[i]) continue;
    const analyzer::FigureColumn& column = analyzer::kFigureColumns[i];
    ImGui::TableNextColumn();
    ImGui::PushStyleColor(ImGuiCol_Text, ink(ui.theme().faint));
    const float width = ImGui::GetContentRegionAvail().x;
    ImGui::BeginGroup();
    draw_head(ui, column.title, width);
    ImGui::EndGroup();
    ImGui::PopStyleColor();
    note_item(ui, fmt::format("{}.head.{}", id, column.title));
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", std::string(column.meaning).c_str());
  }
  for (std::size_t row = 0; row < lines.size(); ++row) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    const std::string item = fmt::format("{}.{}", id, row);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = ImGui::GetTextLineHeight();
    if (ImGui::Selectable(("##" + item).c_str(), false, ImGuiSelectableFlags_SpanAllColumns)) clicked = row;
    note_item(ui, item);
    draw_text(ImGui::GetWindowDrawList(), ui.regular, {at.x, at.y, width, height}, ink(ui.theme().text),
              lines[row].name);
    if (ImGui::IsItemHovered() && text_width(ui.regular, lines[row].name) > width)
      ImGui::SetTooltip("%s", lines[row].name.c_str());
    for (std::size_t i = 0; i < std::size(known); ++i) {
      if (!known[i]) continue;
      ImGui::TableNextColumn();
      right_aligned(texts[row][i]);
    }
  }
  ImGui::EndTable();
  return clicked;
}

void draw_nothing(App& app, const Ui& ui, const std::string& title, const NothingToShow& why) {
  app.nothing = why;
  heading(ui, title);
  paragraph(ui, why.reason);
  if (why.command.empty()) return;
  ImGui::Dummy(ImVec2(0, ui.px(4)));
  if (ImGui::Button("Copy")) {
    ImGui::SetClipboardText(why.command.c_str());
    app.notice = "copied: " + why.command;
  }
  note_item(ui, "nothing.copy");
  ImGui::SameLine(0, ui.px(10));
  ImGui::AlignTextToFramePadding();
  ImGui::PushFont(ui.mono);
  paragraph(ui, why.command);
  ImGui::PopFont();
}

}  // namespace wicprof::gui
