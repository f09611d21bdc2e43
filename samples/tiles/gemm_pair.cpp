#include "tiles/gemm_pair.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "tiles/checks.h"
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
using SmallGemm = Gemm<64, 64, 6, 2>;
// 12,288 columns in 256 tiles: two for nearly each of 132 SMs.
using NarrowGemm = Gemm<64, 48, 7, 2>;
using SlimGemm = Gemm<128, 48, 4, 2>;

constexpr std::uint32_t kSamples = 4096;

/// For kernels whose threads stride over `count` elements.
wic::LaunchShape over(std::uint64_t count) {
  return {static_cast<std::uint32_t>(std::clamp<std::uint64_t>((count + 255) / 256, 1, 1024)), 256};
}

// Calls visit(a Gemm) with the tile size's kernel.
template <class Visitor>
auto with_gemm(TileSize size, Visitor&& visit) {
  switch (size) {
    case TileSize::square:
      return visit(SquareGemm{});
    case TileSize::small:
      return visit(SmallGemm{});
    case TileSize::narrow:
      return visit(NarrowGemm{});
    case TileSize::slim:
      return visit(SlimGemm{});
    default:
      return visit(LargeGemm{});
  }
}

// What a plan needs beyond its launches: the chain's memory, the blocks and the descriptions of the matrices.
struct Prepared {
  wic::TileChain chain;
  std::uint32_t blocks[2];
  TensorMap maps[2][2] = {};  // per product: left, right
  std::uint32_t at_once;
};

}  // namespace

std::string name_of(TileSize size) {
  return with_gemm(size, [](const auto& gemm) {
    return std::to_string(std::decay_t<decltype(gemm)>::kRows) + "x" +
           std::to_string(std::decay_t<decltype(gemm)>::kColumns);
  });
}

std::uint32_t rows_of(TileSize size) {
  return with_gemm(size, [](const auto& gemm) { return std::decay_t<decltype(gemm)>::kRows; });
}

std::string PairPlan::name() const {
  std::string text = name_of(tile) + (way == Way::stream_order       ? " stream order"
                                      : way == Way::dependent_launch ? " dependent launch"
                                                                     : " tiles");
  if (way == Way::tiles) {
    text += columns_per_part == 0   ? " by row"
            : columns_per_part == 1 ? " by tile"
                                    : " by " + std::to_string(columns_per_part) + " columns";
  }
  return text + ", " + std::to_string(rows_together) + " rows together";
}

struct GemmPair::State {
  wic::Runtime& runtime;
  wic::Device& device;
  std::vector<wic::SiteId> sites_of_waits;
  std::uint64_t timeout_ns;
  PairSize largest;
  Array<Bf16> input, hidden, output, wanted_hidden, wanted_output;
  std::array<Array<Bf16>, 2> weights;
  Array<std::uint32_t> counter, counted;  // device, host
  // By tile size, columns per part (0: no waits for tiles, and no posts), batch and site.
  std::map<std::tuple<TileSize, std::uint32_t, std::uint32_t, std::size_t>, Prepared> prepared = {};

  std::array<GemmSize, 2> sizes(std::uint32_t batch) const {
    return {GemmSize{batch, largest.hidden, largest.input}, GemmSize{batch, largest.output, largest.hidden}};
  }
  const Bf16* left(std::size_t which) const { return which == 0 ? input.data() : hidden.data(); }
  Bf16* result(std::size_t which) const { return which == 0 ? hidden.data() : output.data(); }

  template <class Kernel>
  RowParts policy(const PairPlan& plan, std::uint32_t batch) const {
    const wic::TileGrid grid = Kernel::grid(sizes(batch)[0]);
    if (plan.columns_per_part == 0 || plan.columns_per_part >= grid.columns) return {grid, grid.columns};
    // A step of the second product needs one part and no more.
    static_assert((Kernel::kDepth & (Kernel::kDepth - 1)) == 0);
    constexpr std::uint32_t kPowerOfTwo = Kernel::kColumns & (~Kernel::kColumns + 1);  // the largest in the columns
    constexpr std::uint32_t kWhole = kPowerOfTwo < Kernel::kDepth ? Kernel::kDepth / kPowerOfTwo : 1;
    return {grid, (plan.columns_per_part + kWhole - 1) / kWhole * kWhole};
  }

