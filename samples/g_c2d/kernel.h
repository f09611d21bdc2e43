// One filter pass over a device's band of rows.
#pragma once

#include "common/slabs.h"
#include "g_c2d/filter.h"

namespace sample::c2d {

/// A task is an existing side. Its block sends the band's outermost rows, filters a piece of the rows that need no
/// other band (C1), waits for the rows beyond the border, and filters the rows that need them (C2). The other blocks
/// filter the rest of C1.
struct Filter : SlabKernel {
  static constexpr int kMaxThreads = 512, kMinBlocksPerSm = 3;
  static constexpr std::uint32_t kColumn = 8;  ///< rows that a thread filters in one call

  std::uint32_t width = 0;

  WIC_DEVICE std::uint32_t tasks() const { return side_count(); }
  /// The rows that need no other band.
  WIC_DEVICE std::uint32_t free_begin() const { return sides[0].exists ? kReach : 0; }
  WIC_DEVICE std::uint32_t free_rows() const { return units - side_count() * kReach; }
  /// Pieces of C1, each one block wide.
  WIC_DEVICE std::uint32_t chunks(std::uint32_t threads) const {
    const std::uint32_t items = (free_rows() + kColumn - 1) / kColumn * width;
    return (items + threads - 1) / threads;
  }

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    run(thread, [](std::uint32_t) { return true; });
  }

  /// `computed`: see EarlyPublish; called with a side. False: a deadline passed.
  template <class Computed>
  WIC_DEVICE void run(const wic::Thread& thread, const Computed& computed) const {
    if (failure->stops(thread, iteration)) return;
    const std::uint32_t all = tasks();
    for (std::uint32_t task = thread.block(); task < all; task += thread.block_count()) {
      if (!send(thread, side(task), sides[side(task)].out_cycle, from)) return;
    }
    const std::uint32_t waiting = all < thread.block_count() ? all : thread.block_count();
    deal_chunks(thread, waiting, chunks(thread.block_size()),
                [&](std::uint32_t chunk) { filter_chunk(thread, chunk); });
    for (std::uint32_t task = thread.block(); task < all; task += thread.block_count()) {
      if (!receive(thread, side(task)) || !computed(side(task))) return;
    }
  }

  WIC_DEVICE static std::uint32_t side_of(std::uint32_t s) { return s; }

  /// Sends the outermost rows of `band` at side s.
  WIC_DEVICE bool send(const wic::Thread& thread, std::uint32_t s, const wic::Cycle& cycle, const Pixel* band) const {
    const std::uint32_t row = s == 0 ? 0 : units - kReach;
    const std::uint32_t bytes = kReach * width * static_cast<std::uint32_t>(sizeof(Pixel));
    const std::uint64_t offset = std::uint64_t{first_unit + row} * width * sizeof(Pixel);
    const wic::WaitResult wait =
        sides[s].out.send(thread, wic::block_group(thread), 0, cycle, band + std::size_t{row} * width, bytes,
                          timeout_ns, wic::Payload::contiguous(offset, bytes));
    if (wait) return true;
    if (thread.index() == 0) failure->report(thread, iteration, sides[s].peer, 0, true);
    return false;
  }

 private:
  WIC_DEVICE void filter_chunk(const wic::Thread& thread, std::uint32_t chunk) const {
    const Band band{from, nullptr, nullptr, width, units};
    const std::uint32_t item = chunk * thread.block_size() + thread.index();
    const std::uint32_t done = item / width * kColumn;
    if (done >= free_rows()) return;
    const std::uint32_t left = free_rows() - done;
    filter_column(band, to, item % width, free_begin() + done, left < kColumn ? left : kColumn);
    thread.step();
  }

  WIC_DEVICE bool receive(const wic::Thread& thread, std::uint32_t s) const {
    const SlabSide& link = sides[s];
    const wic::Group group = wic::block_group(thread);
    const wic::Message message = link.in.receive(thread, group, 0, link.in_cycle, timeout_ns);
    if (message.data == nullptr) {
      if (thread.index() == 0) failure->report(thread, iteration, link.peer, 0, false);
      return false;
    }
    const auto* const beyond = reinterpret_cast<const Pixel*>(message.data);
    const Band band{from, s == 0 ? beyond : nullptr, s == 1 ? beyond : nullptr, width, units};
    for (std::uint32_t x = thread.index(); x < width; x += thread.block_size()) {
      filter_column(band, to, x, s == 0 ? 0 : units - kReach, kReach);
      thread.step();
    }
    link.in.release(thread, group, 0, link.in_cycle);
    return true;
  }
};

}  // namespace sample::c2d
