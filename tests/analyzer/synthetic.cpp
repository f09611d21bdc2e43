#include "synthetic.h"

#include <utility>

namespace wicprof::analyzer::synthetic {
namespace {

template <class Row>
store::RowId next_id(const Row& rows) {
  return static_cast<store::RowId>(rows.size()) + 1;
}

void add_signal(TraceModel& model, SiteId site, DeviceId device, std::uint32_t iteration, std::uint32_t value,
                TimeNs at) {
  store::SignalRow row{};
  row.id = next_id(model.signals);
  row.site = site;
  row.device = device;
  row.iteration = iteration;
  row.value = value;
  row.at = at;
  model.signals.push_back(row);
}

void add_wait(TraceModel& model, const store::WaitRow& wait) {
  model.waits.push_back(wait);
  model.waits.edit_back()->id = next_id(model.waits) - 1;
}

}  // namespace

store::SiteRow& declare_site(TraceModel& model, SiteId id, const std::string& name, WordMemory memory,
                             std::uint32_t words) {
  model.sites.push_back({id, name, memory, Pollers::leader, words});
  return model.sites.back();
}

void declare_device(TraceModel& model, DeviceId id, TimeNs clock_error_ns) {
  model.devices.push_back({id, DeviceKind::cuda, "GPU " + std::to_string(id), 132, 1ull << 37, clock_error_ns});
}

TraceModel empty_program() {
  TraceModel model;
  model.name = "synthetic.wicprof";
  model.meta = {{"app", "synthetic"}, {"command", "synthetic --iterations 50"}, {"state", "complete"}};
  model.devices.push_back({kHostDevice, DeviceKind::host, "host", 0, 0, std::nullopt});
  declare_device(model, 0, 200);
  declare_site(model, 1, "flag", WordMemory::pinned_host);
  return model;
}

TimeNs add_handoff(TraceModel& model, const Handoff& handoff) {
  TimeNs begin = handoff.start;
  for (std::size_t i = 0; i < handoff.iterations; ++i) {
    const TimeNs period = handoff.period(i);
    const std::uint32_t iteration = handoff.first_iteration + static_cast<std::uint32_t>(i);
    const TimeNs released = begin + period * 8 / 10;
    add_signal(model, handoff.site, kHostDevice, iteration, iteration + 1, released);
    for (std::uint32_t w = 0; w < handoff.waiters; ++w) {
      store::WaitRow wait{};
      wait.site = handoff.site;
      wait.device = handoff.device;
      wait.block = w;
      wait.sm = w % handoff.sms;
      wait.iteration = iteration;
      wait.arrived = begin + w;
      wait.resumed = released + handoff.wake_latency;
      wait.polls = handoff.polls;
      wait.strategy = handoff.strategy;
      wait.value = iteration + 1;
      add_wait(model, wait);
    }
    begin += period;
  }
  return begin;
}

void add_exchange(TraceModel& model, std::uint32_t number, TimeNs start, TimeNs period, std::uint32_t forth,
                  std::uint32_t back) {
  const TimeNs slot = period / (2 * (forth + back) + 1);
  TimeNs now = start;
  for (std::uint32_t i = 0; i < forth; ++i, now += 2 * slot) {
    const std::uint32_t value = number * forth + i + 1;
    add_signal(model, 1, kHostDevice, number, value, now + slot);
    store::WaitRow wait{};
    wait.site = 1;
    wait.iteration = number;
    wait.arrived = now;
    wait.resumed = now + slot + slot / 2;
    wait.polls = 10;
    wait.value = value;
    add_wait(model, wait);
  }
  for (std::uint32_t i = 0; i < back; ++i, now += 2 * slot) {
    add_signal(model, 2, 0, number, number * back + i + 1, now + slot);
    store::HostWaitRow wait{};
    wait.id = next_id(model.host_waits);
    wait.site = 2;
    wait.thread = 77;
    wait.iteration = number;
    wait.begin = now;
    wait.end = now + slot + slot / 2;
    model.host_waits.push_back(wait);
  }
}

TraceModel phased_program(const Phases& phases) {
  TraceModel model = empty_program();
  Handoff handoff;
  handoff.iterations = phases.iterations;
  for (std::size_t phase = 0; phase < phases.phases; ++phase) {
    const Mode mode = phase % 2 == 0 ? Mode::poll : Mode::park;
    if (phase > 0) {
      store::InterventionRow row{};
      row.id = next_id(model.interventions);
      row.old_mode = phase % 2 == 0 ? Mode::park : Mode::poll;
      row.new_mode = mode;
      row.old_strategy = default_strategy(row.old_mode);
      row.new_strategy = default_strategy(row.new_mode);
      row.requested = handoff.start;
      row.effective = handoff.start + 200'000;
      model.interventions.push_back(row);
    }
    handoff.strategy = mode == Mode::poll ? StrategyId::poll : StrategyId::shared_watch;
    handoff.polls = mode == Mode::poll ? 400 : 2;
    handoff.period = [&](std::size_t i) { return phases.period(mode, i); };
    handoff.start = add_handoff(model, handoff);
    handoff.first_iteration += static_cast<std::uint32_t>(phases.iterations);
  }
  settle(model);
  return model;
}

TraceModel program_without_sites(std::uint32_t steps, const std::function<TimeNs(std::uint32_t)>& period) {
  TraceModel model = empty_program();
  model.sites.clear();
  store::SiteRow& call = declare_site(model, 1, "cudaStreamSynchronize in step", WordMemory::device, 1);
  call.side = SiteSide::host;
  TimeNs begin = 0;
  for (std::uint32_t i = 0; i < steps; ++i) {
    const TimeNs length = period(i);
    for (const bool first : {true, false}) {
      store::KernelRow kernel{};
      kernel.name = first ? "first" : "second";
      kernel.start = first ? begin : begin + length * 4 / 10;
      kernel.end = kernel.start + length * 3 / 10;
      if (first || i % 2 == 0) model.kernels.push_back(kernel);
    }
    store::HostWaitRow wait{};
    wait.site = 1;
    wait.call = "cudaStreamSynchronize";
    wait.iteration = i;
    wait.begin = begin + length * 7 / 10;
    wait.end = begin + length * 9 / 10;
    model.host_waits.push_back(wait);
    store::NvtxRow range{};
    range.kind = NvtxKind::range;
    range.name = "step";
    range.start = begin;
    range.end = begin + length * 95 / 100;
    model.nvtx.push_back(range);
    begin += length;
    if (i + 1 != steps / 2) continue;
    store::InterventionRow toggle{};
    toggle.side = WaitSide::host;
    toggle.new_mode = Mode::park;
    toggle.new_strategy = StrategyId::hybrid;
    toggle.requested = toggle.effective = begin;
    model.interventions.push_back(toggle);
  }
  settle(model);
  return model;
}

TraceModel shifted(TraceModel model, TimeNs by) {
  model.waits.edit_all([&](auto& row) {
    row.arrived += by;
    row.resumed += by;
    if (row.ready) *row.ready += by;
    if (row.switched) *row.switched += by;
  });
  model.signals.edit_all([&](auto& row) { row.at += by; });
  model.host_waits.edit_all([&](auto& row) {
    row.begin += by;
    row.end += by;
  });
  model.kernels.edit_all([&](auto& row) {
    row.start += by;
    row.end += by;
  });
  for (auto& row : model.interventions) {
    row.requested += by;
    row.effective += by;
  }
  settle(model);
  return model;
}

TraceModel renamed_devices(TraceModel model, const std::function<DeviceId(DeviceId)>& rename) {
  const auto renamed = [&](DeviceId id) { return id == kHostDevice ? id : rename(id); };
  for (auto& row : model.devices) row.id = renamed(row.id);
  model.waits.edit_all([&](auto& row) { row.device = renamed(row.device); });
  model.signals.edit_all([&](auto& row) { row.device = renamed(row.device); });
  model.kernels.edit_all([&](auto& row) { row.device = renamed(row.device); });
  settle(model);
  return model;
}

store::StatRow lost(std::int64_t count) {
  return {"ring_dropped", "ring 0", store::StatRow::Severity::data_loss, count};
}

}  // namespace wicprof::analyzer::synthetic
