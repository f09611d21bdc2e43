// A kernel whose blocks compute, wait for data and end, with 64 to a million threads: the speed-up of parking over
// polling.
//
// One block in eight computes sixteen times as long as the others, which arrive early, so that at the end of the
// computation all resident threads wait at once. A grid larger than the device runs in waves: each block draws a ticket
// after its computation, and a wave has as many tickets as the device holds blocks. The block with a wave's last ticket
// releases the wave. Tickets are drawn wave by wave whatever the order of the blocks, so the resident blocks can never
// all wait for a block that is not resident.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>

#include "bench/claim.h"
#include "bench/ways.h"
#include "bench/work_memory.h"
#include "common/options.h"
#include "wic/launch.h"
#include "wic/runtime.h"

namespace {

using namespace wicprof::bench;
using wicprof::Result;

struct ThreadsKernel {
  static constexpr int kMaxThreads = 256, kMinBlocksPerSm = 8;
  static constexpr std::uint32_t kLongOneIn = 8, kTimesLonger = 16;

  wic::DeviceView view;
  wicprof::SiteId site;
  bool atomic;  // poll with atomic additions of 0, without the backend
  std::uint64_t timeout_ns;
  std::uint32_t first_ticket, first_wave;  // of this launch; both counts continue over all launches
  std::uint32_t wave_blocks;
  std::uint32_t delay_ns;    // maximum delay from a wave's last ticket to its release
  std::uint32_t delay_seed;  // equal for all ways of waiting in a round
  Work work;                 // of a long-computing block
  std::uint32_t* word;       // waves released so far
  std::uint32_t* tickets;
  std::uint32_t* missed;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    Work mine = work;
    if (thread.block() % kLongOneIn != 0) mine.amount = (mine.amount + kTimesLonger - 1) / kTimesLonger;
    mine.run<Bound::streaming>(thread, thread.block() % wave_blocks, wave_blocks, thread.index(), thread.block_size());
    thread.sync_block();
    std::uint32_t goal = 0;  // valid in thread 0, the only thread that polls
    if (thread.index() == 0) {
      const std::uint32_t ticket = thread.fetch_add(tickets, 1) - first_ticket;
      goal = first_wave + ticket / wave_blocks + 1;
      if (ticket % wave_blocks == wave_blocks - 1 || ticket == thread.block_count() - 1)
        release(thread, goal, delay_seed + ticket / wave_blocks);
    }
    thread.sync_warp();
    const wic::Group group = wic::block_group(thread);
    const bool satisfied =
        atomic ? poll_atomically(thread, goal)
               : wic::wait_until(thread, view, group, site, first_wave, word, wic::AtLeast{goal}, timeout_ns).status ==
                     wicprof::WaitStatus::satisfied;
    if (!satisfied && thread.index() == 0) thread.fetch_add(missed, 1);
  }

 private:
  WIC_DEVICE void release(const wic::Thread& thread, std::uint32_t wave, std::uint32_t seed) const {
    const std::uint64_t until = thread.clock_ns() + std::uint64_t{seed} * 2654435761u % delay_ns;
    while (thread.clock_ns() < until) thread.sleep_ns(200);
    thread.store_release(word, wave);
  }

  WIC_DEVICE bool poll_atomically(const wic::Thread& thread, std::uint32_t goal) const {
    bool satisfied = true;
    if (thread.index() == 0) {
      const std::uint64_t end = thread.clock_ns() + timeout_ns;
      while (satisfied && !wic::AtLeast{goal}(thread.fetch_add(word, 0))) satisfied = thread.clock_ns() < end;
    }
    thread.sync_warp();
    thread.sync_block();
    return satisfied;
  }
};

struct Options {
  std::string devices;
  std::int64_t most_threads, rounds, work;
  std::uint64_t timeout_ns;
};

struct Point {
  std::uint32_t threads, groups, at_once;
  double poll_ns, auto_ns, atomic_ns;  // atomic_ns: 0 if not measured
  double speedup() const { return poll_ns / auto_ns; }
};

