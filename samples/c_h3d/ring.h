// All ranks: rank 0 is the CPU, the others are the devices, in the order of --devices.
#pragma once

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "c_h3d/device_rank.h"
#include "c_h3d/domain.h"
#include "c_h3d/host_rank.h"

namespace sample::h3d {

class Ring {
 public:
  struct Trouble {
    std::uint32_t missed = 0;    ///< deadlines that passed
    std::uint32_t overruns = 0;  ///< messages found overwritten
    bool none() const { return missed == 0 && overruns == 0; }
  };

  static wicprof::Result<std::unique_ptr<Ring>> make(wic::Runtime& runtime, std::uint32_t n, std::uint32_t threads) {
    std::unique_ptr<Ring> ring(new Ring(runtime, n));
    if (wicprof::Result<> added = ring->add_sites(); !added) return added.error();
    if (wicprof::Result<> made = ring->make_outboxes(); !made) return made.error();
    ring->host_ = std::make_unique<HostRank>(runtime, ring->neighbours(0), Cube{n}, threads);
    for (std::uint32_t d = 0; d < runtime.device_count(); ++d) {
      auto rank = DeviceRank::make(runtime.device(d), runtime.view(d), ring->neighbours(d + 1), Cube{n},
                                   ring->ranks_on(runtime.device(d)));
      if (!rank) return rank.error();
      ring->devices_.push_back(*std::move(rank));
    }
    return wicprof::Result<std::unique_ptr<Ring>>(std::move(ring));
  }

  const Domain& domain() const { return domain_; }

  /// Gives every rank its part of `field`.
  wicprof::Result<> scatter(const std::vector<Cell>& field) {
    const auto part = [&](std::uint32_t rank, std::vector<Cell>& to) {
      for_each_row(domain_, rank, [&](std::size_t from, std::uint32_t at) {
        std::memcpy(&to[at], &field[from], domain_.n * sizeof(Cell));
      });
    };
    part(0, host_->field());
    std::vector<Cell> stored(Cube{domain_.n}.stored_cells());
    for (std::uint32_t d = 0; d < devices_.size(); ++d) {
      part(d + 1, stored);
      if (wicprof::Result<> written = devices_[d].write(stored); !written) return written;
    }
    return wicprof::ok();
  }

  /// The field of all ranks, once all have done what was launched.
  wicprof::Result<std::vector<Cell>> gather() {
    std::vector<Cell> field(domain_.cells());
    const auto part = [&](std::uint32_t rank, const Cell* from) {
      for_each_row(domain_, rank, [&](std::size_t to, std::uint32_t at) {
        std::memcpy(&field[to], &from[at], domain_.n * sizeof(Cell));
      });
    };
    part(0, host_->field().data());
    for (std::uint32_t d = 0; d < devices_.size(); ++d) {
      const auto stored = devices_[d].read();
      if (!stored) return stored.error();
      part(d + 1, *stored);
    }
    return field;
  }

  /// One iteration of the CPU's rank; the devices' are queued before it and come after it at their own pace, at most as
  /// far behind as the messages let them be. False when a deadline has passed on the CPU.
  wicprof::Result<bool> iterate(std::uint32_t iteration, std::uint64_t timeout_ns) {
    for (DeviceRank& device : devices_) {
      if (wicprof::Result<> launched = device.launch(iteration, timeout_ns); !launched) return launched.error();
    }
    return host_->iterate(iteration, static_cast<wicprof::TimeNs>(timeout_ns));
  }

  /// Waits until all devices are done, at most for as long as their deadlines; then tells what went wrong so far.
  wicprof::Result<Trouble> settle() {
    Trouble all{host_->missed(), host_->overruns()};
    for (DeviceRank& device : devices_) {
      const auto trouble = device.trouble();
      if (!trouble) return trouble.error();
      all.missed += trouble->missed;
      all.overruns += trouble->overruns;
    }
    return all;
  }

 private:
  Ring(wic::Runtime& runtime, std::uint32_t n)
      : runtime_(runtime), domain_{static_cast<std::uint32_t>(runtime.device_count()) + 1, n} {}

  // Every waiter has a word of its own, in pinned host memory.
  wicprof::Result<wicprof::SiteId> add_site(const char* name) {
    return runtime_.add_site({name, wicprof::WordMemory::pinned_host, wicprof::Pollers::leader, false});
  }
  wicprof::Result<> add_sites() {
    constexpr const char* kNames[kMessageClasses] = {"h3d.face", "h3d.edge", "h3d.corner"};
    const auto host = add_site("h3d.host");
    if (!host) return host.error();
    for (std::uint32_t c = 0; c < kMessageClasses; ++c) {
      const auto site = add_site(kNames[c]);
      if (!site) return site.error();
      host_sites_.by_class[c] = *host;
      device_sites_.by_class[c] = *site;
    }
    return wicprof::ok();
  }

  wicprof::Result<> make_outboxes() {
    wic::Device& device = runtime_.device(0);  // pinned host memory is every device's
    for (std::uint32_t rank = 0; rank < domain_.ranks; ++rank) {
      Outbox outbox{nullptr, nullptr, domain_.n};
      auto cells = wic::Array<Cell>::make(device, outbox.stored_cells(), wic::Memory::pinned_host);
      if (!cells) return cells.error();
      auto flags = wic::Array<Flag>::make(device, Outbox::kFlags, wic::Memory::pinned_host);
      if (!flags) return flags.error();
      outbox.cells = cells->data();
      outbox.flags = flags->data();
      cells_.push_back(*std::move(cells));
      flags_.push_back(*std::move(flags));
      outboxes_.push_back(outbox);
    }
    return wicprof::ok();
  }

  Neighbours neighbours(std::uint32_t rank) const {
    const auto sites = [&](std::uint32_t of) { return of == 0 ? host_sites_ : device_sites_; };
    const std::uint32_t left = (rank + domain_.ranks - 1) % domain_.ranks;
    const std::uint32_t right = (rank + 1) % domain_.ranks;
    return {outboxes_[rank], sites(rank), {outboxes_[left], sites(left)}, {outboxes_[right], sites(right)}};
  }

  std::uint32_t ranks_on(const wic::Device& device) const {
    std::uint32_t count = 0;
    for (std::size_t d = 0; d < runtime_.device_count(); ++d) {
      count += runtime_.device(d).properties().id == device.properties().id ? 1 : 0;
    }
    return count;
  }

  wic::Runtime& runtime_;
  Domain domain_;
  Sites host_sites_{}, device_sites_{};
  std::vector<wic::Array<Cell>> cells_;
  std::vector<wic::Array<Flag>> flags_;
  std::vector<Outbox> outboxes_;
  std::unique_ptr<HostRank> host_;
  std::vector<DeviceRank> devices_;
};

}  // namespace sample::h3d
