#include "reports/html/timeline_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "reports/parts/json.h"

namespace wicprof::reports::html {
namespace {

// Numbers of time cells: of all lanes together, and the limits per lane. Half of a lane's cells cover the whole trace,
// half the close-ups. They bound the size of the page (Reports.HtmlStaysSmallForALargeTrace).
constexpr std::size_t kCellsOfAll = 24'000, kFewestCells = 160, kMaxCells = 1'000;
constexpr std::size_t kEntriesPerCell = 4;  // a cell with more gets one aggregated entry
constexpr std::size_t kMaxArrows = 1'200;

using Edges = std::vector<TimeNs>;

std::size_t cells_per_lane(std::size_t lanes) {
  return std::clamp(kCellsOfAll / std::max<std::size_t>(lanes, 1), kFewestCells, kMaxCells);
}

void add_edges(Edges& edges, Interval window, std::size_t cells) {
  const double length = static_cast<double>(window.end - window.begin);
  for (std::size_t i = 0; i <= cells; ++i) {
    edges.push_back(window.begin + static_cast<TimeNs>(length * static_cast<double>(i) / static_cast<double>(cells)));
  }
}

Edges edges_of(const TraceModel& model, const std::vector<Interval>& fine, std::size_t cells) {
  Edges edges;
  add_edges(edges, {model.begin, model.end}, cells / 2);
  for (const Interval& window : fine) add_edges(edges, window, cells / 2 / fine.size());
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

using Counts = std::array<double, kStates>;

/// The number of waiters per state, from a time on.
struct Step {
  TimeNs at = 0;
  Counts counts{};
};

struct Change {
  TimeNs at = 0;
  State state = State::polling;
  double by = 0;
};

std::vector<Change> changes_of(const Lane& lane) {
  std::vector<Change> list;
  for (const Stretch& stretch : lane.stretches) {
    list.push_back({stretch.when.begin, stretch.state, static_cast<double>(stretch.count)});
    list.push_back({stretch.when.end, stretch.state, -static_cast<double>(stretch.count)});
  }
  std::sort(list.begin(), list.end(), [](const Change& a, const Change& b) { return a.at < b.at; });
  return list;
}

void add_step(std::vector<Step>& steps, TimeNs at, const Counts& counts) {
  if (!steps.empty() && steps.back().at == at) steps.pop_back();
  if (steps.empty() || steps.back().counts != counts) steps.push_back({at, counts});
}

/// Adds each change within one cell as a step, or one mean if the cell has more than kEntriesPerCell.
template <class Iterator>
void add_cell(std::vector<Step>& steps, TimeNs begin, TimeNs end, Iterator first, Iterator last, Counts& counts) {
  add_step(steps, begin, counts);
  const bool each = std::distance(first, last) <= static_cast<std::ptrdiff_t>(kEntriesPerCell);
  Counts sums{};
  TimeNs at = begin;
  const auto pass_to = [&](TimeNs time) {
    for (std::size_t i = 0; i < kStates; ++i) sums[i] += counts[i] * static_cast<double>(time - at);
    at = time;
  };
  for (; first != last; ++first) {
    pass_to(first->at);
    counts[static_cast<std::size_t>(first->state)] += first->by;
    if (each) add_step(steps, first->at, counts);
  }
  if (each) return;
  pass_to(end);
  for (double& sum : sums) sum = std::round(sum / static_cast<double>(end - begin) * 100) / 100;
  steps.pop_back();  // the step at the cell's begin
  add_step(steps, begin, sums);
}

std::vector<Step> steps_of(const Lane& lane, const Edges& edges) {
  std::vector<Step> steps;
  const std::vector<Change> changes = changes_of(lane);
  Counts counts{};
  auto next = changes.begin();
  for (; next != changes.end() && next->at < edges.front(); ++next)
    counts[static_cast<std::size_t>(next->state)] += next->by;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    auto last = next;
    while (last != changes.end() && last->at < edges[i + 1]) ++last;
    add_cell(steps, edges[i], edges[i + 1], next, last, counts);
    next = last;
  }
  add_step(steps, edges.back(), Counts{});
  return steps;
}

struct Span {
  explicit Span(const Stretch& first) : stretch(first) { add(first); }
  void add(const Stretch& one) {
    const auto time = static_cast<double>(one.length());
    count += one.count;
    busy += time;
    polled += time * one.polling;
  }
  double polling() const { return busy > 0 ? polled / busy : 0; }

