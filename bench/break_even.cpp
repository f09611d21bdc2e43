// The shortest wait that gains from parking. A producer releases its waiters a time L after the last of them has
// arrived; they do a little work and wait again, while neighbours stream memory. Two cases, each alternately polled and
// parked in one run:
//   host_word     one polling thread per block, all on one word in pinned host memory; parked: shared_watch
//   each_thread   24 warps per block whose threads all poll one word in device memory; parked: leader_bar_sync
// The cost of parking is the mean of two ratios, parked to polled: the time of an iteration {wait, work}, and the
// neighbours' time for a given amount of work. The break-even is the shortest L from which on this mean is at most 1.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "bench/claim.h"
#include "common/options.h"
#include "wic/launch.h"
#include "wic/runtime.h"
#include "wic/signal.h"

namespace {

using wicprof::Mode;
using wicprof::StrategyId;

constexpr std::uint64_t kTimeoutNs = 2'000'000'000;
constexpr std::uint32_t kLine = 32;   // words of a 128-byte line
constexpr std::uint32_t kFours = 16;  // elements that a neighbour's lane processes between two checks of the phase

struct alignas(16) Four {
  std::uint32_t v[4];
};

enum Phase : std::uint32_t { kGathering = 0, kRunning = 1, kOver = 2 };
enum Word : std::uint32_t {
  kStarted = 0,
  kArrived = kLine,
  kPhase = 2 * kLine,
  kMissed = 3 * kLine,
  kWords = 4 * kLine
};

// Block 0 produces. Of the other blocks all wait, or those of every other row (the hardware assigns blocks to SMs in
// turn, so every SM gets its share). A waiting block waits with its first `waiting_warps` warps. All other warps
// stream.
struct BreakEven {
  static constexpr int kMaxThreads = 1024, kMinBlocksPerSm = 2;

  wic::DeviceView view;
  wicprof::SiteId site;
  std::uint32_t* word;
  bool each_thread;
  bool every_other_row;
  std::uint32_t waiting_warps;
  std::uint32_t groups;  // waiting groups
  std::uint32_t rounds;
  std::uint64_t length_ns;
  std::uint32_t work;
  std::uint32_t* words;  // Word, device memory
  Four* data;            // device memory
  std::uint32_t fours_per_warp;
  std::uint32_t* chunks;  // one per warp of the grid, device memory
  std::uint64_t* times;   // begin and end of the rounds, device memory
  std::uint32_t* sink;    // one per thread of the grid, device memory

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    thread.sync_block();
    if (thread.index() == 0) thread.fetch_add(&words[kStarted], 1);
    if (thread.block() == 0) {
      if (thread.index() == 0) produce(thread);
      return;
    }
    const bool waiting_block = !every_other_row || thread.block() / view.sm_count % 2 == 1;
    const bool waits = waiting_block && thread.warp() < waiting_warps;
    if (waits && each_thread) {
      consume(thread,
              wic::warps_group(0, waiting_warps, 1));  // constant barrier number, because an SM has few barriers
    } else if (waits) {
      consume(thread, wic::block_group(thread));
    } else {
      stream(thread);
    }
  }

 private:
  WIC_DEVICE bool reached(const wic::Thread& thread, std::uint32_t which, std::uint32_t count) const {
    const std::uint64_t end = thread.clock_ns() + kTimeoutNs;
    while (thread.load(&words[which]) < count) {
      if (thread.clock_ns() > end || thread.load(&words[kMissed]) != 0) {
        thread.fetch_add(&words[kMissed], 1);
        return false;
      }
    }
    return true;
  }

  WIC_DEVICE void produce(const wic::Thread& thread) const {
    if (reached(thread, kStarted, thread.block_count()) && reached(thread, kArrived, groups)) {
      thread.store(&words[kPhase], kRunning);
      times[0] = thread.clock_ns();
      for (std::uint32_t round = 1; round <= rounds; ++round) {
        const std::uint64_t begin = thread.clock_ns();
        while (thread.clock_ns() - begin < length_ns) thread.step();
        wic::signal(thread, view, site, round, word, round);
        if (!reached(thread, kArrived, groups * (round + 1))) break;
      }
      times[1] = thread.clock_ns();
    }
    thread.store(&words[kPhase], kOver);
  }

