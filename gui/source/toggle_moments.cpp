#include "gui/source/toggle_moments.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "gui/tracks/list.h"

namespace wicprof::gui {

namespace {

using analyzer::TraceModel;

/// Waits that arrived from `at` on.
std::size_t waits_after(const TraceModel& model, TimeNs at) {
  const auto first =
      std::partition_point(model.waits.begin(), model.waits.end(), [&](const auto& wait) { return wait.arrived < at; });
  return static_cast<std::size_t>(model.waits.end() - first);
}

/// The waits around the change, and the kernels that ran then, as a trace of their own. `before`: nullptr at the first
/// look, which takes these waits from the model.
ToggleMoment picture_of(const TraceModel& model, TimeNs at, std::size_t after,
                        std::shared_ptr<const std::vector<store::WaitRow>> before) {
  const auto middle = model.waits.end() - static_cast<std::ptrdiff_t>(after);
  const auto reach = static_cast<std::ptrdiff_t>(ToggleMoments::kWaits);
  if (!before)
    before = std::make_shared<const std::vector<store::WaitRow>>(middle - std::min(reach, middle - model.waits.begin()),
                                                                 middle);
  TraceModel part;
  part.meta = model.meta;
  part.processes = model.processes;
  part.devices = model.devices;
  part.sites = model.sites;
  part.waits = *before;
  part.waits.insert(part.waits.end(), middle, middle + std::min(reach, model.waits.end() - middle));
  analyzer::settle(part);
  ToggleMoment moment{at, part.begin, part.end, after, std::move(before), nullptr};
  for (const store::KernelRow& kernel : model.kernels) {
    if (kernel.start < moment.end && kernel.end > moment.begin) part.kernels.push_back(kernel);
  }
  moment.timeline = std::make_shared<const Timeline>(build_timeline(part, kTrackKinds));
  return moment;
}

}  // namespace

const ToggleMoment* moment_at(const ToggleMomentList& moments, TimeNs at) {
  if (!moments || moments->empty()) return nullptr;
  return &*std::min_element(moments->begin(), moments->end(), [&](const ToggleMoment& a, const ToggleMoment& b) {
    return std::abs(a.at - at) < std::abs(b.at - at);
  });
}

void ToggleMoments::observe(const TraceModel& model) {
  std::vector<ToggleMoment> next;
  bool changed = false;
  for (const store::InterventionRow& row : model.interventions) {
    const TimeNs at = row.effective;
    const auto known =
        std::find_if(list_->begin(), list_->end(), [&](const ToggleMoment& moment) { return moment.at == at; });
    const std::size_t after = waits_after(model, at);
    const bool reaches_back = after < model.waits.size();  // else rows since the change may be gone
    if (known == list_->end()) {
      if (!reaches_back) continue;
      next.push_back(picture_of(model, at, after, nullptr));
      changed = true;
    } else if (reaches_back && known->after < kWaits &&
               after > known->after + known->after / 4) {  // it grows noticeably
      next.push_back(picture_of(model, at, after, known->before));
      changed = true;
    } else {
      next.push_back(*known);
    }
  }
  if (next.size() > kMost) next.erase(next.begin(), next.end() - static_cast<std::ptrdiff_t>(kMost));
  if (changed) list_ = std::make_shared<const std::vector<ToggleMoment>>(std::move(next));
}

}  // namespace wicprof::gui
