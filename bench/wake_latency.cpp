// Wake latency: the time from just before the producer's store (after its release fence) to just after each group's
// wait_until. Producer and waiters read the same device clock, so no clock conversion is needed. With the word in host
// memory, the store's way across the bus is part of the figure. In rows named cpu_... the CPU is the producer: its
// clock is converted, and the row holds the error bound.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <thread>

#include "bench/claim.h"
#include "bench/memory.h"
#include "bench/ways.h"
#include "common/options.h"
#include "wic/launch.h"
#include "wic/runtime.h"

namespace {

using namespace wicprof::bench;
using wicprof::Result;

constexpr std::uint32_t kNever = 0xffffffffu;

// The last block produces; the others wait, one group per block.
template <int kThreads, int kBlocks>
struct WakeKernel {
  static constexpr int kMaxThreads = kThreads, kMinBlocksPerSm = kBlocks;

  wic::DeviceView view;
  wicprof::SiteId site;
  std::uint32_t launch;  // from 1: the value that releases the word
  std::uint64_t timeout_ns;
  std::uint32_t delay_ns;  // from the last waiter's arrival to the store; kNever: the CPU stores

  std::uint32_t* word;
  std::uint32_t* arrived;      // device memory, over all launches
  std::uint32_t* all_arrived;  // pinned host memory: the launch whose waiters have all arrived
  std::uint32_t* missed;
  std::uint64_t* resumed_ns;  // one per waiter
  std::uint64_t* stored_ns;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t waiters = thread.block_count() - 1;
    if (thread.block() == waiters) {
      if (thread.index() == 0) produce(thread, waiters);
      return;
    }
    if (thread.index() == 0) thread.fetch_add(arrived, 1);
    const wic::WaitResult wait =
        wic::wait_until(thread, view, wic::block_group(thread), site, launch, word, wic::AtLeast{launch}, timeout_ns);
    const std::uint64_t now = thread.clock_ns();
    if (thread.index() != 0) return;
    resumed_ns[thread.block()] = now;
    if (wait.status != wicprof::WaitStatus::satisfied) thread.fetch_add(missed, 1);
  }

 private:
  WIC_DEVICE void produce(const wic::Thread& thread, std::uint32_t waiters) const {
    std::uint64_t now = thread.clock_ns();
    const std::uint64_t end = now + timeout_ns;
    while (thread.load(arrived) != launch * waiters && now < end) {
      thread.sleep_ns(500);
      now = thread.clock_ns();
    }
    if (delay_ns == kNever) {
      thread.store(all_arrived, launch);
      return;
    }
    const std::uint64_t until = now + delay_ns;
    while (thread.clock_ns() < until) thread.sleep_ns(500);
    thread.fence_release();
    *stored_ns = thread.clock_ns();
    thread.store(word, launch);
  }
};

// Reads the clock repeatedly: its smallest step, and the number of steps.
struct ClockKernel {
  std::uint32_t readings;
  std::uint64_t* smallest_ns;
  std::uint64_t* steps;
  std::uint64_t* total_ns;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint64_t begin = thread.clock_ns();
    std::uint64_t last = begin, smallest = ~std::uint64_t{0}, count = 0;
    for (std::uint32_t i = 0; i < readings; ++i) {
      const std::uint64_t now = thread.clock_ns();
      if (now != last) {
        smallest = now - last < smallest ? now - last : smallest;
        ++count;
      }
      last = now;
    }
    *smallest_ns = smallest;
    *steps = count;
    *total_ns = last - begin;
  }
};

struct Options {
  std::string devices;
  std::int64_t rounds, cpu_rounds;
  std::uint64_t timeout_ns;
  std::vector<Way> ways;
};

struct Case {
  bool host;  // whether the word is in host memory
  bool many;  // 32 blocks of 64 threads per SM, rather than 4 of 256
  double p50_bar_us, p99_bar_us;
};
// A bar of 0 means no bar.
constexpr Case kCases[] = {{false, false, 2.5, 5}, {false, true, 4, 8}, {true, false, 4, 10}, {true, true, 0, 0}};

double quantile(std::vector<double>& sorted, double q) {
  return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
}

struct Latencies {
  std::vector<double> us;
  double error_us = 0;  // maximum error of the clock conversion
};

