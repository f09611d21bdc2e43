// A trace with a row of each kind, and what the tests of reports do with one.
#pragma once

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "analyzer/analysis.h"
#include "reports/render.h"
#include "tests/analyzer/program.h"
#include "tests/analyzer/synthetic.h"

namespace wicprof::reports {

using namespace synthetic;

inline TraceModel rich_program() {
  TraceModel model = phased_program({.phases = 4, .iterations = 30, .period = [](Mode mode, std::size_t i) {
                                       return TimeNs(mode == Mode::poll ? 3'000'000 : 100'000) + TimeNs(i % 7) * 1'000;
                                     }});
  store::KernelRow kernel{};
  kernel.name = "void stream<float>(float*)";
  kernel.start = model.begin;
  kernel.end = model.end;
  model.kernels.push_back(kernel);
  store::HostWaitRow wait{};
  wait.call = "cudaStreamSynchronize";
  wait.begin = model.begin;
  wait.end = model.end;
  wait.cpu = 1000;
  model.host_waits.push_back(wait);
  model.waits.edit_all([&](auto& row) { row.word = 7; });
  store::ChoiceRow choice{};
  choice.site = 1;
  choice.strategy = StrategyId::shared_watch;
  choice.at = model.begin;
  choice.reason = "8 wait at once on one word";
  choice.waits = 64;
  choice.waiters_per_word = 8;
  model.choices.push_back(choice);
  settle(model);
  return model;
}

inline std::string rendered(const TraceModel& model, std::string_view format) {
  const Analysis analysis = analyze(model);
  const Comparison comparison = compare(model);
  return render({model, analysis, &comparison}, format);
}

inline std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto width = std::count_if(line.begin(), line.end(),
                                     [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; });
    widest = std::max(widest, static_cast<std::size_t>(width));
  }
  return widest;
}

}  // namespace wicprof::reports
