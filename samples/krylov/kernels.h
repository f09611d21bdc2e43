// A device's kernels of an iteration, queued in one stream: `MultiplyBoundary` (only if messages carry products),
// `Exchange`, `Finish`.
#pragma once

#include "krylov/cg.h"
#include "krylov/cluster_options.h"
#include "krylov/message.h"
#include "wic/receiver.h"
#include "wic/sender.h"

namespace sample::krylov {

inline constexpr std::uint32_t kMaxPeers = kMaxRanks - 1;

/// Per block. Three such blocks per SM leave 40 registers per thread; the compiler spills the registers that waiting
/// needs beyond that.
inline constexpr int kMaxBlockThreads = 512;

/// The first missed deadline on a device, in device memory.
struct DeviceFailure {
  std::uint32_t failed_at;  ///< iteration; 0 = none
  std::uint32_t rank;       ///< rank at the other end
  std::uint32_t for_space;  ///< 1: the wait was for buffer space to send into; 0: for a message
  std::uint32_t wrong;      ///< messages that belonged to another iteration
};

/// A kernel's connection to another rank.
struct Peer {
  wic::Sender sender;
  wic::Receiver receiver;
  wic::Payload payload;
  const std::uint32_t* from;  ///< Outgoing::from
  double* message;            ///< buffer in which the outgoing message is assembled
  std::uint32_t rank;
  std::uint32_t values_out, values_in;
  std::uint32_t parts;
  std::uint32_t ghost_begin;
  std::uint32_t send_cycle, receive_cycle;
};

/// Common arguments of all kernels of an iteration.
struct Iteration {
  RankView rank;
  DeviceFailure* failure;
  Dots* dots;         ///< per rank, from its message
  CgState* states;    ///< two states, index: iteration % 2
  std::uint32_t own;  ///< this rank's number
  std::uint32_t ranks;
  Kind kind;
  bool first;
  std::uint32_t number;

  /// Whether to stop after a missed deadline, so that all ranks stop. All threads agree, because only earlier kernels
  /// count (with `this_one_counts`, also earlier kernels of this iteration).
  WIC_DEVICE bool is_over(const wic::Thread& thread, bool this_one_counts) const {
    const std::uint32_t failed_at = thread.load(&failure->failed_at);
    return failed_at != 0 && (failed_at < number || this_one_counts);
  }
};

/// Computes the rank's own products of its shared rows, before they are sent.
struct MultiplyBoundary {
  static constexpr int kMaxThreads = kMaxBlockThreads, kMinBlocksPerSm = 3;
  Iteration it;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (it.is_over(thread, false)) return;
    const std::uint32_t count = it.rank.rows - it.rank.interior;
    const std::uint32_t stride = thread.block_count() * thread.block_size();
    for (std::uint32_t i = thread.block() * thread.block_size() + thread.index(); i < count; i += stride) {
      it.rank.multiply_boundary(it.kind, i);
      thread.step();
    }
  }
};

/// One block per other rank waits for that rank's message. All other blocks send messages and then multiply the
/// interior rows, which need no message (C1). With too few blocks, a block does both one after the other. Shared
/// memory: FoldScratch.
struct Exchange {
  static constexpr int kMaxThreads = kMaxBlockThreads, kMinBlocksPerSm = 3;