  WIC_DEVICE void consume(const wic::Thread& thread, const wic::Group& group) const {
    std::uint32_t value = thread.index() + 1;
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      if (group.is_leader(thread)) thread.fetch_add(&words[kArrived], 1);
      const wic::WaitResult wait =
          wic::wait_until(thread, view, group, site, round, word, wic::AtLeast{round}, kTimeoutNs);
      if (wait.status != wicprof::WaitStatus::satisfied) {
        if (group.is_leader(thread)) thread.fetch_add(&words[kMissed], 1);
        return;
      }
      for (std::uint32_t i = 0; i < work; ++i) {
        value = value * 1'664'525u + 1'013'904'223u;
        thread.step();
      }
    }
    if (group.is_leader(thread)) thread.fetch_add(&words[kArrived], 1);
    sink[thread.block() * thread.block_size() + thread.index()] = value;
  }

  WIC_DEVICE void stream(const wic::Thread& thread) const {
    const std::uint32_t warp = thread.block() * (thread.block_size() / wic::kWarpSize) + thread.warp();
    Four* const mine = data + std::size_t{warp} * fours_per_warp;
    const std::uint64_t end = thread.clock_ns() + 4 * kTimeoutNs;
    std::uint32_t at = 0, done = 0;
    for (;;) {
      const std::uint32_t phase = thread.load(&words[kPhase]);
      if (phase == kOver || thread.clock_ns() > end) break;
      for (std::uint32_t i = 0; i < kFours; ++i) {
        Four& four = mine[at + i * wic::kWarpSize + thread.lane()];
        for (std::uint32_t& v : four.v) v += 1;
        thread.step();
      }
      at += kFours * wic::kWarpSize;
      if (at + kFours * wic::kWarpSize > fours_per_warp) at = 0;
      done += phase == kRunning ? 1 : 0;
    }
    if (thread.lane() == 0) chunks[warp] = done;
  }
};

struct Case {
  const char* name;
  StrategyId park;
  wicprof::WordMemory memory;
  bool each_thread;
  bool every_other_row;
  std::uint32_t threads, blocks, waiting_warps, groups;
};

// On a GPU as many blocks as it holds: per SM 8 blocks of 256 threads, every other one waiting, or 2 blocks of 1,024
// threads. Fewer on the CPU device.
std::vector<Case> cases(const wic::Device& device, StrategyId park_host, StrategyId park_threads) {
  const std::uint32_t sms = device.properties().sm_count;
  const bool gpu = device.properties().kind == wicprof::DeviceKind::cuda;
  const std::uint32_t threads = gpu ? 256 : 32;
  const std::uint32_t blocks = 8 * sms;
  const std::uint32_t wide = gpu ? 1024 : 128, wide_blocks = 2 * sms;
  return {{"host_word", park_host, wicprof::WordMemory::pinned_host, false, true, threads, blocks, threads / 32,
           blocks / 2},
          {"each_thread", park_threads, wicprof::WordMemory::device, true, false, wide, wide_blocks, wide / 32 / 4 * 3,
           wide_blocks - 1}};
}

struct Measured {
  double iteration_ns;
  double chunks_per_us;  // done by the neighbours
};

class Program {
 public:
  static wicprof::Result<Program> make(wic::Runtime& runtime, const Case& c, std::size_t data_bytes) {
    Program p;
    p.runtime_ = &runtime;
    p.case_ = c;
    wic::Device& device = runtime.device(0);
    const auto resident = device.resident_blocks({c.blocks, c.threads}, wic::kernel_ref(BreakEven{}));
    if (!resident) return resident.error();
    if (*resident < c.blocks) {
      return wicprof::bad_input(std::to_string(c.blocks) +
                                " blocks that wait for each other do not fit: the device holds " +
                                std::to_string(*resident));
    }
    const auto site =
        runtime.add_site({std::string("break_even.") + c.name, c.memory,
                          c.each_thread ? wicprof::Pollers::each_thread : wicprof::Pollers::leader, true});
    if (!site) return site.error();
    p.site_ = *site;
    const std::uint32_t warps = c.blocks * c.threads / wic::kWarpSize;
    const std::uint32_t step = kFours * wic::kWarpSize;
    p.fours_per_warp_ =
        static_cast<std::uint32_t>(std::max<std::size_t>(1, data_bytes / sizeof(Four) / warps / step)) * step;
    auto word = wic::Array<std::uint32_t>::make(
        device, kLine, c.memory == wicprof::WordMemory::device ? wic::Memory::device : wic::Memory::pinned_host);
    auto zeros = wic::Array<std::uint32_t>::make(device, kWords, wic::Memory::pinned_host);
    auto words = wic::Array<std::uint32_t>::make(device, kWords, wic::Memory::device);
    auto data = wic::Array<Four>::make(device, std::size_t{warps} * p.fours_per_warp_, wic::Memory::device);
    auto chunks = wic::Array<std::uint32_t>::make(device, warps, wic::Memory::device);
    auto times = wic::Array<std::uint64_t>::make(device, 2, wic::Memory::device);
    auto sink = wic::Array<std::uint32_t>::make(device, std::size_t{c.blocks} * c.threads, wic::Memory::device);
    auto host_words = wic::Array<std::uint32_t>::make(device, kWords, wic::Memory::pinned_host);
    auto host_chunks = wic::Array<std::uint32_t>::make(device, warps, wic::Memory::pinned_host);
    auto host_times = wic::Array<std::uint64_t>::make(device, 2, wic::Memory::pinned_host);
    auto stream = device.make_stream();
    if (!stream) return stream.error();
    if (!word || !zeros || !words || !data || !chunks || !times || !sink || !host_words || !host_chunks ||
        !host_times) {
      return wicprof::unavailable("no memory for the benchmark");
    }
    p.word_ = *std::move(word);
    p.zeros_ = *std::move(zeros);
    p.words_ = *std::move(words);
    p.data_ = *std::move(data);
    p.chunks_ = *std::move(chunks);
    p.times_ = *std::move(times);
    p.sink_ = *std::move(sink);
    p.host_words_ = *std::move(host_words);
    p.host_chunks_ = *std::move(host_chunks);
    p.host_times_ = *std::move(host_times);
    p.stream_ = *std::move(stream);
    return wicprof::Result<Program>(std::move(p));
  }

