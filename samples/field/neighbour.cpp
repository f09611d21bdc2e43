#include "field/neighbour.h"

#include <algorithm>
#include <utility>

#include "field/read_memory.h"
#include "wic/device.h"

namespace sample {
namespace {

using wic::Result;

/// What a warp does between two looks at the stop word.
constexpr std::uint32_t kRounds = 16;
constexpr std::uint32_t kQuadsPerChunk = wic::kWarpSize * 4 * kRounds;
constexpr std::uint32_t kFlopsPerRound = 2 * 4 * 16;  // of a thread

struct NeighbourKernel {
  static constexpr int kMaxThreads = 256, kMinBlocksPerSm = 4;

  NeighbourKind kind;
  const Quad* data;
  std::uint64_t chunks;  ///< of `data`
  const std::uint32_t* stop;
  std::uint32_t run;
  std::uint64_t timeout_ns;
  std::uint64_t* done;    ///< chunks, over all warps and runs
  std::uint32_t* missed;  ///< warps that no stop has reached
  std::uint32_t* sink;    ///< keeps the compiler from removing the work

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint64_t begin = thread.clock_ns();
    const std::uint32_t warps = thread.block_count() * (thread.block_size() / wic::kWarpSize);
    std::uint64_t at = thread.block() * (thread.block_size() / wic::kWarpSize) + thread.warp();
    std::uint64_t mine = 0;
    std::uint32_t result = 0;
    while (thread.load(stop) != run) {
      if (thread.clock_ns() - begin > timeout_ns) {
        if (thread.lane() == 0) thread.fetch_add(missed, 1);
        break;
      }
      result += kind == NeighbourKind::compute ? multiply(thread)
                                               : sum_of_quads(thread, data + at * kQuadsPerChunk, kQuadsPerChunk,
                                                              thread.lane(), wic::kWarpSize, 1);
      at = at + warps < chunks ? at + warps : at % warps;
      ++mine;
    }
    if (thread.lane() == 0) thread.add(done, mine);
    if (result == 0x5eed5eedu) thread.store(sink, result);
  }

 private:
  WIC_DEVICE std::uint32_t multiply(const wic::Thread& thread) const {
    float x[4] = {1.0f + static_cast<float>(thread.lane()), 2.0f, 3.0f, 4.0f};
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      for (int k = 0; k < 16; ++k) {
        for (float& each : x) each = each * 0.999f + 0.5f;
      }
      thread.step();
    }
    return static_cast<std::uint32_t>(x[0] + x[1] + x[2] + x[3]);
  }
};

class NoNeighbour final : public Neighbour {
 public:
  NeighbourStop next_run() override { return {}; }
  wic::PlannedLaunch planned() const override { return {{0, 32}, wic::kernel_ref(kernel_)}; }
  Result<> start() override { return wic::ok(); }
  Result<> finish() override { return wic::ok(); }
  const char* unit() const override { return nullptr; }
  double take_work() override { return 0; }

 private:
  NeighbourKernel kernel_{};
};

