#include "tiles/network_chain.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <variant>

#include "tiles/checks.h"
#include "tiles/gemm.h"
#include "tiles/softmax.h"
#include "tiles/tensor_map.h"
#include "wic/tile_chain.h"

namespace sample::tiles {

using wic::Array;
using wic::Memory;
using wic::ok;
using wic::Result;

namespace {

// Stages: as many as shared memory holds for the blocks per SM.
using LargeGemm = Gemm<128, 256, 4, 1>;
using SquareGemm = Gemm<128, 128, 3, 2>;
using TallGemm = Gemm<128, 64, 4, 2>;
using FlatGemm = Gemm<64, 128, 4, 2>;
using SmallGemm = Gemm<64, 64, 6, 2>;
// 12,288 columns in 256 tiles: two for nearly each of 132 SMs.
using NarrowGemm = Gemm<64, 48, 7, 2>;
using SlimGemm = Gemm<128, 48, 4, 2>;
using SquareByDepth = Gemm<128, 128, 3, 2, true>;
using FlatByDepth = Gemm<64, 128, 4, 2, true>;

using Kernel = std::variant<LargeGemm, SquareGemm, TallGemm, FlatGemm, SmallGemm, NarrowGemm, SlimGemm, SquareByDepth,
                            FlatByDepth, Softmax>;

constexpr std::uint32_t kSamples = 4096, kSoftmaxThreads = 256;

/// For kernels whose threads stride over `count` elements.
wic::LaunchShape over(std::uint64_t count) {
  return {static_cast<std::uint32_t>(std::clamp<std::uint64_t>((count + 255) / 256, 1, 1024)), 256};
}

Kernel gemm_of(TileSize size) {
  switch (size) {
    case TileSize::square:
      return SquareGemm{};
    case TileSize::tall:
      return TallGemm{};
    case TileSize::flat:
      return FlatGemm{};
    case TileSize::small:
      return SmallGemm{};
    case TileSize::narrow:
      return NarrowGemm{};
    case TileSize::slim:
      return SlimGemm{};
    default:
      return LargeGemm{};
  }
}

Kernel kernel_of(const Layer& layer, const ChainPlan& plan) {
  if (layer.softmax) return Softmax{};
  if (!layer.per_head) return gemm_of(plan.tile);
  const bool flat = layer.size.rows <= FlatGemm::kRows;
  if (layer.right_by_depth) return flat ? Kernel(FlatByDepth{}) : Kernel(SquareByDepth{});
  return flat ? Kernel(FlatGemm{}) : Kernel(SquareGemm{});
}

template <class K>
inline constexpr bool kIsSoftmax = std::is_same_v<std::decay_t<K>, Softmax>;

// A layer's tiles with a kernel, as consumers of the layer see them.
struct Tiling {
  wic::TileGrid grid;
  std::uint32_t rows, columns;  // of a tile
  std::uint32_t head_columns, head_tiles;
};

Tiling tiling_of(const Layer& layer, const Kernel& kernel) {
  const GemmSize& size = layer.size;
  return std::visit(
      [&](const auto& k) -> Tiling {
        using K = std::decay_t<decltype(k)>;
        if constexpr (kIsSoftmax<K>) {
          return {K::grid(size.rows, size.heads), K::kRows, size.columns, size.columns, 1};
        } else {
          return {K::grid(size), K::kRows, K::kColumns, size.columns, K::head_tiles(size)};
        }
      },
      kernel);
}

wic::LaunchShape shape_of(const Kernel& kernel, std::uint32_t blocks) {
  return std::visit(
      [&](const auto& k) -> wic::LaunchShape {
        using K = std::decay_t<decltype(k)>;
        if constexpr (kIsSoftmax<K>) {
          return {blocks, kSoftmaxThreads, K::shared_bytes(kSoftmaxThreads)};
        } else {
          return {blocks, K::kMaxThreads, K::kSharedBytes};
        }
      },
      kernel);
}

wic::KernelRef ref_of(const Kernel& kernel) {
  return std::visit([](const auto& k) { return wic::kernel_ref(k); }, kernel);
}

// What a plan needs beyond its launches: the chain's memory, and per layer the kernel without what changes per launch.
struct Prepared {
  wic::TileChain chain;
  std::vector<Kernel> kernels;
  std::vector<Tiling> tilings;
  std::vector<Parts> parts;
  std::vector<LayerTiles> tiles;
  std::vector<std::uint32_t> blocks;
};

}  // namespace

std::string name_of(TileSize size) {
  return std::visit(
      [](const auto& k) -> std::string {
        using K = std::decay_t<decltype(k)>;
        if constexpr (kIsSoftmax<K>) {
          return "rows";
        } else {
          return std::to_string(K::kRows) + "x" + std::to_string(K::kColumns);
        }
      },
      gemm_of(size));
}

std::string ChainPlan::name() const {
  std::string text = name_of(tile) + (way == Way::stream_order       ? " stream order"
                                      : way == Way::dependent_launch ? " dependent launch"
                                                                     : " tiles");
  if (way == Way::tiles) text += share == Share::row ? " by row" : share == Share::slice ? " by slice" : " by tile";
  text += ", " + std::to_string(rows_together) + (rows_together == 1 ? " row" : " rows") + " together";
  return ahead_mib == 0 ? text : text + ", " + std::to_string(ahead_mib) + " MiB ahead";
}

struct NetworkChain::State {
  wic::Runtime& runtime;
  wic::Device& device;
  std::vector<wic::SiteId> sites;
  std::uint64_t timeout_ns;
  Network network;
  std::vector<Array<Bf16>> matrices = {}, wanted = {};  // wanted: of those that layers compute
  Array<std::uint32_t> counter = {}, counted = {};      // device, host
  // By tile size, way (stream order and dependent launch are one), share, rows together and site.
  std::map<std::tuple<TileSize, bool, Share, std::uint32_t, std::size_t>, Prepared> prepared = {};

