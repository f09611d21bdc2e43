#include "gui/view/status_line.h"

#include <fmt/format.h>

#include "analyzer/reports/format.h"

namespace wicprof::gui {

StatusLine status_line(const analyzer::TraceModel& model, const analyzer::Analysis* analysis) {
  StatusLine line;
  for (const analyzer::Loss& loss : analyzer::losses(model)) line.losses.push_back(loss.text);
  line.loss = line.losses.empty() ? "nothing known to be lost" : analyzer::count_of(line.losses.size(), "loss");
  if (line.losses.size() > 1) line.loss = fmt::format("{} losses", line.losses.size());
  if (analysis != nullptr && analysis->own_cost.sampled)
    line.overhead = "recording took " + analyzer::format_percent(analysis->own_cost.share) + " of a core";
  const auto part = [&](std::size_t count, std::string_view noun) {
    if (count == 0) return;
    line.contents += (line.contents.empty() ? "" : ", ") + analyzer::count_of(count, noun);
  };
  part(model.waits.size() + model.host_waits.size(), "wait");
  part(model.signals.size(), "signal");
  part(model.kernels.size(), "kernel");
  part(model.calls.size(), "call");
  if (line.contents.empty()) line.contents = "nothing";
  line.contents += " in " + analyzer::format_duration(model.span());
  return line;
}

}  // namespace wicprof::gui
