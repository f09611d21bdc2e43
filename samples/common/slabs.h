// A field of words split into slabs, one per device. A slab is a run of consecutive units (rows of an image, planes of
// a cube). In every iteration a kernel computes a new field from the old one, and neighbours exchange messages.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/lane.h"
#include "common/ranks.h"
#include "common/replay.h"
#include "rivals/early_publish.h"

namespace sample {

/// A kernel's connection to the slab before or after its own.
struct SlabSide {
  std::uint32_t peer = 0;  ///< the device that has that slab
  bool exists = false;     ///< false: the field ends here
  wic::Sender out;
  wic::Receiver in;
  wic::Cycle out_cycle{0}, in_cycle{0};
};

/// Base of every slab kernel; passed by value. A derived kernel adds kMaxThreads, tasks() (messages that it sends and
/// waits for per iteration), chunks(threads) (units of work for deal_chunks()) and what EarlyPublish needs.
struct SlabKernel {
  SlabSide sides[2];  ///< before, after
  const std::uint32_t* from = nullptr;
  std::uint32_t* to = nullptr;
  std::uint32_t units = 0;       ///< of this slab
  std::uint32_t first_unit = 0;  ///< in the field
  Failure* failure = nullptr;
  std::uint32_t iteration = 0;  ///< from 1 on
  std::uint64_t timeout_ns = 0;

  WIC_DEVICE std::uint32_t side_count() const { return (sides[0].exists ? 1u : 0u) + (sides[1].exists ? 1u : 0u); }
  /// The i-th of the existing sides.
  WIC_DEVICE std::uint32_t side(std::uint32_t i) const { return sides[0].exists ? i : 1; }
};

struct SlabShape {
  std::string name;           ///< prefix of the lanes' names: NAME.FROM-TO
  const char* unit = "rows";  ///< word for units in error messages
  std::uint32_t units = 0;    ///< of the whole field
  std::size_t unit_words = 0;
  std::uint32_t min_units = 1;  ///< per device
  std::uint32_t tags = 1;       ///< messages per iteration in each direction between two neighbours
  std::uint32_t max_bytes = 4;  ///< per message
  std::uint32_t gpu_threads = 256;
};

template <class Kernel>
class Slabs {
 public:
  /// `kernel` carries the values common to all devices and iterations. The field starts as zero. Errors: too few units,
  /// a grid that does not fit, no memory.
  static wic::Result<std::unique_ptr<Slabs>> make(wic::Runtime& runtime, const AppOptions& options,
                                                  const SlabShape& shape, const Kernel& kernel) {
    std::unique_ptr<Slabs> slabs(new Slabs(runtime, options, shape, kernel));
    const auto count = static_cast<std::uint32_t>(runtime.device_count());
    if (shape.units / count < shape.min_units) {
      return wic::bad_input(std::to_string(shape.units) + " " + shape.unit + " on " + std::to_string(count) +
                            " devices: each device needs " + std::to_string(shape.min_units) + "; raise --size");
    }
    if (wic::Result<> joined = slabs->make_lanes(); !joined) return joined.error();
    for (std::uint32_t d = 0; d < count; ++d) {
      if (wic::Result<> added = slabs->add_slab(d); !added) return added.error();
    }
    auto staging = wic::Array<std::uint32_t>::make(runtime.device(0),
                                                   std::min<std::size_t>(kStagingWords, shape.units * shape.unit_words),
                                                   wic::Memory::pinned_host);
    if (!staging) return staging.error();
    slabs->staging_ = *std::move(staging);
    return wic::Result<std::unique_ptr<Slabs>>(std::move(slabs));
  }

  std::uint32_t iterations() const { return iteration_; }  ///< done so far
  std::uint32_t devices() const { return static_cast<std::uint32_t>(slabs_.size()); }
  std::uint32_t slab_begin(std::uint32_t device) const { return part_begin(shape_.units, devices_, device); }