  Stretch stretch;
  std::uint64_t count = 0;
  double busy = 0, polled = 0;  // in ns
};

/// In a lane with too many stretches, those within one cell become one span.
std::vector<Span> spans_of(const Lane& lane, const Edges& edges) {
  const bool many = lane.stretches.size() > 2 * edges.size();
  const auto cell_of = [&](TimeNs time) { return std::upper_bound(edges.begin(), edges.end(), time) - edges.begin(); };
  std::vector<Span> spans;
  std::ptrdiff_t last_cell = -1;
  for (const Stretch& stretch : lane.stretches) {
    const std::ptrdiff_t cell = many ? cell_of(stretch.when.begin) : -1;
    const bool within = many && cell == cell_of(stretch.when.end);
    if (within && cell == last_cell && spans.back().stretch.state == stretch.state) {
      Span& span = spans.back();
      span.stretch.when.end = std::max(span.stretch.when.end, stretch.when.end);
      if (span.stretch.label != stretch.label) span.stretch.label = 0;
      span.add(stretch);
      continue;
    }
    spans.emplace_back(stretch);
    last_cell = within ? cell : -1;
  }
  return spans;
}

std::string text_json(std::string_view text) { return dump_json(text); }

template <class Values>
std::string list_json(const Values& values, const auto& to_json) {
  std::string out = "[";
  for (const auto& value : values) {
    if (out.size() > 1) out += ',';
    out += to_json(value);
  }
  return out + "]";
}

/// The states that occur in the lane, in stacking order.
std::vector<State> states_of(const Lane& lane) {
  std::vector<State> list;
  for (std::size_t i = 0; i < kStates; ++i) {
    if (lane.looks.has(static_cast<State>(i))) list.push_back(static_cast<State>(i));
  }
  return list;
}

std::string steps_json(const std::vector<Step>& steps, const std::vector<State>& states, TimeNs zero) {
  std::string out;
  TimeNs last = zero;
  for (const Step& step : steps) {
    fmt::format_to(std::back_inserter(out), "{}{}", out.empty() ? "" : ",", step.at - last);
    for (const State state : states)
      fmt::format_to(std::back_inserter(out), ",{:.0f}", step.counts[static_cast<std::size_t>(state)] * 100);
    last = step.at;
  }
  return out;
}

std::string spans_json(const std::vector<Span>& spans, const std::vector<State>& states, TimeNs zero) {
  std::string out;
  TimeNs last = zero;
  for (const Span& span : spans) {
    const Interval when = span.stretch.when;
    const auto state = std::find(states.begin(), states.end(), span.stretch.state) - states.begin();
    fmt::format_to(std::back_inserter(out), "{}{},{},{},{},{}", out.empty() ? "" : ",", when.begin - last,
                   when.end - when.begin, state, span.stretch.label, span.count);
    last = when.begin;
  }
  return out;
}

std::string lane_json(const Lane& lane, const Edges& edges, TimeNs zero) {
  const std::vector<State> states = states_of(lane);
  std::string out =
      fmt::format(R"({{"group":{},"name":{},"site":{},"doing":{},)", text_json(lane.group), text_json(lane.name),
                  lane.site, list_json(states, [](State state) { return text_json(look_of(state).token); }));
  if (lane.counted) {
    return out + fmt::format(R"("full":{:.0f},"steps":[{}]}})", lane.waiters,
                             steps_json(steps_of(lane, edges), states, zero));
  }
  const std::vector<Span> spans = spans_of(lane, edges);
  if (std::any_of(spans.begin(), spans.end(), [](const Span& span) { return span.polled > 0; })) {
    out += fmt::format(R"("polling":{},)",
                       list_json(spans, [](const Span& span) { return fmt::format("{:.0f}", 100 * span.polling()); }));
  }
  return out + fmt::format(R"("spans":[{}]}})", spans_json(spans, states, zero));
}

/// At most kMaxArrows of the arrows, evenly chosen.
std::vector<Arrow> some_of(const std::vector<Arrow>& all) {
  std::vector<Arrow> some;
  const std::size_t each = (all.size() + kMaxArrows - 1) / kMaxArrows;
  for (std::size_t i = 0; i < all.size(); i += each) some.push_back(all[i]);
  return some;
}

}  // namespace

std::size_t most_entries(std::size_t lanes) { return (kEntriesPerCell + 1) * (cells_per_lane(lanes) + 4); }

std::string timeline_json(const TraceModel& model, const Lanes& lanes, const std::vector<Interval>& fine) {
  const TimeNs zero = model.begin;
  const Edges edges = edges_of(model, fine, cells_per_lane(lanes.list.size()));
  std::vector<store::InterventionRow> changes;
  for (const store::InterventionRow& row : model.interventions) {
    if (row.effective >= model.begin && row.effective <= model.end) changes.push_back(row);
  }
  std::string words;
  for (const StateLook& look : kStateLooks)
    words += fmt::format("{}{}:{}", words.empty() ? "" : ",", text_json(look.token), text_json(look.name));
  std::string out =
      fmt::format("{{\"from\":0,\"to\":{},\n\"words\":{{{}}},\n\"polling\":{},\n\"labels\":{},\n", model.span(), words,
                  text_json(analyzer::kSampledPolling.name), list_json(lanes.labels, text_json));
  out += fmt::format("\"marks\":{},\n", list_json(changes, [&](const store::InterventionRow& row) {
                       return fmt::format("[{},{}]", row.effective - zero, text_json(mode_name(row.new_mode)));
                     }));
  out += fmt::format("\"fine\":{},\n", list_json(fine, [&](const Interval& window) {
                       return fmt::format("[{},{}]", window.begin - zero, window.end - zero);
                     }));
  out += fmt::format("\"arrows\":{},\n", list_json(some_of(lanes.arrows), [&](const Arrow& arrow) {
                       return fmt::format("[{},{},{},{}]", arrow.from, arrow.signalled - zero, arrow.to,
                                          arrow.resumed - zero);
                     }));
  out += fmt::format("\"lanes\":{}}}",
                     list_json(lanes.list, [&](const Lane& lane) { return "\n" + lane_json(lane, edges, zero); }));
  // A '<' could end the enclosing script element; it occurs only within JSON strings.
  std::string safe;
  safe.reserve(out.size());
  for (const char c : out) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

}  // namespace wicprof::reports::html
