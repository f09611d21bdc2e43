// Drawings of aggregates of waits that several panels share: a histogram with its filter, and a table of figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/aggregates/party_words.h"
#include "gui/panels/panel.h"

namespace wicprof::gui {

/// How long waits take: buttons that filter by the way of waiting, a histogram of `height` pixels, and the figures of
/// each way. `way`: the user's choice; changes at a click. Returns the longest wait of a line that the user clicked.
std::optional<analyzer::WorstWait> draw_lengths(const Ui& ui, const analyzer::WaitDistribution& lengths,
                                                std::optional<analyzer::WaitWay>& way, float height);

/// A line of a table of figures.
struct FigureLine {
  std::string name;
  const analyzer::WaitFigures* figures = nullptr;
};
/// Columns as analyzer::kFigureColumns, with their meanings as tooltips. Returns the index of the line that the user
/// clicked. Items are called `id`.N.
std::optional<std::size_t> draw_figures(const Ui& ui, const std::string& id, const std::string& title,
                                        const std::vector<FigureLine>& lines);

/// In place of contents: the reason and a command, with a button that copies it. Sets App::nothing.
void draw_nothing(App& app, const Ui& ui, const std::string& title, const NothingToShow& why);

}  // namespace wicprof::gui
