#include "g_bs/app.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "common/lane.h"
#include "common/transfer.h"
#include "common/waiting_blocks.h"
#include "g_bs/check.h"
#include "g_bs/kernels.h"
#include "wic/launch.h"

namespace sample {
namespace bs {
namespace {

using wic::Result;

/// A device with its keys and its lanes to the devices whose number differs in one bit.
struct Rank {
  wic::Device* device = nullptr;
  std::uint32_t number = 0;
  std::array<std::unique_ptr<Lane>, kMaxDeviceBits> lanes;  ///< to the partner of that bit
  wic::Array<Record> records;
};

class BitonicSort final : public App {
 public:
  static Result<std::unique_ptr<App>> make(wic::Runtime& runtime, const AppOptions& options);

  Result<> step(std::uint32_t step) override;
  Result<> check() override;
  Traffic traffic() const override {
    const double exchanges = static_cast<double>(exchanges_per_sort()) * layout_.devices();
    return {exchanges * cut_.tags, exchanges * layout_.local_keys() * static_cast<double>(sizeof(Record))};
  }
  std::string shape() const override {
    return std::to_string(layout_.keys) + " keys in pieces of " + std::to_string(layout_.piece_keys()) + ", " +
           std::to_string(exchanges_per_sort()) + " exchanges, " + std::to_string(exchange_shape_.blocks) +
           " blocks of " + std::to_string(exchange_shape_.threads);
  }

 private:
  BitonicSort(wic::Runtime& runtime, std::uint64_t timeout_ns) : runtime_(runtime), timeout_ns_(timeout_ns) {}
  Result<> open(const AppOptions& options);
  Result<> choose_shapes(const AppOptions& options);
  Result<> open_rank(std::uint32_t number, const AppOptions& options);
  Result<> sort_pieces(Rank& rank);
  Result<> merge(Rank& rank, std::uint32_t phase);
  Result<> exchange(Rank& rank, std::uint32_t phase, std::uint32_t steps);

  wic::Stream& stream(const Rank& rank) const { return queues_[rank.number].stream(); }
  std::uint32_t steps_with_others(std::uint32_t phase) const {
    return std::min(phase - layout_.piece_bits, layout_.device_bits);
  }
  std::uint32_t exchanges_per_sort() const {
    std::uint32_t sum = 0;
    for (std::uint32_t phase = layout_.piece_bits + 1; phase <= layout_.bits; ++phase) sum += steps_with_others(phase);
    return sum;
  }