  wicprof::Result<Measured> run(StrategyId strategy, std::uint64_t length_ns, std::uint32_t rounds,
                                std::uint32_t work) {
    if (auto r = runtime_->set_wait(site_, {Mode::park, strategy}); !r) return r.error();
    if (auto r = stream_->copy(word_.data(), zeros_.data(), word_.bytes()); !r) return r.error();
    if (auto r = stream_->copy(words_.data(), zeros_.data(), words_.bytes()); !r) return r.error();
    BreakEven kernel{};
    kernel.view = runtime_->view(0);
    kernel.site = site_;
    kernel.word = word_.data();
    kernel.each_thread = case_.each_thread;
    kernel.every_other_row = case_.every_other_row;
    kernel.waiting_warps = case_.waiting_warps;
    kernel.groups = case_.groups;
    kernel.rounds = rounds;
    kernel.length_ns = length_ns;
    kernel.work = work;
    kernel.words = words_.data();
    kernel.data = data_.data();
    kernel.fours_per_warp = fours_per_warp_;
    kernel.chunks = chunks_.data();
    kernel.times = times_.data();
    kernel.sink = sink_.data();
    if (auto r = wic::launch(*stream_, {case_.blocks, case_.threads}, kernel); !r) return r.error();
    if (auto r = stream_->copy(host_words_.data(), words_.data(), words_.bytes()); !r) return r.error();
    if (auto r = stream_->copy(host_chunks_.data(), chunks_.data(), chunks_.bytes()); !r) return r.error();
    if (auto r = stream_->copy(host_times_.data(), times_.data(), times_.bytes()); !r) return r.error();
    if (auto r = stream_->synchronize(); !r) return r.error();
    if (host_words_[kMissed] != 0) return wicprof::unavailable("a deadline passed");
    const auto took = static_cast<double>(host_times_[1] - host_times_[0]);
    double chunks = 0;
    for (std::size_t i = 0; i < host_chunks_.size(); ++i) chunks += host_chunks_[i];
    return Measured{took / rounds, chunks / took * 1e3};
  }

 private:
  wic::Runtime* runtime_ = nullptr;
  Case case_{};
  wicprof::SiteId site_ = 0;
  std::uint32_t fours_per_warp_ = 0;
  wic::Array<std::uint32_t> word_, zeros_, words_, chunks_, sink_, host_words_, host_chunks_;
  wic::Array<Four> data_;
  wic::Array<std::uint64_t> times_, host_times_;
  std::unique_ptr<wic::Stream> stream_;
};

wicprof::bench::ClaimRow row(const std::string& name, double value, const char* unit,
                             const std::map<std::string, wicprof::bench::Parameter>& params) {
  wicprof::bench::ClaimRow r;
  r.name = name;
  r.params = params;
  r.value = value;
  r.unit = unit;
  return r;
}

struct Settings {
  std::string devices;
  std::int64_t repeats, budget_ms, work;
  StrategyId park_host, park_threads;
};