  template <class Kernel>
  Result<Prepared*> prepare(const PairPlan& plan, std::uint32_t batch) {
    const RowParts parts = policy<Kernel>(plan, batch);
    const std::tuple key{plan.tile, plan.way == Way::tiles ? parts.columns_per_part : 0u, batch, plan.site};
    if (const auto known = prepared.find(key); known != prepared.end()) return &known->second;
    const auto resident = device.resident_blocks(shape<Kernel>(1), wic::kernel_ref(Kernel{}));
    if (!resident) return resident.error();
    // The CPU device holds more blocks than it has use for.
    const std::uint32_t at_once =
        std::max(1u, std::min(*resident, device.properties().sm_count * Kernel::kMinBlocksPerSm));
    std::vector<wic::TileStageSpec> stages;
    std::uint32_t blocks[2];
    for (std::size_t i = 0; i < 2; ++i) {
      const std::uint32_t tiles = Kernel::grid(sizes(batch)[i]).count();
      blocks[i] = std::min(tiles, at_once);
      stages.push_back(
          {i == 0 ? "first product" : "second product", tiles, blocks[i], i == 0 ? parts.semaphores() : 0});
    }
    auto chain = wic::TileChain::make(runtime, 0, sites_of_waits.at(plan.site), timeout_ns, stages);
    if (!chain) return chain.error();
    Prepared made{*std::move(chain), {blocks[0], blocks[1]}, {}, at_once};
    if (device.properties().kind == wic::DeviceKind::cuda) {
      for (std::size_t i = 0; i < 2; ++i) {
        const GemmSize size = sizes(batch)[i];
        auto left_map = map_matrix(left(i), size.rows, size.depth, Kernel::kRows);
        if (!left_map) return left_map.error();
        auto right_map = map_matrix(weights[i].data(), size.columns, size.depth, Kernel::kColumns);
        if (!right_map) return right_map.error();
        made.maps[i][0] = *left_map;
        made.maps[i][1] = *right_map;
      }
    }
    return &prepared.emplace(key, std::move(made)).first->second;
  }

  template <class Kernel>
  static wic::LaunchShape shape(std::uint32_t blocks) {
    return {blocks, Kernel::kMaxThreads, Kernel::kSharedBytes};
  }

  template <class Kernel>
  Kernel kernel(const Prepared& ready, const PairPlan& plan, std::uint32_t batch, std::size_t which) const {
    const GemmSize size = sizes(batch)[which];
    Kernel made{};
    made.left_map = ready.maps[which][0];
    made.right_map = ready.maps[which][1];
    made.queue = ready.chain.queue(which);
    made.order = {Kernel::grid(size), plan.rows_together};
    if (plan.way == Way::tiles) {
      (which == 0 ? made.done : made.needed) = ready.chain.sync(0, policy<Kernel>(plan, batch));
    }
    made.after_earlier = plan.way == Way::dependent_launch && which == 1;
    made.size = size;
    made.left = left(which);
    made.right = weights[which].data();
    made.to = result(which);
    made.gelu = which == 0;
    return made;
  }

  Result<> overwrite(wic::Stream& stream, Bf16* what, std::uint64_t count) {
    return wic::launch(stream, over(count), FillConstant{what, count, 0x7fc0});  // not a number
  }
  Result<std::uint32_t> count(wic::Stream& stream) {
    if (auto r = stream.copy(counted.data(), counter.data(), sizeof(std::uint32_t)); !r) return r.error();
    if (auto r = stream.copy(counter.data(), &counted[1], sizeof(std::uint32_t)); !r) return r.error();
    if (auto r = stream.synchronize(); !r) return r.error();
    return counted[0];
  }
};