class Measurement {
 public:
  static Result<std::vector<Point>> run(const Options& options, bool host) {
    Measurement m(options, host);
    if (auto r = m.prepare(); !r) return r.error();
    std::vector<Point> points;
    for (std::uint32_t n = 64; n <= options.most_threads; n *= 2) {
      auto point = m.measure(n);
      if (!point) return point.error();
      std::fprintf(stderr, "%s word, %u threads: poll %.3f ms, auto %.3f ms\n", host ? "host" : "device", n,
                   point->poll_ns * 1e-6, point->auto_ns * 1e-6);
      points.push_back(*point);
    }
    return Result<std::vector<Point>>(std::move(points));
  }

 private:
  enum Way : std::size_t { kPoll, kAuto, kAtomic, kWays };

  Measurement(const Options& options, bool host) : options_(options), host_(host) {}

  Result<> prepare() {
    if (auto r = open(runtime_, options_.devices); !r) return r;
    wic::Device& device = runtime_->device(0);
    block_ = device.properties().kind == wicprof::DeviceKind::cuda ? 256 : 64;
    const wicprof::WordMemory memory = host_ ? wicprof::WordMemory::pinned_host : wicprof::WordMemory::device;
    for (const Way way : {kPoll, kAuto}) {
      const auto site =
          runtime_->add_site({way == kPoll ? "bench.poll" : "bench.auto", memory, wicprof::Pollers::leader, true});
      if (!site) return site.error();
      const auto strategy = way == kPoll ? wicprof::StrategyId::poll : wicprof::StrategyId::automatic;
      if (auto r = runtime_->set_wait(*site, {wicprof::Mode::park, strategy}); !r) return r;
      sites_[way] = *site;
    }
    auto stream = device.make_stream();
    if (!stream) return stream.error();
    stream_ = *std::move(stream);
    for (auto* event : {&begin_, &end_}) {
      auto made = device.make_event();
      if (!made) return made.error();
      *event = *std::move(made);
    }
    if (auto r = work_.allocate(device, device, *stream_, Bound::streaming); !r) return r;
    if (auto r = allocate(word_, device, kLine, host_ ? wic::Memory::pinned_host : wic::Memory::device); !r) return r;
    return counters_.allocate(device, 2 * kLine);
  }

  Result<Point> measure(std::uint32_t threads) {
    const wic::LaunchShape shape{std::max(threads / block_, 1u), std::min(threads, block_)};
    const auto resident = runtime_->device(0).resident_blocks(shape, wic::kernel_ref(ThreadsKernel{}));
    if (!resident) return resident.error();
    const std::uint32_t at_once = std::min(shape.blocks, *resident);
    const std::size_t ways = host_ ? kAtomic : kWays;  // atomic polls of host memory lose words
    std::array<std::vector<double>, kWays> ns;
    for (std::int64_t round = -1; round < options_.rounds; ++round) {  // round -1 warms up
      for (std::size_t way = 0; way < ways; ++way) {
        const auto took = iterate(shape, at_once, static_cast<Way>(way), round);
        if (!took) return took.error();
        if (round >= 0) ns[way].push_back(*took);
      }
    }
    return Point{threads,           shape.blocks,      at_once * shape.threads,
                 median(ns[kPoll]), median(ns[kAuto]), median(ns[kAtomic])};
  }

  Result<double> iterate(const wic::LaunchShape& shape, std::uint32_t at_once, Way way, std::int64_t round) {
    ThreadsKernel kernel{};
    kernel.view = runtime_->view(0);
    kernel.site = sites_[way];
    kernel.atomic = way == kAtomic;
    kernel.timeout_ns = options_.timeout_ns;
    kernel.first_ticket = tickets_;
    kernel.first_wave = waves_;
    kernel.wave_blocks = at_once;
    kernel.delay_ns = 50'000;
    kernel.delay_seed = static_cast<std::uint32_t>(round + 2) * 1000;
    kernel.work = work_.work(static_cast<std::uint32_t>(options_.work));
    kernel.word = word_.data();
    kernel.tickets = counters_.device();
    kernel.missed = counters_.device() + kLine;
    tickets_ += shape.blocks;
    waves_ += (shape.blocks + at_once - 1) / at_once;
    if (auto r = stream_->record(*begin_); !r) return r.error();
    if (auto r = wic::launch(*stream_, shape, kernel); !r) return r.error();
    if (auto r = stream_->record(*end_); !r) return r.error();
    if (auto r = counters_.fetch(*stream_); !r) return r.error();
    if (auto r = stream_->synchronize(); !r) return r.error();
    if (counters_[kLine] != 0) {
      return wicprof::unavailable(std::to_string(counters_[kLine]) + " waits reached their deadline");
    }
    return end_->ns_since(*begin_);
  }