wicprof::Result<> measure(const Settings& settings, wicprof::bench::Claim& claim) {
  using wicprof::bench::median;
  wic::RuntimeOptions options;
  options.devices = settings.devices;
  options.record = false;
  options.observe_one_in = 0;
  auto runtime = wic::Runtime::create(options);
  if (!runtime) return runtime.error();
  wic::Device& device = (*runtime)->device(0);
  const bool gpu = device.properties().kind == wicprof::DeviceKind::cuda;
  const std::vector<std::uint64_t> lengths{500, 1'000, 2'000, 4'000, 8'000, 16'000, 32'000, 64'000, 128'000};
  for (const Case& c : cases(device, settings.park_host, settings.park_threads)) {
    auto program = Program::make(**runtime, c, std::size_t{1} << (gpu ? 30 : 20));
    if (!program) return program.error();
    std::uint64_t break_even_ns = 0;  // 0: none
    for (const std::uint64_t length : lengths) {
      std::map<StrategyId, std::vector<double>> iteration, neighbours;
      const auto work = static_cast<std::uint32_t>(settings.work);
      std::map<StrategyId, std::uint32_t> rounds;
      for (std::int64_t repeat = -1; repeat < settings.repeats; ++repeat) {
        for (const StrategyId strategy : {StrategyId::poll, c.park}) {
          // The first run, with 10 rounds, determines how many rounds fit the time budget of a run.
          const auto measured = program->run(strategy, length, repeat < 0 ? 10 : rounds[strategy], work);
          if (!measured) return measured.error();
          if (repeat < 0) {
            const double fit = static_cast<double>(settings.budget_ms) * 1e6 / measured->iteration_ns;
            rounds[strategy] = static_cast<std::uint32_t>(std::clamp(fit, 20.0, 20'000.0));
            continue;
          }
          iteration[strategy].push_back(measured->iteration_ns);
          neighbours[strategy].push_back(measured->chunks_per_us);
        }
      }
      const double polled = median(iteration[StrategyId::poll]), parked = median(iteration[c.park]);
      const double polled_done = median(neighbours[StrategyId::poll]), parked_done = median(neighbours[c.park]);
      if (polled_done == 0 || parked_done == 0) {
        return wicprof::unavailable("the neighbours finished no work in the time of a run; raise --budget-ms");
      }
      const double mean = (parked / polled + polled_done / parked_done) / 2;
      const std::map<std::string, wicprof::bench::Parameter> params{
          {"devices", settings.devices},
          {"groups", std::int64_t{c.groups}},
          {"length_ns", static_cast<std::int64_t>(length)},
          {"parked_by", std::string(wicprof::strategy_name(c.park))},
          {"work", settings.work}};
      const std::string at = std::string(c.name) + "_" + std::to_string(length) + "ns";
      claim.add(row("iteration_poll_" + at, polled, "ns", params));
      auto iteration_row = row("iteration_park_" + at, parked, "ns", params);
      iteration_row.compared_to = "iteration_poll_" + at;
      iteration_row.ratio = parked / polled;
      claim.add(iteration_row);
      claim.add(row("neighbours_poll_" + at, polled_done, "chunks/us", params));
      auto neighbours_row = row("neighbours_park_" + at, parked_done, "chunks/us", params);
      neighbours_row.compared_to = "neighbours_poll_" + at;
      neighbours_row.ratio = parked_done / polled_done;
      claim.add(neighbours_row);
      claim.add(row("cost_of_parking_" + at, mean, "mean of the ratios of times, parked to polled", params));
      std::fprintf(stderr,
                   "%-12s %7.1f us: iteration %10.0f -> %10.0f ns, neighbours %8.2f -> %8.2f chunks/us, cost %.3f\n",
                   c.name, static_cast<double>(length) * 1e-3, polled, parked, polled_done, parked_done, mean);
      std::fflush(stderr);
      if (mean > 1) {
        break_even_ns = 0;
      } else if (break_even_ns == 0) {
        break_even_ns = length;
      }
    }
    claim.add(row(std::string("break_even_") + c.name, static_cast<double>(break_even_ns),
                  "ns of waiting (0: parking gains at no length)", {{"devices", settings.devices}}));
    std::fprintf(stderr, "%s: parking gains for waits of %llu ns or more (0: never)\n", c.name,
                 static_cast<unsigned long long>(break_even_ns));
  }
  return wicprof::ok();
}

}  // namespace

int main(int argc, char** argv) {
  wicprof::bench::Claim claim("break_even", "the shortest wait that gains from parking", argc, argv);
  Settings settings{};
  settings.devices = claim.option("devices", "simt:1");
  settings.repeats = claim.option("repeats", 5);
  settings.budget_ms = claim.option("budget-ms", 20);
  settings.work = claim.option("work", settings.devices.starts_with("cuda:") ? 500 : 5);
  const auto park_host = wicprof::strategy_from_name(claim.option("park-host", "shared_watch"));
  const auto park_threads = wicprof::strategy_from_name(claim.option("park-threads", "leader_bar_sync"));
  if (!park_host || !park_threads) {
    return sample::fail("break_even", wicprof::bad_input("unknown strategy"));
  }
  settings.park_host = *park_host;
  settings.park_threads = *park_threads;
  if (const auto r = measure(settings, claim); !r) return sample::fail("break_even", r.error());
  return claim.write();
}
