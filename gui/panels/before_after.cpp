// Before and after as tiles: iteration time, waiting, polls, the ratio with its interval, and the verdict.
#include <fmt/format.h>

#include "analyzer/words/change.h"
#include "analyzer/words/format.h"
#include "gui/panels/parts.h"
#include "gui/view/lines.h"

namespace wicprof::gui {

namespace {

void tile(const Ui& ui, Rect where, Colour top, std::string_view title, std::string_view value,
          const std::vector<std::string>& lines) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Theme& theme = ui.theme();
  list->AddRectFilled(ImVec2(where.x, where.y), ImVec2(where.x + where.width, where.y + where.height), ink(theme.page),
                      ui.px(6));
  list->AddRectFilled(ImVec2(where.x, where.y), ImVec2(where.x + where.width, where.y + ui.px(4)), ink(top), ui.px(2));
  const float x = where.x + ui.px(12), width = where.width - ui.px(24);
  float y = where.y + ui.px(8);
  draw_text(list, ui.small, {x, y, width, ui.px(18)}, ink(theme.faint), title);
  y += ui.px(18);
  draw_text(list, ui.large, {x, y, width, ui.px(28)}, ink(theme.text), value);
  y += ui.px(28);
  const float row = ui.px(16);
  for (const std::string& line : lines) {
    const std::vector<std::string> rows =
        lines_of(line, width, [&](std::string_view text) { return text_width(ui.small, text); });
    for (std::size_t i = 0; i < rows.size() && y + row <= where.y + where.height; ++i, y += row) {
      // The last row that fits says that there is more.
      const bool cut = i + 1 < rows.size() && y + 2 * row > where.y + where.height;
      draw_text(list, ui.small, {x, y, width, row}, ink(theme.faint), cut ? rows[i] + ' ' + rows[i + 1] : rows[i]);
    }
  }
}

std::vector<std::string> waits_of(const SegmentLine& line) {
  const std::string iterations = analyzer::count_of(line.iterations, "iteration");
  std::vector<std::string> texts;
  if (line.polls_per_wait) {
    texts = {fmt::format("{}, {} of the time waiting", iterations, analyzer::format_percent(line.wait_share)),
             analyzer::format_number(*line.polls_per_wait) + " polls per wait"};
  } else {
    texts = {iterations};
    if (!line.host_cpus) texts.push_back("no waits inside kernels");
  }
  if (line.host_cpus) texts.push_back(fmt::format("waiting host threads take {:.2f} CPUs", *line.host_cpus));
  return texts;
}

void side(const Ui& ui, Rect where, const std::string& title, const SegmentLine& line) {
  tile(ui, where, colour_of(ui, state_of_mode(line.mode)),
       fmt::format("{}: {}{}", title, line.way, line.phases > 1 ? fmt::format(", {} phases", line.phases) : ""),
       line.iteration_p50 ? analyzer::format_duration(*line.iteration_p50) + " per iteration" : "no iterations",
       waits_of(line));
}

}  // namespace

void draw_before_after(const Ui& ui, const BeforeAfter& values) {
  const Theme& theme = ui.theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, gap = ui.px(10);
  // Side by side if the width allows, else one below the other.
  const int tiles = values.before && values.after ? 3 : 1;
  const bool beside = width > ui.px(560);
  const float height = ui.px(beside ? 112 : 94);
  note_rect(ui, "before_after", {at.x, at.y, width, height});
  const float one = beside ? (width - gap * static_cast<float>(tiles - 1)) / static_cast<float>(tiles) : width;
  // A narrow verdict needs more lines.
  const float verdict_height = beside ? height : ui.px(150);
  int place = 0;
  const auto next = [&] {
    const int number = place++;
    const float offset = static_cast<float>(number);
    return beside ? Rect{at.x + offset * (one + gap), at.y, one, height}
                  : Rect{at.x, at.y + offset * (height + gap), one, number + 1 == tiles ? verdict_height : height};
  };
  if (tiles == 3) {
    side(ui, next(), values.before->trace.empty() ? "before" : values.before->trace, *values.before);
    side(ui, next(), values.after->trace.empty() ? "after" : values.after->trace, *values.after);
  }
  const Colour top = values.verdict == analyzer::Verdict::improvement  ? theme.good
                     : values.verdict == analyzer::Verdict::regression ? theme.bad
                                                                       : theme.faint;
  std::vector<std::string> lines;
  std::string change = "not known yet";
  if (values.speedup) {
    const analyzer::ChangeRange range =
        analyzer::change_of_speedup(values.speedup->value, values.speedup->low, values.speedup->high);
    change = analyzer::change_text(range.value);
    lines.push_back("interval of the iteration time: " + analyzer::change_interval_text(range));
  }
  lines.emplace_back(values.reason);
  if (!values.settle.empty()) lines.push_back("To settle it: " + values.settle);
  const Rect last = next();
  tile(
      ui, last, top,
      fmt::format("verdict: {}{}", analyzer::verdict_name(values.verdict), values.why.empty() ? "" : ", " + values.why),
      change, lines);
  if (ImGui::IsMouseHoveringRect(ImVec2(last.x, last.y), ImVec2(last.x + last.width, last.y + last.height)) &&
      !values.reason.empty())
    ImGui::SetTooltip("%s", values.reason.c_str());
  ImGui::Dummy(ImVec2(width, beside ? height : static_cast<float>(tiles - 1) * (height + gap) + verdict_height));
}

}  // namespace wicprof::gui