GemmPair::GemmPair(std::unique_ptr<State> state) : state_(std::move(state)) {}
GemmPair::~GemmPair() = default;

Result<std::unique_ptr<GemmPair>> GemmPair::make(wic::Runtime& runtime, std::vector<wic::SiteId> sites,
                                                 std::uint64_t timeout_ns, wic::Stream& stream,
                                                 const PairSize& largest) {
  wic::Device& device = runtime.device(0);
  auto state = std::make_unique<State>(
      State{runtime, device, std::move(sites), timeout_ns, largest, {}, {}, {}, {}, {}, {}, {}, {}});
  State& s = *state;
  const auto allocate = [&device](auto& array, std::uint64_t count, Memory where) -> Result<> {
    auto made = std::decay_t<decltype(array)>::make(device, count, where);
    if (!made) return made.error();
    array = *std::move(made);
    return ok();
  };
  const std::uint64_t batch = largest.batch;
  for (const Result<>& made : {allocate(s.input, batch * largest.input, Memory::device),
                               allocate(s.hidden, batch * largest.hidden, Memory::device),
                               allocate(s.output, batch * largest.output, Memory::device),
                               allocate(s.wanted_hidden, batch * largest.hidden, Memory::device),
                               allocate(s.wanted_output, batch * largest.output, Memory::device),
                               allocate(s.weights[0], std::uint64_t{largest.input} * largest.hidden, Memory::device),
                               allocate(s.weights[1], std::uint64_t{largest.hidden} * largest.output, Memory::device),
                               allocate(s.counter, 1, Memory::device), allocate(s.counted, 2, Memory::pinned_host)}) {
    if (!made) return made.error();
  }
  // As of normalised inputs and usual weights: the sums have a deviation of about 0.3.
  std::uint32_t seed = 1;
  for (const auto& [array, scale] :
       {std::pair{&s.input, 1.0f}, std::pair{&s.weights[0], 0.9f / 110}, std::pair{&s.weights[1], 0.9f / 78}}) {
    if (auto r =
            wic::launch(stream, over(array->size()), FillRandom{array->data(), array->size(), seed++ * 7919, scale});
        !r) {
      return r.error();
    }
  }
  if (auto r = stream.synchronize(); !r) return r.error();
  return std::unique_ptr<GemmPair>(new GemmPair(std::move(state)));
}

Result<PairTiles> GemmPair::tiles(const PairPlan& plan, std::uint32_t batch) {
  return with_gemm(plan.tile, [&](const auto& gemm) -> Result<PairTiles> {
    using Kernel = std::decay_t<decltype(gemm)>;
    const auto ready = state_->prepare<Kernel>(plan, batch);
    if (!ready) return ready.error();
    const auto sizes = state_->sizes(batch);
    return PairTiles{Kernel::grid(sizes[0]).count(), Kernel::grid(sizes[1]).count(), (*ready)->at_once};
  });
}

Result<> GemmPair::launch(wic::Stream& stream, const PairPlan& plan, std::uint32_t batch) {
  return with_gemm(plan.tile, [&](const auto& gemm) -> Result<> {
    using Kernel = std::decay_t<decltype(gemm)>;
    const auto ready = state_->prepare<Kernel>(plan, batch);
    if (!ready) return ready.error();
    const Kernel first = state_->kernel<Kernel>(**ready, plan, batch, 0);
    const Kernel second = state_->kernel<Kernel>(**ready, plan, batch, 1);
    const wic::TileStart start =
        plan.way == Way::stream_order ? wic::TileStart::stream_order : wic::TileStart::dependent;
    return (*ready)->chain.launch(
        stream, start,
        std::array{wic::PlannedLaunch{State::shape<Kernel>((*ready)->blocks[0]), wic::kernel_ref(first)},
                   wic::PlannedLaunch{State::shape<Kernel>((*ready)->blocks[1]), wic::kernel_ref(second)}});
  });
}

