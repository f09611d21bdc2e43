// A layer of experts on several ranks: Gate routes each token to an expert and tells every rank how many tokens it
// gets, Dispatch brings the tokens to the ranks of their experts, Experts works on them.
#pragma once

#include "common/mix.h"
#include "common/ranks.h"
#include "field/neighbour.h"
#include "field/read_memory.h"
#include "wic/receiver.h"
#include "wic/sender.h"

namespace sample::expert_dispatch {

inline constexpr std::uint32_t kMaxRanks = 4;
inline constexpr std::uint32_t kChannels = 16;  ///< pairs of a sending and a receiving block, from each rank to each
inline constexpr std::uint32_t kExpertsPerRank = 8;

/// What all kernels of a rank's layer know.
struct Layer {
  std::uint32_t rank, ranks;
  std::uint32_t iteration;  ///< of the layer, from 1
  std::uint32_t tokens;     ///< per rank
  std::uint32_t quads;      ///< per token

  WIC_DEVICE std::uint32_t expert_of(std::uint32_t of_rank, std::uint32_t token) const {
    const std::uint64_t number = (std::uint64_t{iteration} * ranks + of_rank) * tokens + token;
    return scrambled(number) % (ranks * kExpertsPerRank);
  }
  /// The first token of a channel.
  WIC_DEVICE std::uint32_t first(std::uint32_t channel) const { return part_begin(tokens, kChannels, channel); }
  /// Calls visit(token, expert) for the channel's tokens of `from` that go to `to`, in order.
  template <class Visit>
  WIC_DEVICE void for_each(std::uint32_t from, std::uint32_t to, std::uint32_t channel, const Visit& visit) const {
    for (std::uint32_t t = first(channel); t < first(channel + 1); ++t) {
      const std::uint32_t expert = expert_of(from, t);
      if (expert / kExpertsPerRank == to) visit(t, expert);
    }
  }
};

/// Word k of a token's quad q.
WIC_DEVICE constexpr std::uint32_t word_of(const Layer& layer, std::uint32_t rank, std::uint32_t token, std::uint32_t q,
                                           std::uint32_t k) {
  return scrambled(((std::uint64_t{rank} * layer.tokens + token) * layer.quads + q) * 4 + k);
}

struct FillTokens {
  Layer layer;
  Quad* x;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    for (std::uint32_t i = thread.block() * thread.block_size() + thread.index(); i < layer.tokens * layer.quads;
         i += thread.block_count() * thread.block_size()) {
      for (std::uint32_t k = 0; k < 4; ++k) {
        x[i].v[k] = word_of(layer, layer.rank, i / layer.quads, i % layer.quads, k);
      }
      thread.step();
    }
  }
};

/// Reads the weights of what comes before the experts (attention). The last block sends each rank its counts, one per
/// channel.
struct Gate {
  static constexpr int kMaxThreads = 256, kMinBlocksPerSm = 4;

  Layer layer;
  const Quad* weights;
  std::uint32_t count, passes;
  std::uint32_t* arrived;  ///< device memory: blocks, over all layers
  std::uint32_t* sink;     ///< keeps the compiler from removing the work
  wic::Sender counts;      ///< to the CPU, a tag per rank
  wic::Cycle cycle{0};
  Failure* failure;
  std::uint64_t timeout_ns;

  static constexpr std::uint32_t shared_bytes(std::uint32_t ranks) { return (ranks * kChannels + 4) * 4; }

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    auto* const shared = static_cast<std::uint32_t*>(thread.shared());
    std::uint32_t* const last = shared + layer.ranks * kChannels;
    const std::uint32_t sum = grid_sum_of_quads(thread, weights, count, passes);
    if (sum == 0x5eed5eedu) thread.store(sink, sum);
    thread.sync_block();
    if (thread.index() == 0) {
      *last = thread.fetch_add(arrived, 1) + 1 == layer.iteration * thread.block_count() ? 1 : 0;
    }
    thread.sync_block();
    if (*last == 0) return;
    for (std::uint32_t i = thread.index(); i < layer.ranks * kChannels; i += thread.block_size()) {
      std::uint32_t tokens = 0;
      layer.for_each(layer.rank, i / kChannels, i % kChannels, [&](std::uint32_t, std::uint32_t) { ++tokens; });
      shared[i] = tokens;
      thread.step();
    }
    thread.sync_block();
    const wic::Group group = wic::block_group(thread);
    for (std::uint32_t to = 0; to < layer.ranks; ++to) {
      if (!counts.send(thread, group, to, cycle, shared + to * kChannels, kChannels * 4, timeout_ns) &&
          thread.index() == 0) {
        failure->report(thread, layer.iteration, to, to, true);
      }
    }
  }
};

/// The channels to and from another rank.
struct Peer {
  wic::Sender sender;
  wic::Receiver receiver;
  wic::Cycle send_cycle{0}, receive_cycle{0};
};

