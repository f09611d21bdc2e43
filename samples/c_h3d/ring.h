// The ring of all ranks: rank 0 is the CPU; the others are the devices, in the order of --devices.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c_h3d/device_rank.h"
#include "c_h3d/domain.h"
#include "c_h3d/host_rank.h"
#include "common/ranks.h"
#include "rivals/rival.h"

namespace sample::h3d {

struct RingOptions {
  std::uint32_t host_planes = 0;  ///< the CPU rank's cells along x; 0 = as many as a device's
  std::uint32_t threads = 1;      ///< the CPU rank's
  bool naive = false;             ///< the ranks' own way of waiting is Algorithm 1 of the WIC paper
  std::string prefix = {};        ///< of the sites' names
  RankGrid grid = {};
  Rival rival = Rival::none;
};

class Ring {
 public:
  struct Failure {
    std::uint32_t missed = 0;    ///< number of missed deadlines
    std::uint32_t overruns = 0;  ///< messages found overwritten
    std::string first = {};      ///< describes the first missed deadline: rank, site and message
    bool none() const { return missed == 0 && overruns == 0; }
  };

  static wic::Result<std::unique_ptr<Ring>> make(wic::Runtime& runtime, std::uint32_t n, const RingOptions& options) {
    std::unique_ptr<Ring> ring(new Ring(runtime, n, options));
    if (wic::Result<> made = ring->make_medium(ring->fast_, false); !made) return made.error();
    if (options.rival == Rival::demandcpy) {
      if (wic::Result<> made = ring->make_inboxes(); !made) return made.error();
    }
    if (options.naive) {
      if (wic::Result<> made = ring->make_medium(ring->naive_, true); !made) return made.error();
    }
    ring->host_ =
        std::make_unique<HostRank>(runtime, ring->neighbours(ring->fast_, 0), ring->domain_.brick(0), options.threads);
    if (options.naive) ring->host_->use_naively(ring->neighbours(ring->naive_, 0));
    ring->host_->copy_into(ring->inbox(ring->domain_.ranks - 1), ring->inbox(1));
    for (std::uint32_t d = 0; d < runtime.device_count(); ++d) {
      auto rank = DeviceRank::make(runtime.device(d), runtime.view(d), ring->neighbours(ring->fast_, d + 1),
                                   ring->domain_.brick(d + 1), ranks_on(runtime, runtime.device(d)), options.grid);
      if (!rank) return rank.error();
      if (options.naive) rank->use_naively(ring->neighbours(ring->naive_, d + 1));
      ring->devices_.push_back(*std::move(rank));
    }
    return wic::Result<std::unique_ptr<Ring>>(std::move(ring));
  }

  const Domain& domain() const { return domain_; }

  /// Copies its part of `field` to every rank.
  wic::Result<> scatter(const std::vector<Cell>& field) {
    const auto part = [&](std::uint32_t rank, std::vector<Cell>& to) {
      for_each_row(domain_, rank, [&](std::size_t from, std::uint32_t at) {
        std::memcpy(&to[at], &field[from], domain_.brick(rank).nx * sizeof(Cell));
      });
    };
    part(0, host_->field());
    std::vector<Cell> stored(domain_.brick(1).stored_cells());
    for (std::uint32_t d = 0; d < devices_.size(); ++d) {
      part(d + 1, stored);
      if (wic::Result<> written = devices_[d].write(stored); !written) return written;
    }
    return wic::ok();
  }

