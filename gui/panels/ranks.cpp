// The ranks of an MPI program: a matrix rank by time, a part of the time with all ranks under each other, and what each
// rank cost the others.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "analyzer/words/format.h"
#include "gui/panels/aggregate_parts.h"
#include "gui/panels/parts.h"
#include "protocol/mpi_operation.h"
#include "reports/parts/rank_matrix.h"

namespace wicprof::gui {

namespace {

using analyzer::format_duration;
using analyzer::MpiWait;
using reports::RankMatrix;

/// More would be lower than a line of text. Groups of ranks share a row then.
constexpr std::size_t kRows = 64, kColumns = 100;
/// Columns that are shown on both sides of the chosen one.
constexpr TimeNs kBeside = 1;
/// Calls that are drawn of one part of the time.
constexpr std::size_t kMostCalls = 20'000;

std::string rank_label(std::int32_t first, std::int32_t last) {
  return first == last ? fmt::format("rank {}", first) : fmt::format("{} to {}", first, last);
}

/// Who waits at a place of the matrix, and when.
struct Chosen {
  std::size_t row = 0, column = 0;
};

/// A picture with a row for each rank or group: names on the left, time to the right.
struct Place {
  ImVec2 at;
  float names, width, row;
  float y(std::size_t index) const { return at.y + row * static_cast<float>(index); }
  float left() const { return at.x + names; }
};

Place place_for(const Ui& ui, std::size_t rows, float highest) {
  const float names = ui.px(84), width = std::max(ImGui::GetContentRegionAvail().x - names - ui.px(4), 1.0f);
  return {ImGui::GetCursorScreenPos(), names, width, std::clamp(ui.px(220) / static_cast<float>(rows), 3.0f, highest)};
}

/// Names of rows that are as high as a line of text, and of some of lower ones.
void draw_names(const Ui& ui, const Place& place, const RankMatrix& matrix) {
  const float line = ui.px(14);
  const auto every = static_cast<std::size_t>(std::max(1.0f, line / place.row + 0.99f));
  for (std::size_t i = 0; i < matrix.rows.size(); i += every)
    draw_text(ImGui::GetWindowDrawList(), ui.small,
              {place.at.x, place.y(i), place.names - ui.px(8), std::max(place.row, line)}, ink(ui.theme().faint),
              rank_label(matrix.rows[i].first, matrix.rows[i].last), Align::right);
}

/// Of the rules that judge a job's ranks against each other.
bool is_of_ranks(std::string_view rule) {
  return rule == "late_rank" || rule == "imbalance" || rule == "slow_device" || rule == "slow_link";
}

}  // namespace

class RanksPanel final : public Panel {
  void draw(App& app, const Ui& ui) override;
  void read(const App& app);
  void draw_matrix(const Ui& ui);
  void draw_cells(const Ui& ui, const Place& place, const std::vector<TimeNs> RankMatrix::Row::*values, TimeNs most);
  void draw_part(App& app, const Ui& ui);
  void draw_lane(const Ui& ui, const Place& place, std::size_t index, analyzer::Interval part);
  void draw_costs(const Ui& ui, const analyzer::MpiWaits& mpi);
  analyzer::Interval part() const;

