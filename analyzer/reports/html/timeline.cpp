// The timeline: a picture, and over it what the script draws from the same lanes.
#include <fmt/format.h>

#include <array>

#include "analyzer/reports/format.h"
#include "analyzer/reports/html/charts.h"
#include "analyzer/reports/html/elements.h"
#include "analyzer/reports/html/lanes.h"
#include "analyzer/reports/html/sections.h"
#include "analyzer/reports/html/timeline_data.h"

namespace wicprof::analyzer::html {
namespace {

/// Only what occurs.
std::string legend(const Lanes& lanes) {
  std::array<bool, kDoings> seen{};
  for (const Lane& lane : lanes.list) {
    for (const Stretch& stretch : lane.stretches) seen[static_cast<std::size_t>(stretch.doing)] = true;
  }
  std::string out = "<div class=\"legend\">";
  for (std::size_t i = 0; i < kDoings; ++i) {
    if (seen[i]) out += fmt::format("<span><i class=\"{}\"></i>{}</span>", token_of(static_cast<Doing>(i)), words_of(static_cast<Doing>(i)));
  }
  return out + "<span><i class=\"lane\"></i>not waiting: computing or idle</span></div>\n";
}

}  // namespace

std::string timeline_part(const TraceModel& model, const Analysis& analysis) {
  const Lanes lanes = gather_lanes(model, analysis);
  if (lanes.list.empty() || model.end <= model.begin) return {};
  const std::vector<Interval> fine = close_ups(model, analysis);
  std::string body = "<div class=\"still\">\n" + still_timeline(model, lanes, {model.begin, model.end});
  if (!fine.empty()) {
    body += fmt::format("<h3>{}</h3>\n", model.interventions.empty() ? "Some iterations from the middle of the run"
                                                                      : "Around a change of the way of waiting") +
            still_timeline(model, lanes, fine.front());
  }
  body += "</div>\n<div id=\"moving-timeline\" hidden></div>\n" + legend(lanes);
  body += remark("A lane of a wait site is one SM: the filled height is the part of its waiting warps that wait. Where a site has "
                 "more than six SMs, six spread over all of them are drawn. What is too short to be drawn singly is summed "
                 "up, but not around changes of the way of waiting.");
  body += fmt::format("<script type=\"application/json\" id=\"timeline-data\">{}</script>\n", timeline_json(model, lanes, fine));
  return section("timeline", "Timeline", body,
                 "wic-prof gui " + shell_word(model.name));
}

}  // namespace wicprof::analyzer::html
