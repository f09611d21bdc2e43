// The program: the ring and its reference.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "c_h3d/reference.h"
#include "c_h3d/ring.h"
#include "common/app.h"
#include "common/replay.h"

namespace sample::h3d {

class HaloExchange : public App {
 public:
  static wic::Result<std::unique_ptr<HaloExchange>> make(wic::Runtime& runtime, const AppOptions& options) {
    const std::uint32_t n = options.size != 0 ? options.size : options.on_gpu ? 192 : 16;
    if (n > kMaxSize) return wic::bad_input("--size goes up to " + std::to_string(kMaxSize));
    const std::string& when = options.more.at("check");
    if (when != "end" && when != "every") return wic::bad_input("--check must be end or every, not " + when);
    RingOptions ring_options;
    // With GPUs, give the CPU as many cells as it can update in the time a GPU needs for its cube.
    ring_options.host_planes = options.number("cpu-planes");
    if (ring_options.host_planes == 0 && options.on_gpu) ring_options.host_planes = std::min(n, 4u);
    ring_options.threads = options.number("threads");
    if (ring_options.threads == 0) {
      ring_options.threads = std::clamp(std::thread::hardware_concurrency() / 2, 1u, options.on_gpu ? 8u : 2u);
    }
    ring_options.naive = options.way == Way::naive;
    ring_options.prefix = options.prefix;
    ring_options.rival = options.rival;
    ring_options.grid = {options.blocks, options.block_size};
    auto ring = Ring::make(runtime, n, ring_options);
    if (!ring) return ring.error();
    std::unique_ptr<HaloExchange> program(new HaloExchange(*std::move(ring), options.timeout_ns, when == "every"));
    if (wic::Result<> scattered = program->ring_->scatter(program->reference_.field()); !scattered) {
      return scattered.error();
    }
    return wic::Result<std::unique_ptr<HaloExchange>>(std::move(program));
  }

  wic::Result<> step(std::uint32_t) override {
    if (wic::Result<> done = iterate(); !done) return done;
    return check_every_ ? compare() : wic::ok();
  }

  wic::Result<> check() override {
    if (check_every_) return wic::ok();
    // A run that is too long to repeat is checked by the sum of all cells; the reference then repeats some extra
    // iterations.
    if (const std::uint32_t extra = plan_.extra_after(iteration_); extra != 0) {
      auto field = ring_->gather();
      if (!field) return field.error();
      if (wic::Result<> kept = check_total(*field); !kept) return kept;
      reference_ = Reference(ring_->domain(), *std::move(field), iteration_);
      for (std::uint32_t i = 0; i < extra; ++i) {
        if (wic::Result<> done = iterate(); !done) return done;
      }
    }
    return compare();
  }

  Traffic traffic() const override {
    const Domain& domain = ring_->domain();
    return {static_cast<double>(domain.ranks * kMessages),
            static_cast<double>(domain.ranks * cells_sent(domain.n) * sizeof(Cell))};
  }

  std::string shape() const override {
    const Domain& domain = ring_->domain();
    std::string text = std::to_string(domain.ranks) + " ranks of " + std::to_string(domain.n) + "^3 cells";
    if (domain.first_nx != domain.n) text += " (the CPU's rank: " + std::to_string(domain.first_nx) + " along x)";
    if (reference_.from() != 0) {
      text += ", the last " + std::to_string(iteration_ - reference_.from()) +
              " iterations checked cell by cell, all by the sum";
    }
    return text;
  }

 private:
  static constexpr std::uint32_t kMaxSize = 512;
  /// Limit on cell updates by the reference, so that a check takes seconds.
  static constexpr std::uint64_t kMaxCellUpdates = std::uint64_t{1} << 28;

  HaloExchange(std::unique_ptr<Ring> ring, std::uint64_t timeout_ns, bool check_every)
      : ring_(std::move(ring)),
        timeout_ns_(timeout_ns),
        check_every_(check_every),
        plan_(ReplayPlan::for_words(ring_->domain().cells(), kMaxCellUpdates)),
        reference_(ring_->domain(), initial_field(ring_->domain()), 0),
        total_(total_of(reference_.field())) {}

  wic::Result<> iterate() {
    const wic::Result<bool> in_time = ring_->iterate(++iteration_, timeout_ns_);
    if (!in_time) return in_time.error();
    const auto failure = ring_->settle();
    if (!failure) return failure.error();
    if (failure->missed != 0) {
      return wic::failed(std::to_string(failure->missed) + " missed deadlines in iteration " +
                         std::to_string(iteration_) + ": " + failure->first +
                         "; raise --timeout if the machine is busy");
    }
    if (failure->overruns != 0) {
      return wic::failed(std::to_string(failure->overruns) + " messages were overwritten");
    }
    return wic::ok();
  }

  wic::Result<> check_total(const std::vector<Cell>& field) const {
    if (total_of(field) == total_) return wic::ok();
    return wic::failed("the sum of all cells has changed within " + std::to_string(iteration_) + " iterations");
  }

  wic::Result<> compare() {
    const auto field = ring_->gather();
    if (!field) return field.error();
    reference_.advance_to(iteration_);
    if (const Comparison cells = reference_.compare(*field); !cells.ok()) {
      return wic::failed(std::to_string(cells.wrong) + " wrong cells; " + cells.first);
    }
    return check_total(*field);
  }

  std::unique_ptr<Ring> ring_;
  std::uint64_t timeout_ns_;
  bool check_every_;
  std::uint32_t iteration_ = 0;
  ReplayPlan plan_;
  Reference reference_;
  Cell total_;
};

}  // namespace sample::h3d