template <class Kernel>
class Measurement {
 public:
  static Result<> run(const Options& options, const Case& what, std::uint32_t waiters, std::uint32_t threads,
                      Claim& claim) {
    Measurement m(options, what, waiters, threads);
    if (auto r = m.prepare(); !r) return r;
    std::vector<Latencies> by_device(options.ways.size()), by_cpu(options.ways.size());
    if (auto r = m.let_auto_look(); !r) return r;
    for (std::int64_t round = -4; round < options.rounds;
         ++round) {  // the first rounds warm up and train the prediction
      for (std::size_t w = 0; w < options.ways.size(); ++w) {
        if (auto r = m.device_produces(m.sites_[w], round < 0 ? nullptr : &by_device[w]); !r) return r;
      }
    }
    for (std::int64_t round = 0; what.host && round < options.cpu_rounds; ++round) {
      for (std::size_t w = 0; w < options.ways.size(); ++w) {
        if (auto r = m.cpu_produces(m.sites_[w], by_cpu[w]); !r) return r;
      }
    }
    m.report(by_device, "", claim);
    if (what.host && options.cpu_rounds > 0) m.report(by_cpu, "cpu_", claim);
    return wicprof::ok();
  }

 private:
  Measurement(const Options& options, const Case& what, std::uint32_t waiters, std::uint32_t threads)
      : options_(options), case_(what), waiters_(waiters), threads_(threads), random_(7) {}

  Result<> prepare() {
    if (auto r = open(runtime_, options_.devices); !r) return r;
    wic::Device& device = runtime_->device(0);
    const auto resident = device.resident_blocks({1, threads_}, wic::kernel_ref(Kernel{}));
    if (!resident) return resident.error();
    if (*resident < waiters_ + 1) {
      return wicprof::unavailable(device.properties().name + " holds " + std::to_string(*resident) + " blocks of " +
                                  std::to_string(threads_) + " threads at once; " + std::to_string(waiters_ + 1) +
                                  " are needed");
    }
    for (const Way& way : options_.ways) {
      const auto site = runtime_->add_site({"bench." + way.name,
                                            case_.host ? wicprof::WordMemory::pinned_host : wicprof::WordMemory::device,
                                            wicprof::Pollers::leader, true});
      if (!site) return site.error();
      if (auto r = runtime_->set_wait(*site, {wicprof::Mode::park, way.strategy}); !r) return r;
      sites_.push_back(*site);
    }
    auto stream = device.make_stream();
    if (!stream) return stream.error();
    stream_ = *std::move(stream);
    if (auto r = allocate(word_, device, kLine, case_.host ? wic::Memory::pinned_host : wic::Memory::device); !r)
      return r;
    if (auto r = allocate(all_arrived_, device, kLine, wic::Memory::pinned_host); !r) return r;
    if (auto r = counters_.allocate(device, 2 * kLine); !r) return r;
    return times_.allocate(device, waiters_ + 1);
  }

  // `auto` has already observed the site, so the measurement covers its final choice.
  Result<> let_auto_look() {
    for (std::size_t w = 0; w < options_.ways.size(); ++w) {
      if (options_.ways[w].strategy != wicprof::StrategyId::automatic) continue;
      const wicprof::TimeNs end = wicprof::now_ns() + 600 * wicprof::kMillisecond;
      while (wicprof::now_ns() < end) {
        if (auto r = device_produces(sites_[w], nullptr); !r) return r;
      }
      std::fprintf(stderr, "auto at %s: %s, %s\n", case_.host ? "host" : "device",
                   std::string(wicprof::strategy_name(runtime_->strategy(sites_[w]))).c_str(),
                   runtime_->strategy_reason(sites_[w]).c_str());
    }
    return wicprof::ok();
  }

  Kernel next_kernel(wicprof::SiteId site) {
    ++launch_;
    Kernel kernel{};
    kernel.view = runtime_->view(0);
    kernel.site = site;
    kernel.launch = launch_;
    kernel.timeout_ns = options_.timeout_ns;
    kernel.word = word_.data();
    kernel.arrived = counters_.device();
    kernel.all_arrived = all_arrived_.data();
    kernel.missed = counters_.device() + kLine;
    kernel.resumed_ns = times_.device();
    kernel.stored_ns = times_.device() + waiters_;
    return kernel;
  }

  std::uint32_t random_delay_ns() {
    return static_cast<std::uint32_t>(std::uniform_int_distribution<int>(20'000, 200'000)(random_));
  }

  Result<> fetch() {
    if (auto r = times_.fetch(*stream_); !r) return r;
    if (auto r = counters_.fetch(*stream_); !r) return r;
    if (auto r = stream_->synchronize(); !r) return r;
    if (counters_[kLine] != 0) {
      return wicprof::unavailable(std::to_string(counters_[kLine]) + " waits reached their deadline");
    }
    return wicprof::ok();
  }