  /// The current slab of a device, in device memory.
  const wic::Array<std::uint32_t>& slab(std::uint32_t device) const { return slabs_[device].current; }

  /// Messages per iteration, over both directions and all borders.
  double messages() const { return 2.0 * (devices() - 1) * shape_.tags; }

  wic::Result<> write(const Words& field) {
    return for_each_piece([&](wic::Stream& stream, std::uint32_t* place, std::size_t at, std::size_t words) {
      std::memcpy(staging_.data(), field.data() + at, words * sizeof(std::uint32_t));
      if (auto r = stream.copy(place, staging_.data(), words * sizeof(std::uint32_t)); !r) return r;
      return stream.synchronize();
    });
  }

  /// Launches `count` iterations on all devices and waits for them. Error: wic::failed for a missed deadline.
  wic::Result<> iterate(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (wic::Result<> launched = launch(++iteration_); !launched) return launched;
    }
    return finish_all(queues_, shape_.name);
  }

  wic::Result<Words> gather() {
    Words field(shape_.units * shape_.unit_words);
    const wic::Result<> done =
        for_each_piece([&](wic::Stream& stream, const std::uint32_t* place, std::size_t at, std::size_t words) {
          if (auto r = stream.copy(staging_.data(), place, words * sizeof(std::uint32_t)); !r) return r;
          if (auto r = stream.synchronize(); !r) return r;
          std::memcpy(field.data() + at, staging_.data(), words * sizeof(std::uint32_t));
          return wic::ok();
        });
    if (!done) return done.error();
    return field;
  }

 private:
  static constexpr std::size_t kStagingWords = std::size_t{1} << 24;

  struct Slab {
    Kernel kernel;
    wic::LaunchShape grid;
    wic::Array<std::uint32_t> current, next;
  };
  struct Border {                    // between slab i and slab i + 1
    std::unique_ptr<Lane> up, down;  // up: from i to i + 1
  };

  Slabs(wic::Runtime& runtime, const AppOptions& options, const SlabShape& shape, const Kernel& kernel)
      : runtime_(runtime),
        options_(options),
        shape_(shape),
        kernel_(kernel),
        devices_(static_cast<std::uint32_t>(runtime.device_count())) {
    shape_.name = options.prefix + shape.name;
  }

  wic::Result<> make_lanes() {
    const auto lane = [&](std::uint32_t from, std::uint32_t to) {
      LaneSpec spec;
      spec.name = lane_name(shape_.name, from, to);
      spec.producer = wic::End::on(static_cast<int>(from));
      spec.consumer = wic::End::on(static_cast<int>(to));
      spec.tags = shape_.tags;
      spec.max_bytes = shape_.max_bytes;
      spec.way = options_.way;
      spec.rival = options_.rival;
      return Lane::make(runtime_, spec);
    };
    for (std::uint32_t d = 0; d + 1 < devices_; ++d) {
      auto up = lane(d, d + 1);
      if (!up) return up.error();
      auto down = lane(d + 1, d);
      if (!down) return down.error();
      borders_.push_back({*std::move(up), *std::move(down)});
    }
    return wic::ok();
  }

  wic::Result<> add_slab(std::uint32_t d) {
    wic::Device& device = runtime_.device(d);
    auto queue = RankQueue::make(device);
    if (!queue) return queue.error();
    Slab slab{kernel_, {}, {}, {}};
    slab.kernel.first_unit = slab_begin(d);
    slab.kernel.units = slab_begin(d + 1) - slab.kernel.first_unit;
    slab.kernel.timeout_ns = options_.timeout_ns;
    slab.kernel.failure = queue->failure();
    const bool exists[2] = {d > 0, d + 1 < devices_};
    for (std::uint32_t s = 0; s < 2; ++s) {
      slab.kernel.sides[s].exists = exists[s];
      slab.kernel.sides[s].peer = s == 0 ? d - 1 : d + 1;
    }
    for (auto* field : {&slab.current, &slab.next}) {
      auto made = wic::Array<std::uint32_t>::make(device, slab.kernel.units * shape_.unit_words, wic::Memory::device);
      if (!made) return made.error();
      *field = *std::move(made);
    }
    const auto threads = choose_threads(options_, shape_.gpu_threads, Kernel::kMaxThreads);
    if (!threads) return threads.error();
    const EarlyPublish<Kernel> early{slab.kernel};
    const wic::KernelRef launched = publishes_early() ? wic::kernel_ref(early) : wic::kernel_ref(slab.kernel);
    const auto grid = choose_grid(device, launched, {1, *threads, 0}, options_, slab.kernel.tasks(),
                                  slab.kernel.chunks(*threads), ranks_on(runtime_, device));
    if (!grid) return grid.error();
    slab.grid = *grid;
    slabs_.push_back(std::move(slab));
    queues_.push_back(*std::move(queue));
    return wic::ok();
  }

