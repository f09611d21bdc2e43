// A device's kernels: `Refresh` once per step, then `Exchange` and `MultiplyArrived` per panel.
#pragma once

#include "common/ranks.h"
#include "g_gem/multiply.h"
#include "g_gem/panels.h"
#include "rivals/early_publish.h"
#include "wic/receiver.h"
#include "wic/sender.h"

namespace sample::gem {

inline constexpr std::uint32_t kMaxPeers = 7;

/// Computes the B of the next step: every word w becomes 3 w + 1.
struct Refresh {
  Word* words;
  std::size_t count;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::size_t stride = std::size_t{thread.block_count()} * thread.block_size();
    for (std::size_t i = std::size_t{thread.block()} * thread.block_size() + thread.index(); i < count; i += stride) {
      words[i] = 3 * words[i] + 1;
      thread.step();
    }
  }
};

/// The connection to another device.
struct Peer {
  std::uint32_t device = 0;
  wic::Sender out;
  wic::Receiver in;
  wic::Cycle out_cycle{0}, in_cycle{0};
  Word* arrived = nullptr;  ///< the other device's panel, in this device's memory
};

/// Arguments of both kernels of a panel.
struct PanelWork {
  Panels panels;
  Matrices matrices;
  Peer peers[kMaxPeers];
  std::uint32_t device = 0;
  std::uint32_t panel = 0;
  Failure* failure = nullptr;
  std::uint32_t iteration = 0;

  WIC_DEVICE std::uint32_t peer_count() const { return panels.devices - 1; }
  WIC_DEVICE std::uint32_t chunks(std::uint32_t threads) const {
    return Tiling::tiles(threads, matrices.rows, matrices.n);
  }
};

/// A task is one tile to and one tile from another device. Its block sends the tile, computes a tile of the product
/// with the device's own panel (C1), waits for the other device's tile and stores it for MultiplyArrived. The other
/// blocks compute the rest of C1.
struct Exchange {
  static constexpr int kMaxThreads = 512, kMinBlocksPerSm = 1;

  PanelWork work;
  const Word* b;  ///< the device's band
  std::uint64_t timeout_ns;

  WIC_DEVICE std::uint32_t tasks() const { return work.peer_count() * work.panels.tiles; }

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    run(thread, [](std::uint32_t) { return true; });
  }

 protected:
  /// `computed(task)`: called after C1, before the wait of that task. False: a deadline passed.
  template <class Computed>
  WIC_DEVICE void run(const wic::Thread& thread, const Computed& computed) const {
    if (work.failure->stops(thread, work.iteration)) return;
    const std::uint32_t all = tasks();
    for (std::uint32_t task = thread.block(); task < all; task += thread.block_count()) {
      if (!send(thread, task, work.peers[task / work.panels.tiles].out_cycle, work.panel)) return;
    }
    const std::uint32_t first = work.panels.panel_begin(work.device, work.panel);
    const Factor own{{b + std::size_t{first - work.panels.band_begin(work.device)} * work.panels.n,
                      work.panels.panel_rows(work.device, work.panel)},
                     first};
    const std::uint32_t waiting = all < thread.block_count() ? all : thread.block_count();
    deal_chunks(thread, waiting, work.chunks(thread.block_size()),
                [&](std::uint32_t tile) { multiply_tile(thread, work.matrices, tile, own); });
    for (std::uint32_t task = thread.block(); task < all; task += thread.block_count()) {
      if (!computed(task)) return;
      if (!receive(thread, work.peers[task / work.panels.tiles], task % work.panels.tiles)) return;
    }
  }

  /// Sends the task's tile of a panel.
  WIC_DEVICE bool send(const wic::Thread& thread, std::uint32_t task, const wic::Cycle& cycle,
                       std::uint32_t panel) const {
    const Panels& p = work.panels;
    const Peer& peer = work.peers[task / p.tiles];
    const std::uint32_t tag = task % p.tiles;
    const std::uint32_t row = p.tile_begin(work.device, panel, tag);
    const std::uint32_t rows = p.tile_begin(work.device, panel, tag + 1) - row;
    const std::uint32_t bytes = rows * p.n * static_cast<std::uint32_t>(sizeof(Word));
    const wic::WaitResult wait = peer.out.send(
        thread, wic::block_group(thread), tag, cycle, b + std::size_t{row - p.band_begin(work.device)} * p.n, bytes,
        timeout_ns, wic::Payload::contiguous(std::uint64_t{row} * p.n * sizeof(Word), bytes));
    if (wait) return true;
    if (thread.index() == 0) work.failure->report(thread, work.iteration, peer.device, tag, true);
    return false;
  }

 private:
  WIC_DEVICE bool receive(const wic::Thread& thread, const Peer& peer, std::uint32_t tag) const {
    const Panels& p = work.panels;
    const wic::Group group = wic::block_group(thread);
    const wic::Message message = peer.in.receive(thread, group, tag, peer.in_cycle, timeout_ns);
    if (message.data == nullptr) {
      if (thread.index() == 0) work.failure->report(thread, work.iteration, peer.device, tag, false);
      return false;
    }
    const std::uint32_t row = p.tile_begin(peer.device, work.panel, tag) - p.panel_begin(peer.device, work.panel);
    wic::copy_bytes(thread, thread.index(), thread.block_size(),
                    reinterpret_cast<std::byte*>(peer.arrived + std::size_t{row} * p.n), message.data, message.bytes);
    peer.in.release(thread, group, tag, peer.in_cycle);
    return true;
  }
};

/// After GPS: also sends the next panel of the step, whose rows exist already, before it waits for this one. The next
/// Exchange sends it again, which does nothing.
struct ExchangeAhead : Exchange {
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    run(thread, [&](std::uint32_t task) {
      return send(thread, task, next_cycle_of(work.peers[task / work.panels.tiles].out_cycle), work.panel + 1);
    });
  }
};

/// The product with the received panels (C2).
struct MultiplyArrived {
  static constexpr int kMaxThreads = 512, kMinBlocksPerSm = 1;

  PanelWork work;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (work.failure->stops(thread, work.iteration + 1)) return;
    deal_chunks(thread, 0, work.chunks(thread.block_size()), [&](std::uint32_t tile) {
      for (std::uint32_t i = 0; i < work.peer_count(); ++i) {
        const Peer& peer = work.peers[i];
        const Factor arrived{{peer.arrived, work.panels.panel_rows(peer.device, work.panel)},
                             work.panels.panel_begin(peer.device, work.panel)};
        multiply_tile(thread, work.matrices, tile, arrived);
      }
    });
  }
};

}  // namespace sample::gem