  RankMatrix matrix_;
  std::map<store::ProcessId, std::size_t> row_of_;  // of the matrix
  std::shared_ptr<const Facts> of_;
  std::optional<Chosen> chosen_;
  bool own_waits_ = false;
};

template <>
std::unique_ptr<Panel> make_panel<RanksPanel>() {
  return std::make_unique<RanksPanel>();
}

/// The matrix of the newest facts. The longest wait is chosen until the user chooses another part.
void RanksPanel::read(const App& app) {
  const std::shared_ptr<const Facts> facts = app.snapshot().facts;
  if (of_ == facts) return;
  of_ = facts;
  const analyzer::TraceModel& model = facts->model ? *facts->model : *app.model();
  matrix_ = reports::rank_matrix(model, facts->analysis, kRows, kColumns);
  row_of_.clear();
  chosen_.reset();
  for (const analyzer::RankCost& cost : facts->analysis.mpi.ranks) {
    for (std::size_t i = 0; i < matrix_.rows.size(); ++i) {
      if (matrix_.rows[i].first <= cost.rank && cost.rank <= matrix_.rows[i].last) row_of_[cost.process] = i;
    }
  }
  for (std::size_t row = 0; row < matrix_.rows.size(); ++row) {
    const std::vector<TimeNs>& values = matrix_.rows[row].waited_for;
    const auto most = std::max_element(values.begin(), values.end());
    if (most == values.end() || (chosen_ && *most <= matrix_.rows[chosen_->row].waited_for[chosen_->column])) continue;
    chosen_ = Chosen{row, static_cast<std::size_t>(most - values.begin())};
  }
}

analyzer::Interval RanksPanel::part() const {
  const auto column = static_cast<TimeNs>(chosen_->column), all = static_cast<TimeNs>(matrix_.columns);
  const TimeNs first = std::max<TimeNs>(column - kBeside, 0), last = std::min<TimeNs>(column + 1 + kBeside, all);
  return {matrix_.begin + first * matrix_.column, matrix_.begin + last * matrix_.column};
}

void RanksPanel::draw_cells(const Ui& ui, const Place& place, const std::vector<TimeNs> RankMatrix::Row::*values,
                            TimeNs most) {
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const float column = place.width / static_cast<float>(matrix_.columns);
  list->AddRectFilled(ImVec2(place.left(), place.at.y),
                      ImVec2(place.left() + place.width, place.y(matrix_.rows.size())), ink(ui.theme().lane));
  for (std::size_t row = 0; row < matrix_.rows.size(); ++row) {
    for (std::size_t at = 0; at < matrix_.columns; ++at) {
      const TimeNs value = (matrix_.rows[row].*values)[at];
      if (value <= 0 || most <= 0) continue;
      const auto share = static_cast<float>(static_cast<double>(value) / static_cast<double>(most));
      const float x = place.left() + column * static_cast<float>(at);
      list->AddRectFilled(ImVec2(x, place.y(row)), ImVec2(x + column, place.y(row + 1)),
                          ink(ui.theme().accent, 0.15f + 0.85f * share));
    }
  }
}

void RanksPanel::draw_matrix(const Ui& ui) {
  if (segment_button(ui, "ranks.waited_for", "waited for", !own_waits_, ui.theme().accent)) own_waits_ = false;
  ImGui::SameLine(0, ui.px(2));
  if (segment_button(ui, "ranks.waited", "waited", own_waits_, ui.theme().accent)) own_waits_ = true;
  const TimeNs most = own_waits_ ? matrix_.most_waited : matrix_.most_waited_for;
  faint(ui,
        fmt::format("{} in each column of {}, up to {}. A click shows that part below.",
                    own_waits_ ? "How long each rank waited for others" : "How long the others waited for each rank",
                    format_duration(matrix_.column), format_duration(most)));
  const Place place = place_for(ui, matrix_.rows.size(), ui.px(18));
  const auto values = own_waits_ ? &RankMatrix::Row::waited : &RankMatrix::Row::waited_for;
  draw_cells(ui, place, values, most);
  draw_names(ui, place, matrix_);
  const float height = place.row * static_cast<float>(matrix_.rows.size());
  ImGui::SetCursorScreenPos(ImVec2(place.left(), place.at.y));
  const bool pressed = ImGui::InvisibleButton("ranks.matrix", ImVec2(place.width, height));
  note_item(ui, "ranks.matrix");
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const float column = place.width / static_cast<float>(matrix_.columns);
  const auto below = [](float at, float size, std::size_t many) {
    return std::min(many - 1, static_cast<std::size_t>(std::max(at, 0.0f) / size));
  };
  const Chosen under{below(mouse.y - place.at.y, place.row, matrix_.rows.size()),
                     below(mouse.x - place.left(), column, matrix_.columns)};
  if (pressed) chosen_ = under;
  if (ImGui::IsItemHovered()) {
    const RankMatrix::Row& row = matrix_.rows[under.row];
    ImGui::SetTooltip("%s, %s from %s on: waited %s; the others waited %s for it",
                      rank_label(row.first, row.last).c_str(), format_duration(matrix_.column).c_str(),
                      format_duration(matrix_.column * static_cast<TimeNs>(under.column)).c_str(),
                      format_duration(row.waited[under.column]).c_str(),
                      format_duration(row.waited_for[under.column]).c_str());
  }
  if (chosen_) {
    const auto x = [&](TimeNs time) {
      return place.left() + column * static_cast<float>((time - matrix_.begin) / matrix_.column);
    };
    ImGui::GetWindowDrawList()->AddRect(ImVec2(x(part().begin) - 1, place.at.y - 1),
                                        ImVec2(x(part().end) + 1, place.at.y + height + 1), ink(ui.theme().text), 0, 0,
                                        ui.px(1.5f));
  }
}

/// The calls of a row's ranks; the parts in which they waited for another rank are coloured.
void RanksPanel::draw_lane(const Ui& ui, const Place& place, std::size_t index, analyzer::Interval part) {
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const float top = place.y(index) + 1, bottom = std::max(place.y(index + 1) - 1, top + 1);
  const auto x = [&](TimeNs time) {
    const double share = static_cast<double>(time - part.begin) / static_cast<double>(part.end - part.begin);
    return place.left() + place.width * static_cast<float>(std::clamp(share, 0.0, 1.0));
  };
  const auto bar = [&](TimeNs begin, TimeNs end, ImU32 colour) {
    list->AddRectFilled(ImVec2(x(begin), top), ImVec2(std::max(x(end), x(begin) + 1), bottom), colour);
  };
  list->AddRectFilled(ImVec2(place.left(), top), ImVec2(place.left() + place.width, bottom), ink(ui.theme().lane));
  const auto is_here = [&](store::ProcessId process, TimeNs begin, TimeNs end) {
    const auto row = row_of_.find(process);
    return row != row_of_.end() && row->second == index && begin < part.end && end > part.begin;
  };
  const auto& calls = of_->model->mpi_calls;
  std::size_t drawn = 0;
  for (const store::MpiCallRow& call : calls) {
    if (call.begin >= part.end || drawn == kMostCalls) break;
    if (!is_here(call.process, call.begin, call.end)) continue;
    bar(call.begin, call.end, state_ink(ui, State::calling));
    ++drawn;
  }
  drawn = 0;
  for (const store::MpiRequestRow& request : of_->model->mpi_requests) {
    if (request.begin >= part.end || drawn == kMostCalls) break;
    if (!is_nccl(request.operation) || !is_here(request.process, request.begin, request.end)) continue;
    bar(request.begin, request.end, state_ink(ui, State::calling));
    ++drawn;
  }
  drawn = 0;
  for (const MpiWait& wait : of_->analysis.mpi.waits) {
    if (wait.begin >= part.end || drawn == kMostCalls) break;
    if (!is_here(wait.waiter, wait.begin, wait.end)) continue;
    bar(wait.begin, wait.end, state_ink(ui, State::host_waiting));
    ++drawn;
  }
}

void RanksPanel::draw_part(App& app, const Ui& ui) {
  const analyzer::Interval shown = part();
  heading(ui, fmt::format("All ranks, from {} to {}", format_duration(shown.begin - matrix_.begin),
                          format_duration(shown.end - matrix_.begin)));
  faint(ui,
        "Calls of MPI and kernels of NCCL, and the waits for ranks that had not come; between these a rank is at work. "
        "All on one clock.");
  legend(ui, ui.drawn_last);
  const Place place = place_for(ui, matrix_.rows.size(), ui.px(22));
  for (std::size_t i = 0; i < matrix_.rows.size(); ++i) draw_lane(ui, place, i, shown);
  draw_names(ui, place, matrix_);
  const float height = place.row * static_cast<float>(matrix_.rows.size());
  ImGui::SetCursorScreenPos(ImVec2(place.left(), place.at.y));
  const bool pressed = ImGui::InvisibleButton("ranks.part", ImVec2(place.width, height));
  note_item(ui, "ranks.part");
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("a click shows this part on the timeline");
  if (!pressed) return;
  const float down = ImGui::GetIO().MousePos.y - place.at.y;
  const auto row = std::min(matrix_.rows.size() - 1, static_cast<std::size_t>(std::max(down, 0.0f) / place.row));
  const store::ProcessId process = matrix_.rows[row].process;
  app.show(kTimelineView);
  app.window.follow(false);
  app.window.show(shown.begin, shown.end);
  if (process != 0) app.selected_track = fmt::format("thread/{0}/{0}", process);
}

void RanksPanel::draw_costs(const Ui& ui, const analyzer::MpiWaits& mpi) {
  heading(ui, "What each rank cost the others");
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_RowBg;
  if (!ImGui::BeginTable("ranks.costs", 4, kFlags)) return;
  for (const char* const head : {"rank", "cost the others", "waited", "late in"}) ImGui::TableSetupColumn(head);
  ImGui::TableHeadersRow();
  for (std::size_t i = 0; i < std::min(mpi.ranks.size(), kRows); ++i) {
    const analyzer::RankCost& cost = mpi.ranks[i];
    ImGui::TableNextRow();
    const std::string cells[] = {fmt::format("{}", cost.rank), format_duration(cost.cost_ns),
                                 format_duration(cost.waited_ns),
                                 cost.cost_ns == 0 ? "-" : std::string(mpi_operation_name(cost.operation))};
    for (const std::string& cell : cells) {
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(cell.c_str());
    }
  }
  ImGui::EndTable();
  if (mpi.ranks.size() > kRows)
    faint(ui, fmt::format("and {} more", analyzer::count_of(mpi.ranks.size() - kRows, "rank")));
}

void RanksPanel::draw(App& app, const Ui& ui) {
  if (draw_not_ready(app, ui, true)) return;
  read(app);
  const analyzer::Analysis& analysis = of_->analysis;
  const ImVec2 size = ImGui::GetContentRegionAvail();
  if (matrix_.rows.empty() || !chosen_ || of_->model == nullptr) {
    begin_card(ui, "nothing", size.x, 0);
    draw_nothing(app, ui, "No rank waits for another one", no_ranks(analysis, app.snapshot().large, app.path()));
    return end_card();
  }
  const float gap = ui.px(10), right = std::clamp(size.x * 0.3f, ui.px(300), ui.px(480));
  begin_card(ui, "matrix", size.x - right - gap, 0);
  draw_matrix(ui);
  ImGui::Dummy(ImVec2(0, ui.px(12)));
  draw_part(app, ui);
  end_card();
  ImGui::SameLine(0, gap);
  begin_card(ui, "costs", right, 0);
  for (const analyzer::Finding& finding : analysis.findings) {
    if (is_of_ranks(finding.rule)) paragraph(ui, finding.text);
  }
  for (const analyzer::Refusal& refusal : analysis.refusals) {
    if (is_of_ranks(refusal.rule)) faint(ui, refusal.reason);
  }
  ImGui::Dummy(ImVec2(0, ui.px(8)));
  draw_costs(ui, analysis.mpi);
  end_card();
}

}  // namespace wicprof::gui