  bool has_consumers(std::size_t index) const {
    return std::any_of(network.layers.begin(), network.layers.end(),
                       [&](const Layer& layer) { return layer.left_from == index || layer.right_from == index; });
  }

  template <class Number>
  Matrix<Number> part(const MatrixPart& part) const {
    const MatrixSpec& spec = network.matrices[part.matrix];
    Matrix<Number> result;
    result.stride = spec.columns;
    result.head_columns = part.head_columns;
    result.data = matrices[part.matrix].data() + std::size_t{part.first_row} * spec.columns + part.first_column;
    return result;
  }

  // Which tiles of a layer share a semaphore: its consumers need one part, and no more, for each of their steps.
  Parts parts_of(std::size_t index, const ChainPlan& plan, const std::vector<Tiling>& tilings) const {
    const Layer& layer = network.layers[index];
    const Tiling& tiling = tilings[index];
    const std::uint32_t all = tiling.grid.columns;
    Parts parts{tiling.grid, 1, all, all};
    std::uint32_t step = 64;  // columns that consumers need at once
    bool per_head = false;
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
      const Layer& consumer = network.layers[i];
      if (consumer.left_from != index && consumer.right_from != index) continue;
      if (consumer.size.heads > 1 || consumer.softmax) {
        per_head = true;
        step = std::max(step, consumer.left_from == index ? consumer.left.head_columns : consumer.right.head_columns);
      }
      if (tiling.rows < tilings[i].rows) parts.rows_per_part = tilings[i].rows / tiling.rows;
    }
    if (layer.size.heads > 1) {
      // A head's columns belong together.
      if (per_head || plan.share != Share::row) parts.columns_per_part = tiling.head_tiles;
      return parts;
    }
    if (plan.share == Share::row) return parts;
    const std::uint32_t whole = step / std::gcd(step, tiling.columns);
    const std::uint32_t slice = layer.size.columns / layer.slices;
    if (plan.share == Share::slice && slice % tiling.columns == 0) parts.stride = all / layer.slices;
    parts.columns_per_part = std::min(whole, parts.stride);
    return parts;
  }

  Need need(const Prepared& ready, std::size_t consumer, std::size_t producer, const MatrixPart& factor,
            std::uint32_t columns) const {
    const Layer& layer = network.layers[producer];
    const Tiling& tiling = ready.tilings[producer];
    const Parts& parts = ready.parts[producer];
    Need made{};
    made.sync = ready.chain.sync(producer, parts);
    made.rows = layer.size.rows;
    made.tile_rows = tiling.rows;
    made.tile_columns = tiling.columns;
    made.head_columns = tiling.head_columns;
    made.head_tiles = tiling.head_tiles;
    const bool one_part = network.layers[consumer].size.heads > 1 || parts.columns_per_part >= parts.stride;
    made.span = one_part ? columns
                         : parts.columns_per_part / tiling.head_tiles * tiling.head_columns +
                               parts.columns_per_part % tiling.head_tiles * tiling.columns;
    made.first_row = factor.first_row <= layer.to.first_row ? layer.to.first_row - factor.first_row : 0;
    made.first_column = factor.first_column;
    return made;
  }

