// How much longer than the mean block of a kernel its longest block takes: calibrates kUneven
// (analyzer/work/tile_gain.h). Common kernels in grids of 0.5 to 4.5 waves, each alone on the device; every block takes
// the device clock at its begin and end. Rows: the longest over the mean, the median of the rounds; `uneven_data` marks
// kernels whose blocks get different amounts of work from the data, which no bound of this kind covers.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "analyzer/work/tile_gain.h"
#include "bench/claim.h"
#include "common/options.h"
#include "wic/launch.h"
#include "wic/runtime.h"

namespace {

using wic::Array;
using wic::Memory;
using wic::Result;
using wicprof::analyzer::kUneven;

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kWide = 2'048;  ///< columns of the matrices
constexpr std::uint32_t kRows = 64;     ///< of them, per block

enum class Work : std::uint32_t { copy, row_sums, products, stencil, transposition, histogram, triangle, sparse_rows };
constexpr const char* kNames[] = {"copy",          "row_sums",  "products", "stencil",
                                  "transposition", "histogram", "triangle", "sparse_rows"};
constexpr bool kUnevenData[] = {false, false, false, false, false, false, true, true};

struct BlockTimes {
  static constexpr int kMaxThreads = kThreads, kMinBlocksPerSm = 4;

  Work work;
  const float* from;
  float* to;
  std::uint32_t* bins;
  std::uint32_t rows;      ///< of `from` and `to`
  std::uint64_t* took_ns;  ///< one per block

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    thread.sync_block();
    const std::uint64_t begin = thread.clock_ns();
    const std::uint32_t first = thread.block() * kRows % rows;
    switch (work) {
      case Work::copy:
        for (std::uint32_t r = 0; r < kRows; ++r) {
          for (std::uint32_t c = thread.index(); c < kWide; c += thread.block_size())
            at(first + r, c) = in(first + r, c);
        }
        break;
      case Work::row_sums:
        for (std::uint32_t r = 0; r < kRows; ++r) sum_row(thread, first + r, kWide);
        break;
      case Work::products:
        for (std::uint32_t r = 0; r < kRows; ++r) {
          float sum = 0;
          const std::uint32_t c = thread.index();
          for (std::uint32_t k = 0; k < 256; ++k) sum += in(first + r, k) * in(k % rows, c);
          at(first + r, c) = sum;
        }
        break;
      case Work::stencil:
        for (std::uint32_t r = 0; r < kRows; ++r) {
          for (std::uint32_t c = thread.index() + 1; c + 1 < kWide; c += thread.block_size()) {
            at(first + r, c) = in(first + r, c - 1) + in(first + r, c + 1) + in((first + r + 1) % rows, c);
          }
        }
        break;
      case Work::transposition:
        for (std::uint32_t r = 0; r < kRows; ++r) {
          for (std::uint32_t c = thread.index(); c < kWide; c += thread.block_size()) {
            at(c % rows, (first + r) % kWide) = in(first + r, c);
          }
        }
        break;
      case Work::histogram:
        for (std::uint32_t r = 0; r < kRows; ++r) {
          for (std::uint32_t c = thread.index(); c < kWide; c += thread.block_size()) {
            thread.fetch_add(bins + static_cast<std::uint32_t>(in(first + r, c) * 255), 1);
          }
        }
        break;
      case Work::triangle:  // as in attention with a causal mask: a block's rows need the columns before them
        for (std::uint32_t r = 0; r < kRows; ++r) {
          sum_row(thread, first + r, 1 + thread.block() * (kWide - 1) / thread.block_count());
        }
        break;
      case Work::sparse_rows:
        for (std::uint32_t r = 0; r < kRows; ++r) {
          const std::uint32_t mixed = (first + r) * 2654435761u;
          sum_row(thread, first + r, mixed % 64 == 0 ? kWide : kWide / 16 + mixed / 64 % (kWide / 8));
        }
        break;
    }
    thread.sync_block();
    if (thread.index() == 0) took_ns[thread.block()] = thread.clock_ns() - begin;
  }