  wic::Result<> launch(std::uint32_t iteration) {
    for (std::uint32_t d = 0; d + 1 < devices_; ++d) {
      const Lane::Turn up = borders_[d].up->turn(iteration);
      const Lane::Turn down = borders_[d].down->turn(iteration);
      connect(slabs_[d].kernel.sides[1], up, down);
      connect(slabs_[d + 1].kernel.sides[0], down, up);
      if (auto r = borders_[d].up->carry(up, options_.timeout_ns); !r) return r;
      if (auto r = borders_[d].down->carry(down, options_.timeout_ns); !r) return r;
    }
    for (std::uint32_t d = 0; d < devices_; ++d) {
      Slab& slab = slabs_[d];
      slab.kernel.iteration = iteration;
      slab.kernel.from = slab.current.data();
      slab.kernel.to = slab.next.data();
      wic::Stream& stream = queues_[d].stream();
      if (auto r = early(d, iteration) ? wic::launch(stream, slab.grid, EarlyPublish<Kernel>{slab.kernel})
                                       : wic::launch(stream, slab.grid, slab.kernel);
          !r) {
        return r;
      }
      std::swap(slab.current, slab.next);
    }
    return wic::ok();
  }

  bool publishes_early() const { return options_.rival == Rival::gps; }

  // Whether the slab's kernel sends the next iteration's messages, too.
  bool early(std::uint32_t d, std::uint32_t iteration) {
    if (!publishes_early()) return false;
    const auto keeps = [&](Lane& lane) { return keeps_way(lane, lane.turn(iteration)); };
    return (d == 0 || keeps(*borders_[d - 1].down)) && (d + 1 == devices_ || keeps(*borders_[d].up));
  }

  static void connect(SlabSide& side, const Lane::Turn& out, const Lane::Turn& in) {
    side.out = out.sender();
    side.out_cycle = out.cycle;
    side.in = in.receiver();
    side.in_cycle = in.cycle;
  }

  // Calls copy(stream, device address, word index in the field, words) for pieces that fit the staging memory.
  template <class Copy>
  wic::Result<> for_each_piece(const Copy& copy) {
    for (std::uint32_t d = 0; d < devices_; ++d) {
      const std::size_t begin = slab_begin(d) * shape_.unit_words;
      const std::size_t words = slabs_[d].current.size();
      for (std::size_t done = 0; done < words; done += staging_.size()) {
        const std::size_t size = std::min(staging_.size(), words - done);
        const wic::Result<> copied = copy(queues_[d].stream(), slabs_[d].current.data() + done, begin + done, size);
        if (!copied) return copied;
      }
    }
    return wic::ok();
  }

  wic::Runtime& runtime_;
  const AppOptions options_;
  SlabShape shape_;
  const Kernel kernel_;
  const std::uint32_t devices_;
  std::uint32_t iteration_ = 0;
  std::vector<Border> borders_;
  std::vector<Slab> slabs_;
  wic::Array<std::uint32_t> staging_;
  std::vector<RankQueue> queues_;  // last: destroyed first, so their work ends before the memory is freed
};

}  // namespace sample