  const Options& options_;
  bool host_;
  std::uint32_t block_ = 0, tickets_ = 0, waves_ = 0;
  std::unique_ptr<wic::Runtime> runtime_;
  std::array<wicprof::SiteId, kWays> sites_{};
  WorkMemory work_;
  wic::Array<std::uint32_t> word_;
  Mirrored<std::uint32_t> counters_;
  std::unique_ptr<wic::Event> begin_, end_;
  std::unique_ptr<wic::Stream> stream_;  // last: destroyed first, so its work ends before the memory is freed
};

// The worst fall of the speed-up: from the best up to a count of 256 to the smallest beyond.
template <class Count>
void add_fall(const std::string& name, const std::string& what, const std::vector<Point>& points, Count count,
              Claim& claim) {
  double before = 0, beyond = 0;
  for (const Point& p : points) {
    if (count(p) <= 256) {
      before = std::max(before, p.speedup());
    } else {
      beyond = beyond == 0 ? p.speedup() : std::min(beyond, p.speedup());
    }
  }
  if (beyond == 0) return;
  ClaimRow row;
  row.name = name;
  row.value = beyond;
  row.unit = "smallest speed-up beyond 256 " + what;
  row.compared_to = "the best speed-up up to 256 " + what;
  row.ratio = beyond / before;
  row.bar = 0.95;  // the paper's curve loses 5 %
  claim.add(std::move(row));
}

void report(const Options& options, const char* word, const std::vector<Point>& points, Claim& claim) {
  const std::string prefix = std::string(word) + "_";
  double peak = 0, worst = 1;
  for (const Point& p : points) {
    ClaimRow row;
    row.name = prefix + std::to_string(p.threads);
    row.params = {{"devices", options.devices},
                  {"word", word},
                  {"threads", std::int64_t{p.threads}},
                  {"waiting_groups", std::int64_t{p.groups}},
                  {"threads_at_once", std::int64_t{p.at_once}},
                  {"rounds", options.rounds},
                  {"poll_ms", p.poll_ns * 1e-6}};
    if (p.atomic_ns > 0) {
      row.params["atomic_ms"] = p.atomic_ns * 1e-6;
      row.params["speedup_over_atomic"] = p.atomic_ns / p.auto_ns;
    }
    row.value = p.auto_ns * 1e-6;
    row.unit = "ms, parked (auto)";
    row.compared_to = "poll_ms (its time over this one's: the speed-up)";
    row.ratio = p.speedup();
    claim.add(std::move(row));
    peak = std::max(peak, p.speedup());
    if (p.threads > 256) worst = std::min(worst, p.speedup() / peak);
  }
  add_fall(
      prefix + "fall_beyond_256_threads", "threads", points, [](const Point& p) { return p.threads; }, claim);
  add_fall(
      prefix + "fall_beyond_256_groups", "waiting groups", points, [](const Point& p) { return p.groups; }, claim);
  ClaimRow row;
  row.name = prefix + "fall_from_peak";
  row.value = peak;
  row.unit = "largest speed-up";
  row.compared_to = "the largest speed-up at fewer threads, to the speed-up that is furthest below it";
  row.ratio = worst;
  row.bar = 0.95;  // the paper's curve loses 5 %
  claim.add(std::move(row));
}

}  // namespace

int main(int argc, char** argv) {
  Claim claim("threads", "speed-up of parking over polling, by the number of waiting threads", argc, argv);
  Options options;
  options.devices = claim.option("devices", "simt:1");
  options.most_threads = claim.option("most-threads", 1'048'576);
  options.rounds = claim.option("rounds", 9);
  options.work = claim.option("work", 512);
  options.timeout_ns = static_cast<std::uint64_t>(claim.option("timeout-ms", 2000)) * 1'000'000;
  for (const bool host : {true, false}) {
    const auto points = Measurement::run(options, host);
    if (!points) return sample::fail("threads", points.error());
    report(options, host ? "host" : "device", *points, claim);
  }
  return claim.write();
}