  Result<> map(const Layer& layer, Kernel& kernel) const {
    return std::visit(
        [&](auto& k) -> Result<> {
          using K = std::decay_t<decltype(k)>;
          if constexpr (!kIsSoftmax<K>) {
            const Product& product = k.product;
            const GemmSize& size = layer.size;
            const auto heads_columns = [&](const MatrixPart& part, std::uint32_t columns) {
              return (size.heads - 1) * part.head_columns + columns;
            };
            const std::uint32_t pixels = std::max(1u, layer.image.width * layer.image.height);
            auto left = layer.image.channels != 0
                            ? map_images(product.left.data, size.rows / pixels, layer.image, K::kRows)
                            : map_matrix(product.left.data, size.rows, heads_columns(layer.left, size.depth),
                                         product.left.stride, K::kRows);
            if (!left) return left.error();
            auto right = K::kRightByDepth
                             ? map_matrix(product.right.data, size.depth, heads_columns(layer.right, size.columns),
                                          product.right.stride, 64)
                             : map_matrix(product.right.data, size.columns, heads_columns(layer.right, size.depth),
                                          product.right.stride, K::kColumns);
            if (!right) return right.error();
            k.left_map = *left;
            k.right_map = *right;
          }
          return ok();
        },
        kernel);
  }

  Result<Prepared*> prepare(const ChainPlan& plan) {
    const bool waits = plan.way == Way::tiles;
    const std::tuple key{plan.tile, waits, waits ? plan.share : Share::row, plan.rows_together, plan.site};
    if (const auto known = prepared.find(key); known != prepared.end()) return &known->second;
    std::vector<Kernel> kernels;
    std::vector<Tiling> tilings;
    for (const Layer& layer : network.layers) {
      kernels.push_back(kernel_of(layer, plan));
      tilings.push_back(tiling_of(layer, kernels.back()));
    }
    std::vector<Parts> parts;
    std::vector<LayerTiles> tiles;
    std::vector<std::uint32_t> blocks;
    std::vector<wic::TileStageSpec> stages;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const Layer& layer = network.layers[i];
      Kernel& kernel = kernels[i];
      parts.push_back(parts_of(i, plan, tilings));
      const auto resident = device.resident_blocks(shape_of(kernel, 1), ref_of(kernel));
      if (!resident) return resident.error();
      const int per_sm = std::visit([](const auto& k) { return std::decay_t<decltype(k)>::kMinBlocksPerSm; }, kernel);
      // The CPU device holds more blocks than it has use for.
      const std::uint32_t at_once =
          std::max(1u, std::min(*resident, device.properties().sm_count * static_cast<std::uint32_t>(per_sm)));
      tiles.push_back({tilings[i].grid.count(), at_once});
      blocks.push_back(std::min(tiles[i].tiles, at_once));
      const bool posts = waits && has_consumers(i);
      stages.push_back({layer.name, tiles[i].tiles, blocks[i], posts ? parts[i].semaphores() : 0});
      std::visit(
          [&](auto& k) {
            k.order = {tilings[i].grid, plan.rows_together};
            if constexpr (kIsSoftmax<decltype(k)>) {
              k.work = {layer.size.rows,      layer.size.columns,
                        layer.size.heads,     part<const Bf16>(layer.left),
                        part<Bf16>(layer.to), 26};
            } else {
              k.right_is_computed = layer.right_from.has_value();
              k.product = {layer.size,
                           layer.image,
                           part<const Bf16>(layer.left),
                           part<const Bf16>(layer.right),
                           part<Bf16>(layer.to),
                           layer.scale,
                           layer.activation};
            }
          },
          kernel);
      if (device.properties().kind == wic::DeviceKind::cuda) {
        if (auto r = map(layer, kernel); !r) return r.error();
      }
    }
    auto chain = wic::TileChain::make(runtime, 0, sites.at(plan.site), timeout_ns, stages);
    if (!chain) return chain.error();
    return &prepared
                .emplace(key, Prepared{*std::move(chain), std::move(kernels), std::move(tilings), std::move(parts),
                                       std::move(tiles), std::move(blocks)})
                .first->second;
  }

  static bool slices_share(const Parts& parts) {
    return parts.stride < parts.grid.columns || parts.columns_per_part >= parts.grid.columns;
  }

  /// The kernel of a layer for one launch.
  Kernel kernel(const Prepared& ready, const ChainPlan& plan, std::size_t index) const {
    const Way way = plan.way;
    const Layer& layer = network.layers[index];
    Kernel made = ready.kernels[index];
    std::visit(
        [&](auto& k) {
          k.queue = ready.chain.queue(index);
          k.after_earlier = way == Way::dependent_launch && index > 0;
          if constexpr (!kIsSoftmax<decltype(k)>) {
            if (way != Way::stream_order && index > 0) {
              k.ahead_steps = (plan.ahead_mib << 20) / (ready.blocks[index] * std::decay_t<decltype(k)>::kRightBytes);
            }
          }
          if (way != Way::tiles) return;
          if (has_consumers(index)) k.done = ready.chain.sync(index, ready.parts[index]);
          if constexpr (kIsSoftmax<decltype(k)>) {
            if (layer.left_from) k.need = need(ready, index, *layer.left_from, layer.left, layer.size.columns);
          } else {
            const std::uint32_t columns = k.product.columns_of_left();
            if (layer.left_from) k.left_need = need(ready, index, *layer.left_from, layer.left, columns);
            if (layer.right_from && !(layer.right_comes_with_left && slices_share(ready.parts[*layer.right_from]))) {
              k.right_need = need(ready, index, *layer.right_from, layer.right, columns);
            }
          }
        },
        made);
    return made;
  }

  Result<> overwrite(wic::Stream& stream) {
    for (const Layer& layer : network.layers) {
      const std::uint32_t stride = network.matrices[layer.to.matrix].columns;
      const std::uint64_t count = std::uint64_t{layer.size.rows} * stride;
      Bf16* const first = matrices[layer.to.matrix].data() + std::size_t{layer.to.first_row} * stride;
      if (auto r = wic::launch(stream, over(count), FillConstant{first, count, 0x7fc0}); !r) return r;  // no number
    }
    return ok();
  }
  Result<std::uint32_t> count(wic::Stream& stream) {
    if (auto r = stream.copy(counted.data(), counter.data(), sizeof(std::uint32_t)); !r) return r.error();
    if (auto r = stream.copy(counter.data(), &counted[1], sizeof(std::uint32_t)); !r) return r.error();
    if (auto r = stream.synchronize(); !r) return r.error();
    return counted[0];
  }

  Result<> check_elements(wic::Stream& stream, const Prepared& ready, std::size_t index) {
    const wic::LaunchShape shape{kSamples / 128, 128};
    return std::visit(
        [&](const auto& k) {
          if constexpr (kIsSoftmax<decltype(k)>) {
            return wic::launch(stream, shape, CheckSoftmax{k.work, 0.02f, counter.data()});
          } else {
            return wic::launch(stream, shape,
                               CheckProduct{k.product, std::decay_t<decltype(k)>::kRightByDepth,
                                            static_cast<std::uint32_t>(index) * 31 + 7, 0.01f, counter.data()});
          }
        },
        ready.kernels[index]);
  }
};

