// A device's kernels of an iteration, one behind the other in one stream: `MultiplyBoundary` where products are what is
// sent, `Exchange`, `Finish`.
#pragma once

#include "krylov/cg.h"
#include "krylov/cluster_options.h"
#include "krylov/message.h"
#include "wic/receiver.h"
#include "wic/sender.h"

namespace sample::krylov {

inline constexpr std::uint32_t kMaxPeers = kMaxRanks - 1;

/// Of a block. Three such blocks an SM leave 40 registers a thread: what waiting needs beyond that it keeps in memory.
inline constexpr int kMaxBlockThreads = 512;

/// The first deadline that passed on a device, in its memory.
struct DeviceFailure {
  std::uint32_t failed_at;  ///< the iteration; 0 = none
  std::uint32_t rank;       ///< the other end
  std::uint32_t for_space;  ///< 1: it waited to send, 0: to receive
  std::uint32_t wrong;      ///< messages that were not those of the iteration
};

/// Another rank, as a kernel sees it.
struct Peer {
  wic::Sender sender;
  wic::Receiver receiver;
  wic::Payload payload;
  const std::uint32_t* from;  ///< Outgoing::from
  double* message;            ///< where what is sent is put together
  std::uint32_t rank;
  std::uint32_t values_out, values_in;
  std::uint32_t parts;
  std::uint32_t ghost_begin;
  std::uint32_t send_cycle, receive_cycle;
};

/// What all kernels of an iteration are given.
struct Iteration {
  RankView rank;
  DeviceFailure* failure;
  Dots* dots;         ///< of each rank, as they came with the messages
  CgState* states;    ///< after odd and after even iterations
  std::uint32_t own;  ///< this rank's number
  std::uint32_t ranks;
  Kind kind;
  bool first;
  std::uint32_t number;

  /// After a passed deadline nothing more is sent, so that all come to a stop. All threads decide alike: only earlier
  /// kernels count.
  WIC_DEVICE bool is_over(const wic::Thread& thread, bool this_one_counts) const {
    const std::uint32_t failed_at = thread.load(&failure->failed_at);
    return failed_at != 0 && (failed_at < number || this_one_counts);
  }
};

/// The rank's own products of the rows that it shares, before they are sent.
struct MultiplyBoundary {
  static constexpr int kMaxThreads = kMaxBlockThreads, kMinBlocksAnSm = 3;
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

/// A block for each other rank waits for its message. All other blocks send what there is to send and then multiply the
/// interior rows, which need no message (C1). Where there are not that many blocks, they do one after the other.
/// Shared memory: FoldScratch.
struct Exchange {
  static constexpr int kMaxThreads = kMaxBlockThreads, kMinBlocksAnSm = 3;

  Iteration it;
  std::uint64_t timeout_ns;
  std::uint32_t peer_count;
  std::uint32_t messages;  ///< parts of all messages
  Peer peers[kMaxPeers];

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (it.is_over(thread, false)) return;
    const bool waiters_apart = thread.block_count() > peer_count;
    const std::uint32_t waiters = waiters_apart ? peer_count : thread.block_count();
    if (!waiters_apart || thread.block() >= waiters) {
      const std::uint32_t block = waiters_apart ? thread.block() - waiters : thread.block();
      const std::uint32_t blocks = waiters_apart ? thread.block_count() - waiters : thread.block_count();
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

  /// Message `number` of all peers' parts in a row.
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
    if (sent.status == wicprof::WaitStatus::satisfied) return true;
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

  /// The values of this part, which send_part() then takes: whole lines, the last part what is left.
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

/// The boundary rows (C2), the update of all rows, and the dot products of the next iteration, chunk by chunk. The
/// boundary is at the end, and is begun with, since its rows take longest. Shared memory: FoldScratch.
struct Finish {
  static constexpr int kMaxThreads = kMaxBlockThreads, kMinBlocksAnSm = 3;
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

/// x = 0, before a solve.
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