  wic::Runtime& runtime_;
  const std::uint64_t timeout_ns_;
  Layout layout_;
  Cut cut_;
  std::uint64_t seed_ = 0;                            // of the last step's keys
  std::uint32_t iteration_ = 0;                       // exchanges so far
  std::array<std::uint32_t, kMaxDeviceBits> used_{};  // exchanges so far, per bit
  wic::LaunchShape sort_shape_, exchange_shape_;
  std::string name_;
  std::vector<Rank> ranks_;
  std::vector<RankQueue> queues_;  // last: destroyed first, so their work ends before the memory is freed
};

Result<std::unique_ptr<App>> BitonicSort::make(wic::Runtime& runtime, const AppOptions& options) {
  std::unique_ptr<BitonicSort> app(new BitonicSort(runtime, options.timeout_ns));
  if (Result<> opened = app->open(options); !opened) return opened.error();
  return Result<std::unique_ptr<App>>(std::unique_ptr<App>(std::move(app)));
}

Result<> BitonicSort::open(const AppOptions& options) {
  const auto devices = static_cast<std::uint32_t>(runtime_.device_count());
  if (!std::has_single_bit(devices) || devices > 1u << kMaxDeviceBits) {
    return wic::bad_input("g_bs needs 2, 4 or 8 devices, because a bitonic network works on powers of two, but got " +
                          std::to_string(devices));
  }
  const std::uint32_t keys = options.size != 0 ? options.size : options.on_gpu ? 1u << 24 : 2048;
  const std::uint32_t piece = options.number("piece") != 0 ? options.number("piece") : options.on_gpu ? 2048 : 32;
  if (!std::has_single_bit(piece)) return wic::bad_input("--piece: choose a power of two");
  layout_ = layout_of(keys, static_cast<std::uint32_t>(std::countr_zero(devices)),
                      static_cast<std::uint32_t>(std::countr_zero(piece)));
  if (Result<> chosen = choose_shapes(options); !chosen) return chosen;
  name_ = options.prefix + "bs";
  ranks_.resize(devices);
  for (std::uint32_t r = 0; r < devices; ++r) {
    if (Result<> opened = open_rank(r, options); !opened) return opened;
  }
  return wic::ok();
}

Result<> BitonicSort::choose_shapes(const AppOptions& options) {
  const std::uint32_t threads = options.block_size != 0 ? options.block_size : options.on_gpu ? 512 : 32;
  const std::uint32_t shared = layout_.piece_keys() * static_cast<std::uint32_t>(sizeof(Record));
  exchange_shape_ = {1, threads, shared, true};
  sort_shape_ = {1, threads, shared, false};
  std::uint32_t max_blocks = ~0u;
  for (std::size_t d = 0; d < runtime_.device_count(); ++d) {
    const auto fits = max_waiting_blocks(runtime_, runtime_.device(d), exchange_shape_, wic::kernel_ref(Exchange{}),
                                         agent_blocks(options.rival, options.on_gpu, layout_.device_bits));
    if (!fits) return fits.error();
    max_blocks = std::min(max_blocks, *fits);
  }
  const std::uint32_t blocks = options.blocks != 0 ? options.blocks
                               : options.on_gpu    ? max_blocks
                                                   : std::min(max_blocks, 4u);
  cut_.pieces = layout_.pieces();
  cut_.tags = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::uint64_t{blocks} * options.number("messages"), cut_.pieces));
  exchange_shape_.blocks = std::min({blocks, max_blocks, cut_.tags});
  sort_shape_.blocks = std::min(max_blocks, cut_.pieces);
  return wic::ok();
}

Result<> BitonicSort::open_rank(std::uint32_t number, const AppOptions& options) {
  Rank& rank = ranks_[number];
  rank.number = number;
  rank.device = &runtime_.device(number);
  for (std::uint32_t bit = 0; bit < layout_.device_bits; ++bit) {
    const std::uint32_t partner = number ^ (1u << bit);
    LaneSpec spec;
    spec.name = lane_name(name_, number, partner);
    spec.producer = wic::End::on(static_cast<int>(number));
    spec.consumer = wic::End::on(static_cast<int>(partner));
    spec.tags = cut_.tags;
    spec.max_bytes = (cut_.count(0) << layout_.piece_bits) * static_cast<std::uint32_t>(sizeof(Record));
    spec.way = options.way;
    spec.rival = options.rival;
    auto lane = Lane::make(runtime_, spec);
    if (!lane) return lane.error();
    rank.lanes[bit] = *std::move(lane);
  }
  auto records = wic::Array<Record>::make(*rank.device, layout_.local_keys(), wic::Memory::device);
  if (!records) return records.error();
  auto queue = RankQueue::make(*rank.device);
  if (!queue) return queue.error();
  rank.records = *std::move(records);
  queues_.push_back(*std::move(queue));
  return wic::ok();
}

Result<> BitonicSort::sort_pieces(Rank& rank) {
  return wic::launch(stream(rank), sort_shape_, SortPieces{layout_, rank.number, seed_, rank.records.data()});
}

Result<> BitonicSort::merge(Rank& rank, std::uint32_t phase) {
  const std::uint32_t lowest = layout_.piece_bits + layout_.device_bits;
  for (std::uint32_t next = phase; next > lowest;) {
    const std::uint32_t together = std::min(next - lowest, 3u);
    const std::uint32_t work = layout_.local_keys() >> together;
    const std::uint32_t threads = exchange_shape_.threads;
    const std::uint32_t blocks = std::min((work + threads - 1) / threads, rank.device->properties().sm_count * 8);
    const wic::LaunchShape shape{blocks, threads, 0, false};
    Record* const records = rank.records.data();
    Result<> launched =
        together == 3   ? wic::launch(stream(rank), shape, Merge<3>{layout_, rank.number, phase, next - 1, records})
        : together == 2 ? wic::launch(stream(rank), shape, Merge<2>{layout_, rank.number, phase, next - 1, records})
                        : wic::launch(stream(rank), shape, Merge<1>{layout_, rank.number, phase, next - 1, records});
    if (!launched) return launched;
    next -= together;
  }
  return wic::ok();
}

Result<> BitonicSort::exchange(Rank& rank, std::uint32_t phase, std::uint32_t steps) {
  Exchange kernel{};
  kernel.layout = layout_;
  kernel.cut = cut_;
  kernel.device = rank.number;
  kernel.phase = phase;
  kernel.steps = steps;
  kernel.iteration = iteration_ + 1;
  kernel.records = rank.records.data();
  kernel.failure = queues_[rank.number].failure();
  kernel.timeout_ns = timeout_ns_;
  for (std::uint32_t bit = 0; bit < steps; ++bit) {
    const Lane::Turn out = rank.lanes[bit]->turn(used_[bit] + 1);
    const Lane::Turn in = ranks_[rank.number ^ (1u << bit)].lanes[bit]->turn(used_[bit] + 1);
    kernel.senders[bit] = out.sender();
    kernel.send_cycles[bit] = out.cycle.number;
    kernel.receivers[bit] = in.receiver();
    kernel.receive_cycles[bit] = in.cycle.number;
    // The first exchange is with the farthest device, whose bit is the last.
    const wic::Cycle cycle{out.cycle.number, kernel.iteration + (steps - 1 - bit)};
    if (auto r = rank.lanes[bit]->carry(out, cycle, 1, timeout_ns_); !r) return r;
  }
  return wic::launch(stream(rank), exchange_shape_, kernel);
}

// Queues a whole sort without waiting.
Result<> BitonicSort::step(std::uint32_t step) {
  seed_ = step;
  for (Rank& rank : ranks_) {
    if (auto r = sort_pieces(rank); !r) return r;
  }
  for (std::uint32_t phase = layout_.piece_bits + 1; phase <= layout_.bits; ++phase) {
    const std::uint32_t steps = steps_with_others(phase);
    for (Rank& rank : ranks_) {
      if (auto r = merge(rank, phase); !r) return r;
      if (auto r = exchange(rank, phase, steps); !r) return r;
    }
    iteration_ += steps;
    for (std::uint32_t bit = 0; bit < steps; ++bit) ++used_[bit];
  }
  return finish_all(queues_, name_);
}

Result<> BitonicSort::check() {
  if (iteration_ == 0) return wic::ok();
  std::vector<Record> sorted(std::size_t{1} << layout_.bits);
  for (const Rank& rank : ranks_) {
    const auto mine = download(*rank.device, stream(rank), rank.records, 0, layout_.local_keys());
    if (!mine) return mine.error();
    for (std::uint32_t i = 0; i < layout_.local_keys(); ++i) sorted[layout_.global(rank.number, i)] = (*mine)[i];
  }
  return check_sorted(layout_, seed_, sorted);
}

}  // namespace
}  // namespace bs

const AppInfo& g_bs_info() {
  static const AppInfo info{"g_bs",
                            "bitonic sort of keys spread over 2, 4 or 8 devices",
                            "keys (default: 2048, on GPUs 2^24)",
                            "simt:2",
                            2,
                            {{"piece", "keys per piece, a power of two; 0 = 32, on GPUs 2048", "0", 0, 4096},
                             {"messages", "messages per block in an exchange", "2", 1, 64}},
                            &bs::BitonicSort::make,
                            {{Rival::gps,
                              "the program stores compared keys into its partner's memory at once, which is what GPS "
                              "does: use --wait alone"}}};
  return info;
}

}  // namespace sample