NetworkChain::NetworkChain(std::unique_ptr<State> state) : state_(std::move(state)) {}
NetworkChain::~NetworkChain() = default;

Result<std::unique_ptr<NetworkChain>> NetworkChain::make(wic::Runtime& runtime, std::vector<wic::SiteId> sites,
                                                         std::uint64_t timeout_ns, wic::Stream& stream,
                                                         const Network& network) {
  wic::Device& device = runtime.device(0);
  auto state = std::make_unique<State>(State{runtime, device, std::move(sites), timeout_ns, network});
  State& s = *state;
  const auto allocate = [&device](auto& array, std::uint64_t count, Memory where) -> Result<> {
    auto made = std::decay_t<decltype(array)>::make(device, count, where);
    if (!made) return made.error();
    array = *std::move(made);
    return ok();
  };
  if (auto r = allocate(s.counter, 1, Memory::device); !r) return r.error();
  if (auto r = allocate(s.counted, 2, Memory::pinned_host); !r) return r.error();
  s.matrices.resize(network.matrices.size());
  s.wanted.resize(network.matrices.size());
  for (std::size_t i = 0; i < network.matrices.size(); ++i) {
    const MatrixSpec& spec = network.matrices[i];
    const std::uint64_t count = std::uint64_t{spec.rows} * spec.columns;
    if (auto r = allocate(s.matrices[i], count, Memory::device); !r) return r.error();
    const bool computed = std::any_of(network.layers.begin(), network.layers.end(),
                                      [i](const Layer& layer) { return layer.to.matrix == i; });
    if (computed) {
      if (auto r = allocate(s.wanted[i], count, Memory::device); !r) return r.error();
    }
    if (spec.scale == 0) continue;
    const FillRandom fill{s.matrices[i].data(), count, static_cast<std::uint32_t>(i + 1) * 7919, spec.scale};
    if (auto r = wic::launch(stream, over(count), fill); !r) return r.error();
  }
  if (auto r = stream.synchronize(); !r) return r.error();
  return std::unique_ptr<NetworkChain>(new NetworkChain(std::move(state)));
}

