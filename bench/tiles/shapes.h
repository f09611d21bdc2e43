// The shapes of the cuSync paper, and the plans that are tried for each.
#pragma once

#include <string>
#include <vector>

#include "tiles/network_chain.h"

namespace wicprof::bench {

struct TileShape {
  std::string name;  ///< of its rows in the result
  std::string kind;  ///< mlp, attention or conv
  sample::tiles::Network network;
  std::vector<sample::tiles::TileSize> sizes;
};

/// GPT-3 of 175 billion parameters on eight GPUs: the feed-forward layer, and attention of prompts and of generated
/// tokens; ResNet-38's pairs of convolutions by channels and images. `for_cpu`: few and small ones, for the CPU device.
inline std::vector<TileShape> tile_shapes(bool for_cpu) {
  using namespace sample::tiles;
  using enum TileSize;
  std::vector<TileShape> shapes;
  const auto add = [&shapes](std::string name, std::string kind, Network network, std::vector<TileSize> sizes) {
    shapes.push_back({std::move(name), std::move(kind), std::move(network), std::move(sizes)});
  };
  if (for_cpu) {
    add("mlp_130", "mlp", feed_forward(130, 64, 128), {TileSize::small, narrow});
    add("attention_65", "attention", attention(65, 128, 64, 2, 64), {TileSize::small});
    add("conv_64_2", "conv", convolutions(2, 5, 64), {tall});
    return shapes;
  }
  for (const std::uint32_t batch :
       {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 768, 1024, 1280, 1536, 1792, 2048, 2304, 2560, 2816, 3072}) {
    add("mlp_" + std::to_string(batch), "mlp", feed_forward(batch),
        batch <= 64    ? std::vector{flat, TileSize::small, narrow}
        : batch <= 256 ? std::vector{large, square, TileSize::small, narrow, slim}
                       : std::vector{large, square});
  }
  for (const std::uint32_t tokens : {512, 1024, 2048}) {
    add("attention_" + std::to_string(tokens), "attention", attention(tokens, tokens), {large, square});
  }
  for (const std::uint32_t batch : {1, 2, 4}) {
    for (const std::uint32_t keys : {512, 1024, 2048}) {
      add("attention_" + std::to_string(batch) + "_of_" + std::to_string(keys), "attention", attention(batch, keys),
          {flat, TileSize::small, narrow});
    }
  }
  for (const auto& [channels, side] : {std::pair{64u, 56u}, {128u, 28u}, {256u, 14u}, {512u, 7u}}) {
    for (const std::uint32_t images : {1, 4, 8, 12, 16, 20, 24, 28, 32}) {
      add("conv_" + std::to_string(channels) + "_" + std::to_string(images), "conv",
          convolutions(images, side, channels),
          channels == 64 ? std::vector{tall, TileSize::small} : std::vector{square, flat, tall, TileSize::small});
    }
  }
  return shapes;
}

/// In stream order; by dependent launch; and tile by tile, with waits at `site`.
inline std::vector<sample::tiles::ChainPlan> plans_for(const TileShape& shape, std::size_t site) {
  using namespace sample::tiles;
  std::vector<ChainPlan> plans;
  const std::uint32_t rows = shape.network.layers[0].size.rows;
  for (const TileSize size : shape.sizes) {
    const std::vector<std::uint32_t> together = rows <= 128   ? std::vector{1u}
                                                : rows <= 256 ? std::vector{2u}
                                                              : std::vector{2u, 4u};
    const Share other = shape.network.layers[0].slices > 1 ? Share::slice : Share::tile;
    for (const std::uint32_t rows_together : together) {
      plans.push_back({size, Way::stream_order, Share::row, rows_together, 0, site});
      // The caches of Hopper GPUs hold 50 MiB; all weights of attention's last product are 36 MiB.
      for (const std::uint32_t ahead_mib : {0u, shape.kind == "attention" ? 36u : 24u}) {
        // Only where the weights are most of the data.
        if (ahead_mib != 0 && (rows > 256 || shape.kind == "conv")) continue;
        plans.push_back({size, Way::dependent_launch, Share::row, rows_together, ahead_mib, site});
        plans.push_back({size, Way::tiles, Share::row, rows_together, ahead_mib, site});
        plans.push_back({size, Way::tiles, other, rows_together, ahead_mib, site});
      }
    }
    if (rows > 256) plans.push_back({size, Way::tiles, Share::row, 1, 0, site});
  }
  return plans;
}

}  // namespace wicprof::bench