class WorkingNeighbour final : public Neighbour {
 public:
  static Result<std::unique_ptr<Neighbour>> make(wic::Device& device, NeighbourKind kind, std::uint32_t sharing,
                                                 std::uint64_t timeout_ns) {
    auto self = std::make_unique<WorkingNeighbour>();
    const bool on_gpu = device.properties().kind == wic::DeviceKind::cuda;
    const auto where = kind == NeighbourKind::host ? wic::Memory::pinned_host : wic::Memory::device;
    const std::size_t chunk_bytes = kQuadsPerChunk * sizeof(Quad);
    // More than the caches hold.
    const std::size_t bytes = kind == NeighbourKind::compute ? chunk_bytes : std::size_t{on_gpu ? 1024u : 1u} << 20;
    auto data = wic::Array<Quad>::make(device, bytes / sizeof(Quad), where);
    if (!data) return data.error();
    auto words = wic::Array<std::uint32_t>::make(device, kWords, wic::Memory::device);
    if (!words) return words.error();
    auto seen = wic::Array<std::uint32_t>::make(device, kWords, wic::Memory::pinned_host);
    if (!seen) return seen.error();
    auto stream = device.make_stream();
    if (!stream) return stream.error();
    self->data_ = *std::move(data);
    self->words_ = *std::move(words);
    self->seen_ = *std::move(seen);
    self->stream_ = *std::move(stream);
    self->shape_ = {device.properties().sm_count * (on_gpu && sharing == 1 ? 2u : 1u), on_gpu ? 256u : 32u};
    NeighbourKernel& kernel = self->kernel_;
    kernel.kind = kind;
    kernel.data = self->data_.data();
    kernel.chunks = bytes / chunk_bytes;
    kernel.stop = self->words_.data() + kStop;
    kernel.timeout_ns = timeout_ns;
    kernel.done = reinterpret_cast<std::uint64_t*>(self->words_.data() + kDone);
    kernel.missed = self->words_.data() + kMissed;
    kernel.sink = self->words_.data() + kSink;
    // Loads the kernel: its first launch must not wait for a kernel that waits.
    if (auto r = device.resident_blocks(self->shape_, wic::kernel_ref(kernel)); !r) return r.error();
    return Result<std::unique_ptr<Neighbour>>(std::move(self));
  }

  NeighbourStop next_run() override {
    ++kernel_.run;
    return {words_.data() + kStop, words_.data() + kEnded, kernel_.run};
  }
  wic::PlannedLaunch planned() const override { return {shape_, wic::kernel_ref(kernel_)}; }
  Result<> start() override { return wic::launch(*stream_, shape_, kernel_); }
  Result<> finish() override {
    if (auto r = stream_->copy(seen_.data(), words_.data(), words_.bytes()); !r) return r;
    if (auto r = stream_->synchronize(); !r) return r;
    if (seen_[kMissed] == 0) return wic::ok();
    return wic::failed("a deadline passed: the neighbour was never told to end");
  }
  const char* unit() const override { return kernel_.kind == NeighbourKind::compute ? "Gflop" : "GB"; }
  double take_work() override {
    const std::uint64_t done = *reinterpret_cast<const std::uint64_t*>(seen_.data() + kDone);
    const auto fresh = static_cast<double>(done - taken_);
    taken_ = done;
    const double per_chunk = kernel_.kind == NeighbourKind::compute
                                 ? double{wic::kWarpSize} * kRounds * kFlopsPerRound
                                 : static_cast<double>(kQuadsPerChunk * sizeof(Quad));
    return fresh * per_chunk * 1e-9;
  }

 private:
  enum Word : std::size_t { kStop = 0, kEnded = 32, kDone = 64, kMissed = 66, kSink = 67, kWords = 96 };

  wic::Array<Quad> data_;
  wic::Array<std::uint32_t> words_, seen_;
  wic::LaunchShape shape_;
  NeighbourKernel kernel_{};
  std::uint64_t taken_ = 0;
  std::unique_ptr<wic::Stream> stream_;  // last: destroyed first, so its work ends before the memory is freed
};

}  // namespace

Result<NeighbourKind> Neighbour::kind_of(const std::string& word) {
  if (word == "none") return NeighbourKind::none;
  if (word == "memory") return NeighbourKind::memory;
  if (word == "host") return NeighbourKind::host;
  if (word == "compute") return NeighbourKind::compute;
  return wic::bad_input("--neighbour " + word + ": choose memory, host, compute or none");
}

Result<std::unique_ptr<Neighbour>> Neighbour::make(wic::Device& device, NeighbourKind kind, std::uint32_t sharing,
                                                   std::uint64_t timeout_ns) {
  if (kind != NeighbourKind::none) return WorkingNeighbour::make(device, kind, sharing, timeout_ns);
  return Result<std::unique_ptr<Neighbour>>(std::unique_ptr<Neighbour>(std::make_unique<NoNeighbour>()));
}

}  // namespace sample
