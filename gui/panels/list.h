// All panels, in the order of their tabs; keys 1, 2, ... open them.
//
// To add a panel, write its file in this folder and add one line below. The file defines
// `template <> std::unique_ptr<Panel> make_panel<class NewPanel>()`.
#pragma once

#include "gui/panels/panel.h"

namespace wicprof::gui {

inline constexpr PanelKind kPanels[] = {
    {kTimelineView, "Timeline", make_panel<class TimelinePanel>},
    {kSitesView, "Wait sites", make_panel<class SitesPanel>},
    {kPartiesView, "Who waits", make_panel<class PartiesPanel>},
    {"findings", "Findings", make_panel<class FindingsPanel>},
    {"stalls", "Stalls", make_panel<class StallsPanel>},
    {"figures", "Figures", make_panel<class FiguresPanel>},
    {kToggleView, "Change", make_panel<class TogglePanel>},
    {kCompareView, "A/B", make_panel<class ComparePanel>},
    {kLiveView, "Live", make_panel<class LivePanel>},
    {"kernels", "Kernels", make_panel<class KernelsPanel>},
    {kRanksView, "Ranks", make_panel<class RanksPanel>},
};

}  // namespace wicprof::gui