const Network& NetworkChain::network() const { return state_->network; }
Bf16* NetworkChain::matrix(std::size_t index) const { return state_->matrices.at(index).data(); }

Result<std::vector<LayerTiles>> NetworkChain::tiles(const ChainPlan& plan) {
  const auto ready = state_->prepare(plan);
  if (!ready) return ready.error();
  return (*ready)->tiles;
}

Result<> NetworkChain::launch(wic::Stream& stream, const ChainPlan& plan) {
  const auto ready = state_->prepare(plan);
  if (!ready) return ready.error();
  Prepared& prepared = **ready;
  std::vector<Kernel> kernels;
  kernels.reserve(prepared.kernels.size());
  std::vector<wic::PlannedLaunch> launches;
  for (std::size_t i = 0; i < prepared.kernels.size(); ++i) {
    kernels.push_back(state_->kernel(prepared, plan, i));
    launches.push_back({shape_of(kernels[i], prepared.blocks[i]), ref_of(kernels[i])});
  }
  const wic::TileStart start = plan.way == Way::stream_order ? wic::TileStart::stream_order : wic::TileStart::dependent;
  return prepared.chain.launch(stream, start, {launches.data(), launches.size()});
}

Result<> NetworkChain::launch_one(wic::Stream& stream, const ChainPlan& plan, std::size_t layer) {
  ChainPlan ordered = plan;
  ordered.way = Way::stream_order;
  const auto ready = state_->prepare(ordered);
  if (!ready) return ready.error();
  const Kernel kernel = state_->kernel(**ready, ordered, layer);
  return stream.launch(shape_of(kernel, (*ready)->blocks[layer]), ref_of(kernel));
}

Result<> NetworkChain::finish(wic::Stream& stream, const ChainPlan& plan) {
  const auto ready = state_->prepare(plan);
  if (!ready) return ready.error();
  return (*ready)->chain.finish(stream);
}

Result<> NetworkChain::check(wic::Stream& stream, const ChainPlan& plan) {
  State& s = *state_;
  const auto bad = [&](const ChainPlan& run, const Layer& layer, std::uint32_t wrong, const char* how) {
    return wic::failed(s.network.name + ", " + run.name() + ", " + layer.name + ": " + std::to_string(wrong) +
                       " elements " + how);
  };
  ChainPlan ordered = plan;
  ordered.way = Way::stream_order;
  if (auto r = s.overwrite(stream); !r) return r;
  if (auto r = launch(stream, ordered); !r) return r;
  if (auto r = finish(stream, ordered); !r) return r;
  const auto ready = s.prepare(ordered);
  if (!ready) return ready.error();
  for (std::size_t i = 0; i < s.network.layers.size(); ++i) {
    if (auto r = s.check_elements(stream, **ready, i); !r) return r;
    const auto wrong = s.count(stream);
    if (!wrong) return wrong.error();
    if (*wrong != 0) return bad(ordered, s.network.layers[i], *wrong, "are wrong");
    const std::size_t to = s.network.layers[i].to.matrix;
    if (auto r = stream.copy(s.wanted[to].data(), s.matrices[to].data(), s.wanted[to].bytes()); !r) return r;
  }
  if (plan.way == Way::stream_order) return ok();
  if (auto r = s.overwrite(stream); !r) return r;
  if (auto r = launch(stream, plan); !r) return r;
  if (auto r = finish(stream, plan); !r) return r;
  for (const Layer& layer : s.network.layers) {
    const std::size_t to = layer.to.matrix;
    const std::uint64_t count = s.wanted[to].size();
    const CountDifferences differences{s.matrices[to].data(), s.wanted[to].data(), count, s.counter.data()};
    if (auto r = wic::launch(stream, over(count), differences); !r) return r;
    const auto wrong = s.count(stream);
    if (!wrong) return wrong.error();
    if (*wrong != 0) return bad(plan, layer, *wrong, "differ from those in stream order");
  }
  return ok();
}

}  // namespace sample::tiles