  Iteration it;
  std::uint64_t timeout_ns;
  std::uint32_t peer_count;
  std::uint32_t messages;  ///< parts of all messages
  Peer peers[kMaxPeers];

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (it.is_over(thread, false)) return;
    const bool separate_waiters = thread.block_count() > peer_count;
    const std::uint32_t waiters = separate_waiters ? peer_count : thread.block_count();
    if (!separate_waiters || thread.block() >= waiters) {
      const std::uint32_t block = separate_waiters ? thread.block() - waiters : thread.block();
      const std::uint32_t blocks = separate_waiters ? thread.block_count() - waiters : thread.block_count();
      for (std::uint32_t m = block; m < messages; m += blocks) {
        if (!send_numbered(thread, m)) break;
      }
      multiply(thread, block, blocks);
    }
    if (thread.block() < waiters) {
      for (std::uint32_t p = thread.block(); p < peer_count; p += waiters) {
        if (!receive(thread, peers[p])) return;
      }
    }
  }

 private:
  WIC_DEVICE void multiply(const wic::Thread& thread, std::uint32_t block, std::uint32_t blocks) const {
    const std::uint32_t stride = blocks * thread.block_size();
    for (std::uint32_t row = block * thread.block_size() + thread.index(); row < it.rank.interior; row += stride) {
      it.rank.multiply_interior(it.kind, row);
      thread.step();
    }
  }

  /// Sends part `number`, counted over all peers' messages.
  WIC_DEVICE bool send_numbered(const wic::Thread& thread, std::uint32_t number) const {
    std::uint32_t p = 0;
    while (number >= peers[p].parts) number -= peers[p++].parts;
    return send(thread, peers[p], p == 0, number);
  }

  WIC_DEVICE bool send(const wic::Thread& thread, const Peer& peer, bool keeps_dots, std::uint32_t part) const {
    const std::uint32_t bytes = message_bytes(peer.values_out);
    if (part == 0) head(thread, peer, keeps_dots);
    gather(thread, peer, bytes, part);
    const wic::Cycle cycle(peer.send_cycle, it.number);
    const wic::WaitResult sent = peer.sender.send_part(thread, wic::block_group(thread), 0, cycle, peer.message, bytes,
                                                       part, peer.parts, timeout_ns, peer.payload);
    if (sent) return true;
    fail(thread, peer, 1);
    return false;
  }

  WIC_DEVICE void head(const wic::Thread& thread, const Peer& peer, bool keeps_dots) const {
    Dots dots{0, 0};
    if (it.kind != Kind::residual) {
      auto& scratch = *static_cast<FoldScratch*>(thread.shared());
      const std::uint32_t chunks = chunks_of(it.rank.rows);
      for (std::uint32_t slot = thread.index(); slot < kSlots; slot += thread.block_size()) {
        scratch.slots[slot] = slot_of_chunks(it.rank.chunks, chunks, slot);
      }
      dots = block_fold(thread, scratch);
    }
    if (thread.index() != 0) return;
    peer.message[kGammaAt] = dots.gamma;
    peer.message[kDeltaAt] = dots.delta;
    peer.message[kIterationAt] = it.number;
    if (keeps_dots) it.dots[it.own] = dots;
  }

  /// Gathers the values of this part for send_part(): whole lines; the last part takes the rest.
  WIC_DEVICE void gather(const wic::Thread& thread, const Peer& peer, std::uint32_t bytes, std::uint32_t part) const {
    constexpr std::uint32_t kLineDoubles = wic::kLineBytes / sizeof(double);
    const std::uint32_t all = bytes / sizeof(double);
    const std::uint32_t share = (all + peer.parts - 1) / peer.parts;
    const std::uint32_t lines = (share + kLineDoubles - 1) / kLineDoubles * kLineDoubles;
    const std::uint32_t begin = part * lines;
    const std::uint32_t end = begin + lines < all ? begin + lines : all;
    const double* const values = it.rank.sent(it.kind);
    for (std::uint32_t i = begin + thread.index(); i < end; i += thread.block_size()) {
      if (i >= kHead) peer.message[i] = values[peer.from[i - kHead]];
      thread.step();
    }
  }

  WIC_DEVICE bool receive(const wic::Thread& thread, const Peer& peer) const {
    const wic::Group group = wic::block_group(thread);
    const wic::Cycle cycle(peer.receive_cycle, it.number);
    const wic::Message message = peer.receiver.receive(thread, group, 0, cycle, timeout_ns);
    if (message.data == nullptr) {
      fail(thread, peer, 0);
      return false;
    }
    const auto* const values = reinterpret_cast<const double*>(message.data);
    if (thread.index() == 0) {
      it.dots[peer.rank] = {values[kGammaAt], values[kDeltaAt]};
      const bool right = message.bytes == message_bytes(peer.values_in) && values[kIterationAt] == it.number;
      if (!right) thread.fetch_add(&it.failure->wrong, 1);
    }
    for (std::uint32_t i = thread.index(); i < peer.values_in; i += thread.block_size()) {
      it.rank.ghosts[peer.ghost_begin + i] = values[kHead + i];
      thread.step();
    }
    peer.receiver.release(thread, group, 0, cycle);
    return true;
  }

  WIC_DEVICE void fail(const wic::Thread& thread, const Peer& peer, std::uint32_t for_space) const {
    if (thread.index() != 0) return;
    thread.store(&it.failure->rank, peer.rank);
    thread.store(&it.failure->for_space, for_space);
    thread.store(&it.failure->failed_at, it.number);
  }
};

/// Computes the boundary rows (C2), the update of all rows and the dot products of the next iteration, chunk by chunk.
/// Starts with the last chunks: they hold the boundary rows, which take longest. Shared memory: FoldScratch.
struct Finish {
  static constexpr int kMaxThreads = kMaxBlockThreads, kMinBlocksPerSm = 3;
  Iteration it;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (it.is_over(thread, true)) return;
    const Coefficients c = it.kind == Kind::step ? step_coefficients(thread) : Coefficients{0, 0};
    auto& scratch = *static_cast<FoldScratch*>(thread.shared());
    const std::uint32_t chunks = chunks_of(it.rank.rows);
    for (std::uint32_t i = thread.block(); i < chunks; i += thread.block_count()) {
      const std::uint32_t chunk = chunks - 1 - i;
      for (std::uint32_t slot = thread.index(); slot < kSlots; slot += thread.block_size()) {
        scratch.slots[slot] = it.rank.finish_slot(it.kind, c, chunk, slot);
        thread.step();
      }
      const Dots sum = block_fold(thread, scratch);
      if (thread.index() == 0) it.rank.chunks[chunk] = sum;
    }
  }

 private:
  WIC_DEVICE Coefficients step_coefficients(const wic::Thread& thread) const {
    Dots dots{0, 0};
    for (std::uint32_t r = 0; r < it.ranks; ++r) dots = dots + it.dots[r];
    const Coefficients c = coefficients_of(it.states[(it.number - 1) % 2], dots, it.first);
    if (thread.block() == 0 && thread.index() == 0) it.states[it.number % 2] = {dots.gamma, c.alpha};
    return c;
  }
};

/// Sets x = 0 before a solve.
struct Reset {
  double* x;
  std::uint32_t rows;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t stride = thread.block_count() * thread.block_size();
    for (std::uint32_t i = thread.block() * thread.block_size() + thread.index(); i < rows; i += stride) {
      x[i] = 0;
      thread.step();
    }
  }
};

}  // namespace sample::krylov