  Result<> device_produces(wicprof::SiteId site, Latencies* to) {
    Kernel kernel = next_kernel(site);
    kernel.delay_ns = random_delay_ns();
    if (auto r = wic::launch(*stream_, {waiters_ + 1, threads_}, kernel); !r) return r;
    if (auto r = fetch(); !r) return r;
    for (std::uint32_t i = 0; to != nullptr && i < waiters_; ++i) {
      // Subtracted before the conversion: a double that holds nanoseconds since 1970 has steps of 256.
      to->us.push_back(static_cast<double>(static_cast<std::int64_t>(times_[i] - times_[waiters_])) * 1e-3);
    }
    return wicprof::ok();
  }

  // Readings of both clocks before and after the launch; the device's time is interpolated linearly between them.
  Result<> cpu_produces(wicprof::SiteId site, Latencies& to) {
    Kernel kernel = next_kernel(site);
    kernel.delay_ns = kNever;
    const auto before = read_clocks();
    if (!before) return before.error();
    if (auto r = wic::launch(*stream_, {waiters_ + 1, threads_}, kernel); !r) return r;
    const wicprof::TimeNs end = wicprof::now_ns() + static_cast<wicprof::TimeNs>(options_.timeout_ns);
    std::atomic_ref arrived(all_arrived_[0]);
    while (arrived.load(std::memory_order_acquire) != launch_ && wicprof::now_ns() < end) std::this_thread::yield();
    const wicprof::TimeNs until = wicprof::now_ns() + random_delay_ns();
    while (wicprof::now_ns() < until) {
    }
    const wicprof::TimeNs stored = wicprof::now_ns();
    std::atomic_ref(word_[0]).store(launch_, std::memory_order_release);
    if (auto r = fetch(); !r) return r;
    const auto after = read_clocks();
    if (!after) return after.error();
    const double rate = static_cast<double>(after->device_ns - before->device_ns) /
                        static_cast<double>(after->host_ns - before->host_ns);
    const double stored_on_device = rate * static_cast<double>(stored - before->host_ns);  // since `before`
    for (std::uint32_t i = 0; i < waiters_; ++i) {
      to.us.push_back((static_cast<double>(times_[i] - before->device_ns) - stored_on_device) * 1e-3);
    }
    to.error_us = std::max(to.error_us, 1e-3 * std::max(before->error_ns, after->error_ns));
    return wicprof::ok();
  }

  // The best of several readings of an idle device.
  Result<wic::ClockReading> read_clocks() {
    wic::Device& device = runtime_->device(0);
    std::optional<wic::ClockReading> best;
    const wicprof::TimeNs end = wicprof::now_ns() + wicprof::kSecond;
    for (int i = 0; i < 3;) {
      device.request_clock_reading();
      std::optional<wic::ClockReading> reading;
      while (!(reading = device.take_clock_reading()) && wicprof::now_ns() < end) std::this_thread::yield();
      if (wicprof::now_ns() >= end) return wicprof::unavailable("the device clock did not answer within a second");
      if (!best || reading->error_ns <= best->error_ns) best = reading;
      ++i;
    }
    return *best;
  }

  void report(std::vector<Latencies>& all, const std::string& prefix, Claim& claim) {
    const std::string name = prefix + (case_.host ? "host" : "device") + (case_.many ? "_many_" : "_few_");
    std::vector<double> poll(2);
    for (std::size_t w = 0; w < options_.ways.size(); ++w) {
      if (options_.ways[w].name != "poll") continue;
      std::sort(all[w].us.begin(), all[w].us.end());
      poll = {quantile(all[w].us, 0.5), quantile(all[w].us, 0.99)};
    }
    for (std::size_t w = 0; w < options_.ways.size(); ++w) {
      std::vector<double>& us = all[w].us;
      std::sort(us.begin(), us.end());
      const double quantiles[] = {0.5, 0.99};
      const double bars[] = {case_.p50_bar_us, case_.p99_bar_us};
      for (int q = 0; q < 2; ++q) {
        ClaimRow row;
        row.name = name + options_.ways[w].name + (q == 0 ? "_p50" : "_p99");
        row.params = {{"devices", options_.devices},
                      {"word", case_.host ? "pinned_host" : "device"},
                      {"producer", prefix.empty() ? "a block; its store's way to the word is included" : "the CPU"},
                      {"waiters", std::int64_t{waiters_}},
                      {"threads_a_block", std::int64_t{threads_}},
                      {"rounds", prefix.empty() ? options_.rounds : options_.cpu_rounds},
                      {"longest_us", us.empty() ? 0.0 : us.back()},
                      {"polling_us", poll[static_cast<std::size_t>(q)]}};
        if (!prefix.empty()) row.params["clock_error_us"] = all[w].error_us;
        row.value = quantile(us, quantiles[q]);
        row.unit = "us";
        if (options_.ways[w].name == "auto" && prefix.empty() && bars[q] > 0) {
          row.compared_to = "the longest that it may take, " + std::to_string(bars[q]).substr(0, 4) + " us";
          row.ratio = row.value / bars[q];
          row.bar = 1;
          row.at_most = true;
        }
        std::fprintf(stderr, "%s: %.2f us\n", row.name.c_str(), row.value);
        claim.add(std::move(row));
      }
    }
  }

