#include "collector/rewrite/load_steps.h"

#include <cstdio>
#include <string_view>

namespace wicprof::collector {

namespace {

std::string ms_of(TimeNs time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(time) / static_cast<double>(kMillisecond));
  return text;
}

}  // namespace

void LoadSteps::done(const char* step) {
  const TimeNs now = now_ns();
  add(step, now - last_, false);
  last_ = now;
}

void LoadSteps::meanwhile(const char* step, TimeNs took) { add(step, took, true); }

void LoadSteps::add(const char* step, TimeNs took, bool is_beside) {
  for (Step& each : steps_) {
    if (each.is_beside != is_beside || std::string_view(each.name) != step) continue;
    each.took += took;
    return;
  }
  steps_.push_back({step, took, is_beside});
}

TimeNs LoadSteps::took(const char* step) const {
  TimeNs took = 0;
  for (const Step& each : steps_) took += !each.is_beside && std::string_view(each.name) == step ? each.took : 0;
  return took;
}

std::string LoadSteps::text() const {
  std::string steps;
  for (const Step& each : steps_) {
    if (each.took < kMicrosecond) continue;
    steps += std::string(steps.empty() ? ": " : ", ") + each.name + " " + ms_of(each.took);
    if (each.is_beside) steps += " meanwhile";
  }
  return ms_of(last_ - begin_) + " ms" + steps;
}

}  // namespace wicprof::collector
