#include "analyzer/work/held_sms.h"

#include <algorithm>

#include "analyzer/measure/flat_index.h"

namespace wicprof::analyzer {

std::vector<TimeNs> held_sm_time(const TraceModel& model, const WaitKernels& waits) {
  std::vector<TimeNs> held(model.kernels.size());
  struct Waiting {
    std::uint32_t kernel = 0;
    TimeNs until = 0;
  };
  FlatIndex numbers;
  std::vector<std::vector<Waiting>> sms;                  // the kernels that waited last; few run on one SM at once
  for (std::size_t i = 0; i < model.waits.size(); ++i) {  // in order of arrival
    const std::uint32_t kernel = waits.kernel_of(i);
    if (kernel == WaitKernels::kNone) continue;
    const store::WaitRow& wait = model.waits[i];
    const std::uint32_t sm = numbers.number((std::uint64_t{static_cast<std::uint32_t>(wait.device)} << 32) | wait.sm);
    const TimeNs arrived = wait.arrived, resumed = wait.resumed;
    if (sm == sms.size()) sms.emplace_back();
    std::vector<Waiting>& on_sm = sms[sm];
    auto known = std::find_if(on_sm.begin(), on_sm.end(), [&](const Waiting& one) { return one.kernel == kernel; });
    if (known == on_sm.end()) {
      std::erase_if(on_sm, [&](const Waiting& one) { return model.kernels[one.kernel].end < arrived; });
      known = on_sm.insert(on_sm.end(), Waiting{kernel, arrived});
    }
    const TimeNs begin = std::max(arrived, known->until);
    if (resumed > begin) held[kernel] += resumed - begin;
    known->until = std::max(known->until, resumed);
  }
  return held;
}

}  // namespace wicprof::analyzer