Result<> GemmPair::launch_one(wic::Stream& stream, const PairPlan& plan, std::uint32_t batch, std::size_t which) {
  return with_gemm(plan.tile, [&](const auto& gemm) -> Result<> {
    using Kernel = std::decay_t<decltype(gemm)>;
    const auto ready = state_->prepare<Kernel>(plan, batch);
    if (!ready) return ready.error();
    PairPlan alone = plan;
    alone.way = Way::stream_order;
    return wic::launch(stream, State::shape<Kernel>((*ready)->blocks[which]),
                       state_->kernel<Kernel>(**ready, alone, batch, which));
  });
}

Result<> GemmPair::finish(wic::Stream& stream, const PairPlan& plan, std::uint32_t batch) {
  return with_gemm(plan.tile, [&](const auto& gemm) -> Result<> {
    const auto ready = state_->prepare<std::decay_t<decltype(gemm)>>(plan, batch);
    if (!ready) return ready.error();
    return (*ready)->chain.finish(stream);
  });
}

Result<> GemmPair::check(wic::Stream& stream, const PairPlan& plan, std::uint32_t batch) {
  State& s = *state_;
  const std::uint64_t hidden = std::uint64_t{batch} * s.largest.hidden,
                      output = std::uint64_t{batch} * s.largest.output;
  PairPlan ordered = plan;
  ordered.way = Way::stream_order;
  for (const bool is_reference : {true, false}) {
    if (auto r = s.overwrite(stream, s.hidden.data(), hidden); !r) return r;
    if (auto r = s.overwrite(stream, s.output.data(), output); !r) return r;
    const PairPlan& run = is_reference ? ordered : plan;
    if (auto r = launch(stream, run, batch); !r) return r;
    if (auto r = finish(stream, run, batch); !r) return r;
    if (is_reference) {
      if (auto r = stream.copy(s.wanted_hidden.data(), s.hidden.data(), hidden * sizeof(Bf16)); !r) return r;
      if (auto r = stream.copy(s.wanted_output.data(), s.output.data(), output * sizeof(Bf16)); !r) return r;
      const auto sizes = s.sizes(batch);
      for (std::size_t i = 0; i < 2; ++i) {
        const CheckElements elements{s.left(i),      s.weights[i].data(), s.result(i), sizes[i].rows, sizes[i].columns,
                                     sizes[i].depth, batch * 31 + 7,      i == 0,      0.01f,         s.counter.data()};
        if (auto r = wic::launch(stream, {kSamples / 128, 128}, elements); !r) return r;
      }
    } else {
      for (const auto& [is, wanted, count] : {std::tuple{s.hidden.data(), s.wanted_hidden.data(), hidden},
                                              std::tuple{s.output.data(), s.wanted_output.data(), output}}) {
        if (auto r = wic::launch(stream, over(count), CountDifferences{is, wanted, count, s.counter.data()}); !r) {
          return r;
        }
      }
    }
    const auto wrong = s.count(stream);
    if (!wrong) return wrong.error();
    if (*wrong != 0) {
      return wic::failed(run.name() + ", batch " + std::to_string(batch) + ": " + std::to_string(*wrong) +
                         (is_reference ? " elements are wrong" : " elements differ from those in stream order"));
    }
  }
  return ok();
}

const Bf16* GemmPair::input() const { return state_->input.data(); }
const Bf16* GemmPair::weights(std::size_t which) const { return state_->weights[which].data(); }
Bf16* GemmPair::hidden() const { return state_->hidden.data(); }
Bf16* GemmPair::output() const { return state_->output.data(); }
const PairSize& GemmPair::largest() const { return state_->largest; }

}  // namespace sample::tiles
