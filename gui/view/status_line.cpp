#include "gui/view/status_line.h"

#include <fmt/format.h>

#include "analyzer/words/format.h"
#include "analyzer/work/kernels.h"

namespace wicprof::gui {

Contents contents_of(const analyzer::TraceModel& model) {
  return {model.waits.size() + model.host_waits.size(), model.signals.size(), analyzer::count_program_kernels(model),
          model.calls.size(), model.thread_samples.size()};
}

std::string overhead_words(const analyzer::Analysis& analysis) {
  if (!analysis.own_cost.sampled) return {};
  return "recording took " + analyzer::format_percent(analysis.own_cost.share) + " of a core";
}

StatusLine status_line(const analyzer::TraceModel& model, const analyzer::Analysis* analysis, const Contents& contents,
                       bool recording) {
  StatusLine line;
  for (const analyzer::Loss& loss : analyzer::losses(model)) {
    if (!recording || loss.name != "incomplete") line.losses.push_back(loss.text);
  }
  line.loss = line.losses.empty() ? "no known losses" : analyzer::count_of(line.losses.size(), "loss");
  if (line.losses.size() > 1) line.loss = fmt::format("{} losses", line.losses.size());
  if (analysis != nullptr) line.overhead = overhead_words(*analysis);
  const auto part = [&](std::uint64_t count, std::string_view noun) {
    if (count == 0) return;
    line.contents += (line.contents.empty() ? "" : ", ") + analyzer::count_of(count, noun);
  };
  part(contents.waits, "wait");
  part(contents.signals, "signal");
  part(contents.kernels, "kernel");
  part(contents.calls, "call");
  if (line.contents.empty()) part(contents.samples, "thread sample");
  if (line.contents.empty()) line.contents = "nothing";
  line.contents += " in " + analyzer::format_duration(model.span());
  return line;
}

}  // namespace wicprof::gui
