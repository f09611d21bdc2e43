// Synthetic programs that communicate: each message with its place in the data and the waits that it ends.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "synthetic.h"

namespace wicprof::analyzer::synthetic {

/// The place of a message in the data; bytes 0: the signal has no payload.
struct Payload {
  std::uint64_t offset = 0, span = 0;
  std::uint32_t bytes = 0, pieces = 0;
  bool regular = true;
};
inline Payload run_of(std::uint64_t offset, std::uint32_t bytes) { return {offset, bytes, bytes, 1, true}; }
inline Payload strided(std::uint64_t offset, std::uint32_t piece, std::uint64_t stride, std::uint32_t pieces) {
  return {offset, (pieces - 1) * stride + piece, piece * pieces, pieces, true};
}
inline Payload scattered(std::uint64_t offset, std::uint64_t span, std::uint32_t bytes, std::uint32_t pieces) {
  return {offset, span, bytes, pieces, false};
}

/// Writes a trace, message by message. Creates sites on first use: one per direction and lane, and one for its
/// acknowledgements.
class Talk {
 public:
  explicit Talk(std::uint32_t devices) {
    model.name = "talk.wicprof";
    model.meta = {{"state", "complete"}};
    model.devices.push_back({kHostDevice, DeviceKind::host, "host", 0, 0, std::nullopt});
    for (std::uint32_t d = 0; d < devices; ++d) declare_device(model, static_cast<DeviceId>(d), 100);
  }

  TraceModel model;
  bool acknowledge = true;  ///< receivers acknowledge each message, and the sender waits for that two messages later

  /// A message, sent at `at`, for which `waiters` blocks wait (or one thread on the CPU).
  void send(DeviceId from, DeviceId to, std::uint32_t lane, std::uint32_t iteration, TimeNs at, const Payload& payload,
            std::uint32_t waiters = 1, std::uint32_t block = 0) {
    const SiteId site = site_of(from, to, lane);
    const std::uint32_t cycle = ++cycles_[site];
    store::SignalRow row{};
    row.id = static_cast<store::RowId>(model.signals.size()) + 1;
    row.site = site;
    row.device = from;
    row.block = block;
    row.iteration = iteration;
    row.value = cycle;
    row.at = at;
    row.word = static_cast<WordTag>(1 + site * 2 + cycle % 2);
    row.bytes = payload.bytes;
    row.pieces = payload.pieces;
    row.offset = payload.offset;
    row.span = payload.span;
    row.regular = payload.regular;
    model.signals.push_back(row);
    for (std::uint32_t w = 0; w < waiters; ++w) wait(site, to, w, iteration, cycle, at - 4'000, at + 900 + w, row.word);
    if (!acknowledge) return;
    row.id = static_cast<store::RowId>(model.signals.size()) + 1;
    row.site = site + 1;
    row.device = to;
    row.at = at + 2'000;
    row.word = static_cast<WordTag>(1 + (site + 1) * 2);
    row.bytes = row.pieces = 0;
    row.offset = row.span = 0;
    model.signals.push_back(row);
    if (cycle > 2) wait(site + 1, from, 0, iteration, cycle - 2, at - 50, at - 20, row.word);
  }

  TraceModel settled() const {
    TraceModel copy = model;
    settle(copy);
    return copy;
  }

 private:
  SiteId site_of(DeviceId from, DeviceId to, std::uint32_t lane) {
    const std::uint32_t way =
        ((static_cast<std::uint32_t>(from + 1) * 64 + static_cast<std::uint32_t>(to + 1)) * 16 + lane);
    for (const auto& [known, site] : ways_) {
      if (known == way) return site;
    }
    const auto site = static_cast<SiteId>(1 + 2 * ways_.size());
    ways_.emplace_back(way, site);
    cycles_.resize(site + 2);
    declare_site(model, site, "site " + std::to_string(site), WordMemory::device);
    declare_site(model, site + 1, "site " + std::to_string(site + 1), WordMemory::device);
    return site;
  }

  void wait(SiteId site, DeviceId device, std::uint32_t block, std::uint32_t iteration, std::uint32_t value,
            TimeNs arrived, TimeNs resumed, std::optional<WordTag> word) {
    if (device == kHostDevice) {
      store::HostWaitRow row{};
      row.id = static_cast<store::RowId>(model.host_waits.size()) + 1;
      row.site = site;
      row.thread = 70;
      row.iteration = iteration;
      row.begin = arrived;
      row.end = resumed;
      row.word = word;
      model.host_waits.push_back(row);
      return;
    }
    store::WaitRow row{};
    row.id = static_cast<store::RowId>(model.waits.size()) + 1;
    row.site = site;
    row.device = device;
    row.block = block;
    row.iteration = iteration;
    row.value = value;
    row.arrived = arrived;
    row.resumed = resumed;
    row.word = word;
    model.waits.push_back(row);
  }

  std::vector<std::pair<std::uint32_t, SiteId>> ways_;
  std::vector<std::uint32_t> cycles_;
};

/// The trace without some rows: drops each one with probability `part`.
inline TraceModel thinned(TraceModel model, double part, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> draw(0, 1);
  const auto thin = [&](auto& rows) { rows.erase_if([&](const auto&) { return draw(random) < part; }); };
  thin(model.signals);
  thin(model.waits);
  thin(model.host_waits);
  settle(model);
  return model;
}

/// The trace with all times multiplied by `factor`.
inline TraceModel slowed(TraceModel model, TimeNs factor) {
  model.waits.edit_all([&](auto& row) {
    row.arrived *= factor;
    row.resumed *= factor;
  });
  model.signals.edit_all([&](auto& row) { row.at *= factor; });
  model.host_waits.edit_all([&](auto& row) {
    row.begin *= factor;
    row.end *= factor;
  });
  for (auto& row : model.devices) {
    if (row.clock_error_ns) *row.clock_error_ns *= factor;
  }
  settle(model);
  return model;
}

}  // namespace wicprof::analyzer::synthetic