/// A message: one quad with the number of tokens, then for each token a quad with its expert, and its quads.
struct Dispatch {
  static constexpr int kMaxThreads = 256, kMinBlocksPerSm = 4;

  Layer layer;
  Peer peers[kMaxRanks];  ///< by rank; the own one is not used
  const Quad* x;
  Quad* inbox;                              ///< all tokens for this rank's experts, with their experts
  std::uint32_t at[kMaxRanks * kChannels];  ///< where the tokens of a rank and channel begin in the inbox
  Failure* failure;
  std::uint64_t timeout_ns;

  /// Of this rank: a sender and a receiver per channel of each other rank, and a block per channel for the own tokens.
  static constexpr std::uint32_t blocks(std::uint32_t ranks) { return (2 * ranks - 1) * kChannels; }

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (failure->stops(thread, layer.iteration)) return;
    const std::uint32_t channel = thread.block() % kChannels, role = thread.block() / kChannels;
    if (role == 0) return keep(thread, channel);
    const std::uint32_t peer = (layer.rank + (role + 1) / 2) % layer.ranks;
    if (role % 2 == 1) {
      send(thread, peer, channel);
    } else {
      receive(thread, peer, channel);
    }
  }

 private:
  WIC_DEVICE std::uint32_t pack(const wic::Thread& thread, std::uint32_t to, std::uint32_t channel,
                                Quad* records) const {
    std::uint32_t tokens = 0;
    layer.for_each(layer.rank, to, channel, [&](std::uint32_t token, std::uint32_t expert) {
      Quad* const record = records + std::size_t{tokens++} * (1 + layer.quads);
      const Quad* const from = x + std::size_t{token} * layer.quads;
      if (thread.index() == 0) record->v[0] = expert;
      for (std::uint32_t q = thread.index(); q < layer.quads; q += thread.block_size()) record[1 + q] = from[q];
      thread.step();
    });
    return tokens;
  }
  WIC_DEVICE void keep(const wic::Thread& thread, std::uint32_t channel) const {
    pack(thread, layer.rank, channel, inbox + std::size_t{at[layer.rank * kChannels + channel]} * (1 + layer.quads));
  }
  WIC_DEVICE void send(const wic::Thread& thread, std::uint32_t to, std::uint32_t channel) const {
    const Peer& peer = peers[to];
    const wic::Group group = wic::block_group(thread);
    const wic::Place place = peer.sender.place(thread, group, channel, peer.send_cycle, timeout_ns);
    if (place.data == nullptr) {
      if (thread.index() == 0) failure->report(thread, layer.iteration, to, channel, true);
      return;
    }
    auto* const message = reinterpret_cast<Quad*>(place.data);
    const std::uint32_t tokens = pack(thread, to, channel, message + 1);
    if (thread.index() == 0) message->v[0] = tokens;
    const auto bytes = static_cast<std::uint32_t>((1 + std::size_t{tokens} * (1 + layer.quads)) * sizeof(Quad));
    const std::uint64_t offset = std::uint64_t{layer.first(channel)} * layer.quads * sizeof(Quad);
    peer.sender.publish(thread, group, channel, peer.send_cycle, bytes,
                        wic::Payload::scattered(offset, bytes, bytes, tokens + 1));
  }
  WIC_DEVICE void receive(const wic::Thread& thread, std::uint32_t from, std::uint32_t channel) const {
    const Peer& peer = peers[from];
    const wic::Group group = wic::block_group(thread);
    const wic::Message message = peer.receiver.receive(thread, group, channel, peer.receive_cycle, timeout_ns);
    if (message.data == nullptr) {
      if (thread.index() == 0) failure->report(thread, layer.iteration, from, channel, false);
      return;
    }
    const auto* const head = reinterpret_cast<const Quad*>(message.data);
    const std::size_t quads = std::size_t{head->v[0]} * (1 + layer.quads);
    Quad* const to = inbox + std::size_t{at[from * kChannels + channel]} * (1 + layer.quads);
    for (std::size_t q = thread.index(); q < quads; q += thread.block_size()) {
      to[q] = head[1 + q];
      thread.step();
    }
    peer.receiver.release(thread, group, channel, peer.receive_cycle);
  }
};

/// Each token times (the number of its expert + 1), all added up.
struct Experts {
  static constexpr int kMaxThreads = 256, kMinBlocksPerSm = 4;

  Layer layer;
  const Quad* inbox;
  std::uint32_t tokens;
  std::uint32_t* total;  ///< device memory, over all layers

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    std::uint32_t sum = 0;
    for (std::uint32_t t = thread.block(); t < tokens; t += thread.block_count()) {
      const Quad* const record = inbox + std::size_t{t} * (1 + layer.quads);
      sum += (record->v[0] + 1) * sum_of_quads(thread, record + 1, layer.quads, thread.index(), thread.block_size(), 1);
    }
    if (sum != 0) thread.fetch_add(total, sum);
  }
};

}  // namespace sample::expert_dispatch
