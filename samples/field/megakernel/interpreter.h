// One kernel for a whole network: each block runs its list of instructions, and waits until the tiles that the next one
// reads are there.
#pragma once

#include "common/mix.h"
#include "common/ranks.h"
#include "field/neighbour.h"
#include "field/read_memory.h"
#include "wic/site.h"

namespace sample::megakernel {

inline constexpr std::uint32_t kLineWords = 32;
inline constexpr std::uint32_t kTileWords = 256;  ///< activations that an instruction makes

/// What an instruction of layer `layer` reads: a group of neighbouring tiles of the layer before, as the heads of an
/// attention do, or in each fourth layer all of them, as a projection does.
struct Network {
  std::uint32_t layers, tiles, groups;  ///< tiles of a layer, a multiple of groups

  WIC_DEVICE std::uint32_t group_tiles() const { return tiles / groups; }
  WIC_DEVICE bool reads_all(std::uint32_t layer) const { return layer % 4 == 3; }
  WIC_DEVICE std::uint32_t first_group(std::uint32_t layer, std::uint32_t tile) const {
    return reads_all(layer) ? 0 : tile / group_tiles();
  }
  WIC_DEVICE std::uint32_t end_group(std::uint32_t layer, std::uint32_t tile) const {
    return reads_all(layer) ? groups : tile / group_tiles() + 1;
  }
};

/// An activation, from the sums of the activations and the weights that the instruction reads.
WIC_DEVICE constexpr std::uint32_t activation(std::uint32_t sum, std::uint32_t weights, std::uint32_t pass,
                                              std::uint32_t i) {
  return scrambled(std::uint64_t{sum + weights} << 32 | (pass * kTileWords + i));
}

struct Run {
  static constexpr int kMaxThreads = 256, kMinBlocksPerSm = 4;

  wic::Site site;
  Network network;
  std::uint32_t pass;          ///< over the network, from 1
  std::uint32_t* activations;  ///< of all layers; layer 0 is the input, of zeros
  const Quad* weights;         ///< `quads` for each tile of each layer
  std::uint32_t quads;
  std::uint32_t* counts;  ///< device memory, a line per layer and group: tiles done, over all passes
  std::uint32_t* ready;   ///< device memory, a line per layer and group: the last pass whose tiles are there
  Failure* failure;
  NeighbourStop neighbour;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t instructions = network.layers * network.tiles;
    for (std::uint32_t i = thread.block(); i < instructions; i += thread.block_count()) {
      if (!run(thread, 1 + i / network.tiles, i % network.tiles)) break;
    }
    if (thread.index() == 0) neighbour.block_ends(thread);
  }

 private:
  WIC_DEVICE std::uint32_t line(std::uint32_t layer, std::uint32_t group) const {
    return (layer * network.groups + group) * kLineWords;
  }

  WIC_DEVICE std::uint32_t* tile_at(std::uint32_t layer, std::uint32_t tile) const {
    return activations + (std::size_t{layer} * network.tiles + tile) * kTileWords;
  }

  WIC_DEVICE bool run(const wic::Thread& thread, std::uint32_t layer, std::uint32_t tile) const {
    auto* const shared = static_cast<std::uint32_t*>(thread.shared());
    if (thread.index() == 0) shared[0] = shared[1] = 0;
    // The weights need no message: they are read while the tiles are made.
    const Quad* const mine = weights + (std::size_t{layer - 1} * network.tiles + tile) * quads;
    const std::uint32_t heavy = sum_of_quads(thread, mine, quads, thread.index(), thread.block_size(), 1);
    const std::uint32_t first = network.first_group(layer, tile), end = network.end_group(layer, tile);
    for (std::uint32_t group = first; layer > 1 && group < end; ++group) {
      if (!site.wait(thread, pass, &ready[line(layer - 1, group)], wic::AtLeast{pass})) {
        if (thread.index() == 0) failure->report(thread, pass, layer, tile, false);
        return false;
      }
    }
    thread.sync_block();
    const std::uint32_t* const from = tile_at(layer - 1, 0);
    std::uint32_t sum = 0;
    for (std::uint32_t i = first * network.group_tiles() * kTileWords + thread.index();
         i < end * network.group_tiles() * kTileWords; i += thread.block_size()) {
      sum += from[i];
      thread.step();
    }
    thread.fetch_add(&shared[0], sum);
    thread.fetch_add(&shared[1], heavy);
    thread.sync_block();
    std::uint32_t* const to = tile_at(layer, tile);
    for (std::uint32_t i = thread.index(); i < kTileWords; i += thread.block_size()) {
      to[i] = activation(shared[0], shared[1], pass, i);
    }
    thread.sync_block();
    if (thread.index() == 0) finish(thread, layer, tile / network.group_tiles());
    return true;
  }

  // The last tile of a group announces all of them.
  WIC_DEVICE void finish(const wic::Thread& thread, std::uint32_t layer, std::uint32_t group) const {
    const std::uint32_t done = thread.fetch_add_acq_rel(&counts[line(layer, group)], 1) + 1;
    if (done != pass * network.group_tiles()) return;
    const std::uint32_t bytes = network.group_tiles() * kTileWords * 4;
    site.signal(thread, pass, &ready[line(layer, group)], pass,
                wic::Payload::contiguous(std::uint64_t{group} * bytes, bytes));
  }
};

}  // namespace sample::megakernel