  /// Waits for all launched work and returns the field of all ranks.
  wic::Result<std::vector<Cell>> gather() {
    std::vector<Cell> field(domain_.cells());
    const auto part = [&](std::uint32_t rank, const Cell* from) {
      for_each_row(domain_, rank, [&](std::size_t to, std::uint32_t at) {
        std::memcpy(&field[to], &from[at], domain_.brick(rank).nx * sizeof(Cell));
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

  /// Queues one iteration on all devices and runs it on the CPU's rank. The devices may lag behind as far as the
  /// messages allow. False if a deadline passed on the CPU.
  wic::Result<bool> iterate(std::uint32_t iteration, std::uint64_t timeout_ns) {
    const std::uint32_t naive_step = choose_way(iteration);
    for (std::uint32_t d = 0; d < devices_.size(); ++d) {
      devices_[d].use(runtime_.view(d));
      const wic::Result<> launched = devices_[d].launch(iteration, timeout_ns, naive_step);
      if (!launched) return launched.error();
    }
    const bool in_time = host_->iterate(iteration, static_cast<wic::TimeNs>(timeout_ns), naive_step);
    for (const auto& [rank, inbox] : inboxes_) {
      if (wic::Result<> copied = inbox->status(); !copied) return copied.error();
    }
    return in_time;
  }

  /// Waits for all devices, at most until their deadlines, and returns all failures so far.
  wic::Result<Failure> settle() {
    Failure all{host_->missed(), host_->overruns()};
    if (host_->missed() != 0) all.first = "the CPU waited at h3d.host for " + describe(host_->first_missed());
    for (std::uint32_t d = 0; d < devices_.size(); ++d) {
      const auto failure = devices_[d].failure();
      if (!failure) return failure.error();
      all.missed += failure->missed;
      all.overruns += failure->overruns;
      if (failure->missed == 0 || !all.first.empty()) continue;
      all.first = "rank " + std::to_string(d + 1) + " waited at " +
                  kSiteNames[static_cast<std::uint32_t>(class_of(failure->message))] + " for " +
                  describe(failure->message);
    }
    return all;
  }

 private:
  static constexpr const char* kSiteNames[kMessageClasses] = {"h3d.face", "h3d.edge", "h3d.corner"};

  // The sites and message memory of one way of waiting.
  struct Medium {
    Sites host_sites{}, device_sites{};
    std::vector<wic::Array<Cell>> cells;
    std::vector<wic::Array<Flag>> flags;
    std::vector<Outbox> outboxes;  // one per rank
  };

  Ring(wic::Runtime& runtime, std::uint32_t n, const RingOptions& options)
      : runtime_(runtime),
        options_(options),
        domain_{static_cast<std::uint32_t>(runtime.device_count()) + 1, n,
                options.host_planes != 0 ? options.host_planes : n} {}

  static std::string describe(std::uint32_t message) {
    const Direction d = direction_of(message);
    return "the message from (" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
  }

  // Fixes the way of waiting of all ranks for an iteration. Returns the increment that raises flags to the iteration's
  // number in the naive way; 0 = not the naive way.
  std::uint32_t choose_way(std::uint32_t iteration) {
    if (!options_.naive || runtime_.mode(fast_.device_sites.by_class[0]) != wic::Mode::poll) return 0;
    const std::uint32_t step = iteration - last_naive_[iteration % 2];
    last_naive_[iteration % 2] = iteration;
    return step;
  }

  // Every waiter has a separate word. Words polled with atomics also have separate sites.
  wic::Result<> make_medium(Medium& medium, bool naive) {
    if (wic::Result<> added = add_sites(medium, naive); !added) return added;
    const wic::Memory where = naive ? wic::Memory::managed : wic::Memory::pinned_host;
    wic::Device& device = runtime_.device(0);  // any device works: all devices share such memory
    for (std::uint32_t rank = 0; rank < domain_.ranks; ++rank) {
      Outbox outbox{nullptr, nullptr, domain_.n};
      auto cells = wic::Array<Cell>::make(device, outbox.stored_cells(), where);
      if (!cells) return cells.error();
      auto flags = wic::Array<Flag>::make(device, Outbox::kFlags, where);
      if (!flags) return flags.error();
      outbox.cells = cells->data();
      outbox.flags = flags->data();
      medium.cells.push_back(*std::move(cells));
      medium.flags.push_back(*std::move(flags));
      medium.outboxes.push_back(outbox);
    }
    return wic::ok();
  }

  // The CPU's messages are copied into the memory of the ranks beside it.
  wic::Result<> make_inboxes() {
    for (const std::uint32_t rank : {1u, domain_.ranks - 1}) {
      if (inboxes_.contains(rank)) continue;
      auto inbox = Inbox::make(runtime_.device(rank - 1), domain_.n);
      if (!inbox) return inbox.error();
      inboxes_.emplace(rank, *std::move(inbox));
    }
    return wic::ok();
  }
  /// nullptr: the rank reads the CPU's outbox.
  Inbox* inbox(std::uint32_t rank) const {
    const auto found = inboxes_.find(rank);
    return found == inboxes_.end() ? nullptr : found->second.get();
  }

  wic::Result<> add_sites(Medium& medium, bool naive) {
    const auto add = [&](const char* name, bool on_device) {
      wic::SiteSpec site;
      site.name = options_.prefix + name + (naive ? ".naive" : "");
      site.word_memory = naive ? wic::WordMemory::managed : wic::WordMemory::pinned_host;
      // With one device, all of its messages are the CPU's.
      const bool copied = on_device && options_.rival == Rival::demandcpy && domain_.ranks == 2;
      if (copied) site.word_memory = wic::WordMemory::device;
      if (naive && on_device) site.own = wic::StrategyId::naive;
      site.purpose = wic::SitePurpose::data;
      return runtime_.add_site(site);
    };
    const auto host = add("h3d.host", false);
    if (!host) return host.error();
    for (std::uint32_t c = 0; c < kMessageClasses; ++c) {
      const auto site = add(kSiteNames[c], true);
      if (!site) return site.error();
      medium.host_sites.by_class[c] = *host;
      medium.device_sites.by_class[c] = *site;
    }
    return wic::ok();
  }

  Neighbours neighbours(const Medium& medium, std::uint32_t rank) const {
    const auto at = [&](std::uint32_t of) {
      const Inbox* const copies = of == 0 ? inbox(rank) : nullptr;
      return Neighbour{copies != nullptr ? copies->outbox() : medium.outboxes[of],
                       of == 0 ? medium.host_sites : medium.device_sites};
    };
    const std::uint32_t left = (rank + domain_.ranks - 1) % domain_.ranks;
    const std::uint32_t right = (rank + 1) % domain_.ranks;
    return {at(rank).outbox,       at(rank).sites,         at(left),          at(right),
            domain_.begin_x(rank), domain_.brick(rank).nx, domain_.length_x()};
  }

  wic::Runtime& runtime_;
  const RingOptions options_;
  Domain domain_;
  Medium fast_, naive_;                                      // naive_: empty unless options_.naive
  std::uint32_t last_naive_[2] = {0, 0};                     // last even and odd iteration with the naive way
  std::map<std::uint32_t, std::unique_ptr<Inbox>> inboxes_;  // by rank; empty unless they are used
  std::unique_ptr<HostRank> host_;
  std::vector<DeviceRank> devices_;
};

}  // namespace sample::h3d