 private:
  WIC_DEVICE float in(std::uint32_t row, std::uint32_t column) const {
    return from[std::size_t{row % rows} * kWide + column];
  }
  WIC_DEVICE float& at(std::uint32_t row, std::uint32_t column) const {
    return to[std::size_t{row % rows} * kWide + column];
  }
  WIC_DEVICE void sum_row(const wic::Thread& thread, std::uint32_t row, std::uint32_t columns) const {
    float sum = 0;
    for (std::uint32_t c = thread.index(); c < columns; c += thread.block_size()) {
      sum += in(row, c);
      thread.step();
    }
    at(row, thread.index()) = sum;
  }
};

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  wicprof::bench::Claim claim("block_times", "how much longer than the mean the longest block of a kernel takes", argc,
                              argv);
  sample::SampleOptions options;
  options.devices = claim.option("devices", std::string("simt:1"));
  const std::int64_t rounds = claim.option("rounds", std::int64_t{9});
  auto runtime = wic::Runtime::create(options.runtime());
  if (!runtime) return sample::fail("block_times", runtime.error());
  wic::Device& device = (*runtime)->device(0);
  const bool gpu = device.properties().kind == wic::DeviceKind::cuda;
  const std::uint32_t threads = gpu ? kThreads : 32;
  const auto resident = device.resident_blocks({1, threads}, wic::kernel_ref(BlockTimes{}));
  if (!resident) return sample::fail("block_times", resident.error());
  const std::uint32_t places = gpu ? *resident : 4;
  const std::uint32_t rows = gpu ? 8'192 : 256;
  auto stream = device.make_stream();
  if (!stream) return sample::fail("block_times", stream.error());
  auto from = Array<float>::make(device, std::size_t{rows} * kWide, Memory::device);
  auto start = Array<float>::make(device, std::size_t{rows} * kWide, Memory::pinned_host);
  auto to = Array<float>::make(device, std::size_t{rows} * kWide, Memory::device);
  auto bins = Array<std::uint32_t>::make(device, 256, Memory::device);
  auto took = Array<std::uint64_t>::make(device, std::size_t{5} * places, Memory::pinned_host);
  if (!from || !start || !to || !bins || !took)
    return sample::fail("block_times", wic::unavailable("not enough memory"));
  for (std::size_t i = 0; i < start->size(); ++i) (*start)[i] = static_cast<float>(i * 2654435761u % 1024) / 1024;
  if (auto r = (*stream)->copy(from->data(), start->data(), start->bytes()); !r)
    return sample::fail("block_times", r.error());
  std::vector<double> even;
  for (std::uint32_t w = 0; w < std::size(kNames); ++w) {
    for (const double waves : {0.5, 1.0, 1.5, 2.5, 4.5}) {
      const auto blocks = std::max(1u, static_cast<std::uint32_t>(waves * places));
      std::vector<double> ratios;
      for (std::int64_t round = 0; round < rounds; ++round) {
        const BlockTimes kernel{static_cast<Work>(w), from->data(), to->data(), bins->data(), rows, took->data()};
        if (auto r = wic::launch(**stream, {blocks, threads}, kernel); !r)
          return sample::fail("block_times", r.error());
        if (auto r = (*stream)->synchronize(); !r) return sample::fail("block_times", r.error());
        double sum = 0, longest = 0;
        for (std::uint32_t b = 0; b < blocks; ++b) {
          const auto ns = static_cast<double>((*took)[b]);
          sum += ns;
          longest = std::max(longest, ns);
        }
        ratios.push_back(longest * blocks / std::max(1.0, sum));
      }
      const double ratio = median_of(ratios);
      if (!kUnevenData[w]) even.push_back(ratio);
      wicprof::bench::ClaimRow row{std::string(kNames[w]) + "_" + std::to_string(static_cast<int>(waves * 10)),
                                   {{"waves", waves},
                                    {"blocks", static_cast<std::int64_t>(blocks)},
                                    {"uneven_data", std::string(kUnevenData[w] ? "yes" : "no")}},
                                   ratio,
                                   "longest block over the mean"};
      claim.add(row);
    }
  }
  const auto within = std::count_if(even.begin(), even.end(), [](double ratio) { return ratio <= kUneven; });
  wicprof::bench::ClaimRow all{"within_uneven",
                               {{"grids", static_cast<std::int64_t>(even.size())}, {"uneven", kUneven}},
                               *std::max_element(even.begin(), even.end()),
                               "longest block over the mean, at worst"};
  all.compared_to = "grids whose blocks have equal work";
  all.ratio = static_cast<double>(within) / static_cast<double>(even.size());
  all.bar = 0.95;
  claim.add(all);
  return claim.write();
}
