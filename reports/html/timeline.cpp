// The timeline: a still picture, which the script replaces by an interactive one with the same lanes. Two traces are
// drawn one above the other, aligned by their iterations.
#include <fmt/format.h>

#include <utility>

#include "analyzer/words/format.h"
#include "protocol/shell_words.h"
#include "reports/html/alignment.h"
#include "reports/html/charts.h"
#include "reports/html/drawing_style.h"
#include "reports/html/elements.h"
#include "reports/html/lanes.h"
#include "reports/html/sections.h"
#include "reports/html/timeline_data.h"
#include "reports/parts/phrases.h"

namespace wicprof::reports::html {
namespace {

/// One trace's part of the section.
struct Part {
  Part(const TraceModel& of, const Analysis& analysis, const std::vector<WakeEdge>& edges)
      : model(of), fine(close_ups(of, analysis)), lanes(gather_lanes(of, analysis, edges, fine)) {}
  bool empty() const { return lanes.list.empty() || model.end <= model.begin; }

  const TraceModel& model;
  std::vector<Interval> fine;
  Lanes lanes;
};

/// Names only the colours that occur.
std::string legend(const std::vector<const Part*>& parts) {
  Looks looks;
  for (const Part* part : parts) {
    for (const Lane& lane : part->lanes.list) looks.add(lane.looks);
  }
  return fmt::format("<div class=\"legend\">{}<span>{}not waiting: computing or idle</span></div>\n",
                     legend_entries(looks), swatch("lane"));
}

/// The element and the data for the interactive timeline. `side`: empty for the trace that the report describes.
std::string interactive(const Part& part, std::string_view side, std::string_view title) {
  return fmt::format(
      "<div class=\"moving\" id=\"moving-timeline{}\" data-title=\"{}\" hidden></div>\n"
      "<script type=\"application/json\" id=\"timeline-data{}\">{}</script>\n",
      side, text_of(title), side, timeline_json(part.model, part.lanes, part.fine));
}

std::string about_lanes() {
  return remark(
      "A lane of a wait site is one SM: the filled height is the share of its warps that wait. If a site has more than "
      "six SMs, the timeline shows six of them, evenly chosen. Events too short to be drawn one by one are "
      "aggregated, except around changes of mode.");
}

std::string one_trace(const Part& part) {
  const TraceModel& model = part.model;
  std::string body = "<div class=\"still\">\n" + still_timeline(model, part.lanes, {model.begin, model.end});
  if (!part.fine.empty()) {
    body += fmt::format("<h3>{}</h3>\n", model.interventions.empty() ? "Some iterations from the middle of the run"
                                                                     : "Around a change of mode") +
            still_timeline(model, part.lanes, part.fine.front());
  }
  return body + "</div>\n" + interactive(part, "", "") + legend({&part}) + about_lanes();
}

/// One of two traces, with the iterations that are compared.
AlignedTrace aligned(const TraceModel& model, const Comparison* comparison, bool first) {
  AlignedTrace trace{{model.begin, model.end}};
  if (comparison != nullptr && comparison->segments.size() == 2)
    trace.iterations = (first ? comparison->segments.front() : comparison->segments.back()).iterations;
  return trace;
}

std::string two_traces(Part before, Part after, const Comparison* comparison) {
  const Alignment alignment(aligned(before.model, comparison, true), aligned(after.model, comparison, false));
  // Both traces get the close-ups of either.
  std::vector<Interval> of_before = before.fine, of_after = after.fine;
  for (const Interval& one : before.fine) of_after.push_back(alignment.second_of(one));
  for (const Interval& one : after.fine) of_before.push_back(alignment.first_of(one));
  before.fine = merged(std::move(of_before), {before.model.begin, before.model.end});
  after.fine = merged(std::move(of_after), {after.model.begin, after.model.end});

  const std::string first = "before: " + before.model.name, second = "after: " + after.model.name;
  const auto still = [](const Part& part, std::string_view title, Interval window) {
    return fmt::format("<h3>{}</h3>\n", text_of(title)) + still_timeline(part.model, part.lanes, window);
  };
  std::string body = "<div class=\"still\">\n" + still(before, first, alignment.whole_of_first()) +
                     still(after, second, alignment.whole_of_second());
  if (!after.fine.empty()) {
    const Interval near = after.fine.front();
    const TimeNs begin = alignment.first_of(near.begin),
                 length = std::max(near.end - near.begin, alignment.first_of(near.end) - begin);
    body += still(before, first + ", some iterations", {begin, begin + length}) +
            still(after, second + ", the same iterations", {near.begin, near.begin + length});
  }
  body +=
      "</div>\n" + interactive(before, "-before", first) + interactive(after, "", second) +
      fmt::format("<script type=\"application/json\" id=\"timeline-pairs\">{}</script>\n", alignment.json(after.fine));
  return body + legend({&before, &after}) +
         remark(
             "Both traces begin at the same iteration on the left and have the same scale: the shorter one takes less "
             "time.") +
         about_lanes();
}

}  // namespace

std::string timeline_part(const ReportInput& input, const std::vector<WakeEdge>& edges) {
  Part part(input.model, input.analysis, edges);
  if (part.empty()) return {};
  std::string command = "wic-prof gui ";
  if (input.before != nullptr) {
    Part before(*input.before, analyze(*input.before, Parties::left_out), match(*input.before).edges);
    if (!before.empty()) {
      command += shell_word(input.before->name) + " " + shell_word(input.model.name);
      return section("timeline", "Timeline", two_traces(std::move(before), std::move(part), input.comparison), command);
    }
  }
  return section("timeline", "Timeline", one_trace(part), command + trace_words(input.model));
}

}  // namespace wicprof::reports::html