  const Options& options_;
  const Case& case_;
  std::uint32_t waiters_, threads_, launch_ = 0;
  std::mt19937 random_;
  std::unique_ptr<wic::Runtime> runtime_;
  std::vector<wicprof::SiteId> sites_;
  wic::Array<std::uint32_t> word_, all_arrived_;
  Mirrored<std::uint32_t> counters_;
  Mirrored<std::uint64_t> times_;
  std::unique_ptr<wic::Stream> stream_;  // last: destroyed first, so its work ends before the memory is freed
};

Result<> measure_tick(const Options& options, wic::Device& device, Claim& claim) {
  auto stream = device.make_stream();
  if (!stream) return stream.error();
  Mirrored<std::uint64_t> seen;
  if (auto r = seen.allocate(device, 3); !r) return r;
  constexpr std::uint32_t kReadings = 200'000;
  const ClockKernel kernel{kReadings, seen.device(), seen.device() + 1, seen.device() + 2};
  if (auto r = wic::launch(**stream, {1, 1}, kernel); !r) return r;
  if (auto r = seen.fetch(**stream); !r) return r;
  if (auto r = (*stream)->synchronize(); !r) return r;
  ClaimRow row;
  row.name = "clock_tick";
  row.params = {{"devices", options.devices},
                {"readings", std::int64_t{kReadings}},
                {"steps", static_cast<std::int64_t>(seen[1])},
                {"ns_a_step", static_cast<double>(seen[2]) / static_cast<double>(std::max<std::uint64_t>(seen[1], 1))},
                {"ns_a_reading", static_cast<double>(seen[2]) / kReadings}};
  row.value = static_cast<double>(seen[0]);
  row.unit = "ns, the smallest difference between two readings";
  claim.add(std::move(row));
  return wicprof::ok();
}

Result<> run(const Options& options, Claim& claim) {
  std::uint32_t sms = 0;
  bool gpu = false;
  {
    const auto devices = wic::open_devices(options.devices);
    if (!devices) return devices.error();
    wic::Device& device = *devices->front();
    sms = device.properties().sm_count;
    gpu = device.properties().kind == wicprof::DeviceKind::cuda;
    if (auto r = measure_tick(options, device, claim); !r) return r;
  }
  for (const Case& what : kCases) {
    const auto done = what.many
                          ? Measurement<WakeKernel<64, 32>>::run(options, what, 32 * sms - 32, gpu ? 64 : 32, claim)
                          : Measurement<WakeKernel<256, 8>>::run(options, what, 4 * sms, gpu ? 256 : 64, claim);
    if (!done) return done;
  }
  return wicprof::ok();
}

}  // namespace

int main(int argc, char** argv) {
  Claim claim("wake_latency", "time from setting a word to the end of the waits on it", argc, argv);
  Options options;
  options.devices = claim.option("devices", "simt:1");
  const std::string strategies = claim.option(
      "strategies", known_names("poll,leader_bar_sync,leader_mbarrier,leader_mbarrier_hint,shared_watch,backoff,"
                                "predicted_sleep,auto"));
  options.rounds = claim.option("rounds", 200);
  options.cpu_rounds = claim.option("cpu-rounds", 50);
  options.timeout_ns = static_cast<std::uint64_t>(claim.option("timeout-ms", 2000)) * 1'000'000;
  const auto ways = ways_from(strategies);
  if (!ways) return sample::fail("wake_latency", ways.error());
  options.ways = *ways;
  if (const auto r = run(options, claim); !r) return sample::fail("wake_latency", r.error());
  return claim.write();
}
