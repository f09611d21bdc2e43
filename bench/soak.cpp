// Ten million waits under every strategy without a hang or a loss. Pairs of blocks exchange data, all blocks sometimes
// meet at one word, strategies change every millisecond, and every wait is recorded.
//
// After a missed deadline further waits return at once, but every block runs to its end, so that no thread leaves a
// barrier at which others wait.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <thread>

#include "bench/claim.h"
#include "bench/memory.h"
#include "bench/ways.h"
#include "common/options.h"
#include "src/records/record_drain.h"
#include "src/records/record_events.h"
#include "wic/launch.h"
#include "wic/runtime.h"
#include "wic/signal.h"

namespace {

using namespace wicprof::bench;
using wicprof::Result;

enum SiteIndex : std::uint32_t { kDevicePair, kHostPair, kWarps, kMeetingOnDevice, kMeetingOnHost, kSites };
enum Counter : std::uint32_t { kSatisfied, kMissed, kWrong, kFailed, kTickets, kCounters };

// One direction of a pair: the word and the data that it releases, on a separate cache line.
struct alignas(128) Lane {
  std::uint32_t word;
  std::uint32_t data;
};

// Blocks 2p and 2p + 1 are pair p. Pairs differ in the memory of their words and in which threads poll.
struct SoakKernel {
  static constexpr int kMaxThreads = 256, kMinBlocksPerSm = 8;
  static constexpr std::uint32_t kStepsPerMeeting = 8;

  wic::DeviceView view;
  wicprof::SiteId sites[kSites];
  std::uint32_t first, steps;  // iterations first + 1 .. first + steps
  std::uint32_t meetings;      // over all earlier launches
  bool meet_on_host;
  std::uint32_t longest_delay_ns;
  std::uint64_t timeout_ns;
  Lane* device_lanes;  // two per pair: to the odd block, to the even block
  Lane* host_lanes;
  std::uint32_t* meeting_words[2];  // device memory, pinned host memory
  std::uint32_t* counters;          // device memory, each on a separate cache line

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t pair = thread.block() / 2, side = thread.block() % 2;
    const bool host = pair % 2 == 1;
    Lane* const lanes = (host ? host_lanes : device_lanes) + std::size_t{2} * pair;
    // In half of the pairs every thread of the odd block polls by itself in the program's own way.
    const bool each = pair / 2 % 2 == 1 && side == 1;
    const wic::Group group =
        each ? wic::warps_group(0, thread.block_size() / wic::kWarpSize, 1) : wic::block_group(thread);
    const wicprof::SiteId site = sites[each ? kWarps : host ? kHostPair : kDevicePair];
    std::uint32_t satisfied = 0, meeting = meetings;
    for (std::uint32_t i = first + 1; i <= first + steps; ++i) {
      if (side == 0) send(thread, site, lanes[0], i);
      const bool held = wait(thread, group, site, i, &lanes[1 - side].word, i, satisfied);
      // Check a thread that did not poll: the sender's writes must be visible to all threads.
      if (held && thread.index() == thread.block_size() - 1 && lanes[1 - side].data != mark(i)) count(thread, kWrong);
      thread.sync_block();
      if (side == 1) send(thread, site, lanes[1], i);
      if (i % kStepsPerMeeting == 0) meet(thread, ++meeting, satisfied);
    }
    if (satisfied != 0) thread.fetch_add(counter(kSatisfied), satisfied);
  }

 private:
  static WIC_DEVICE std::uint32_t mark(std::uint32_t i) { return i * 2654435761u; }
  WIC_DEVICE std::uint32_t* counter(Counter which) const { return counters + std::size_t{32} * which; }
  WIC_DEVICE void count(const wic::Thread& thread, Counter which) const { thread.fetch_add(counter(which), 1); }

  // Thread 0 delays by a random time in one step of four, then sends.
  WIC_DEVICE void send(const wic::Thread& thread, wicprof::SiteId site, Lane& lane, std::uint32_t i) const {
    if (thread.index() == 0) {
      const std::uint32_t random = mark(i * 977 + thread.block()) >> 8;
      if (random % 4 == 0) thread.sleep_ns(random / 4 % longest_delay_ns);
      lane.data = mark(i);
      wic::signal(thread, view, site, i, &lane.word, i);
    }
    thread.sync_warp();
  }

  // Counts the expected records of a wait: one per group, or one per warp if every thread polls.
  WIC_DEVICE bool wait(const wic::Thread& thread, const wic::Group& group, wicprof::SiteId site,
                       std::uint32_t iteration, const std::uint32_t* word, std::uint32_t goal,
                       std::uint32_t& satisfied) const {
    const std::uint64_t timeout = thread.load(counter(kFailed)) == 0 ? timeout_ns : 0;
    const bool held = wic::wait_until(thread, view, group, site, iteration, word, wic::AtLeast{goal}, timeout).status ==
                      wicprof::WaitStatus::satisfied;
    if (group.pollers == wicprof::Pollers::each_thread ? thread.lane() == 0 : group.is_leader(thread)) {
      if (held) {
        ++satisfied;
      } else {
        thread.store(counter(kFailed), 1);
        count(thread, kMissed);
      }
    }
    return held;
  }

  // The last block to arrive raises the word that all blocks wait on.
  WIC_DEVICE void meet(const wic::Thread& thread, std::uint32_t meeting, std::uint32_t& satisfied) const {
    const wicprof::SiteId site = sites[meet_on_host ? kMeetingOnHost : kMeetingOnDevice];
    std::uint32_t* const word = meeting_words[meet_on_host ? 1 : 0];
    if (thread.index() == 0 && thread.fetch_add(counter(kTickets), 1) + 1 == meeting * thread.block_count()) {
      wic::signal(thread, view, site, meeting, word, meeting);
    }
    thread.sync_warp();
    wait(thread, wic::block_group(thread), site, meeting, word, meeting, satisfied);
  }
};

struct Options {
  std::string devices;
  std::uint64_t waits;
  std::uint32_t steps;  // per launch
  std::uint32_t longest_delay_ns;
  std::uint64_t timeout_ns;
  wicprof::TimeNs longest;
  std::vector<Way> ways;
};

struct Outcome {
  std::uint64_t expected = 0, satisfied = 0, missed = 0, wrong = 0, signals = 0;
  std::uint64_t wait_records = 0, signal_records = 0, lost = 0, claimed = 0;
  std::array<std::uint64_t, 256> by_strategy{};  // wait records
  std::uint64_t toggles = 0;
  std::uint32_t blocks = 0;
  double seconds = 0;
  bool out_of_time = false;
};

class Soak {
 public:
  static Result<Outcome> run(const Options& options) {
    Soak soak(options);
    if (auto r = soak.prepare(); !r) return r.error();
    if (auto r = soak.go(); !r) return r.error();
    return soak.outcome_;
  }

 private:
  explicit Soak(const Options& options) : options_(options) {}

  Result<> prepare() {
    if (auto r = open(runtime_, options_.devices); !r) return r;
    wic::Device& device = runtime_->device(0);
    const bool gpu = device.properties().kind == wicprof::DeviceKind::cuda;
    const std::uint32_t sms = device.properties().sm_count;
    shape_ = {4 * sms / 2 * 2, gpu ? 256u : 64u};
    const auto resident = device.resident_blocks(shape_, wic::kernel_ref(SoakKernel{}));
    if (!resident) return resident.error();
    if (*resident < shape_.blocks) {
      return wicprof::unavailable(device.properties().name + " holds " + std::to_string(*resident) +
                                  " blocks at once; " + std::to_string(shape_.blocks) + " are needed");
    }
    outcome_.blocks = shape_.blocks;
    if (auto r = add_sites(); !r) return r;
    auto stream = device.make_stream();
    if (!stream) return stream.error();
    stream_ = *std::move(stream);
    if (auto r = allocate(device_lanes_, device, shape_.blocks, wic::Memory::device); !r) return r;
    if (auto r = allocate(host_lanes_, device, shape_.blocks, wic::Memory::pinned_host); !r) return r;
    if (auto r = allocate(device_word_, device, kLine, wic::Memory::device); !r) return r;
    if (auto r = allocate(host_word_, device, kLine, wic::Memory::pinned_host); !r) return r;
    if (auto r = counters_.allocate(device, kCounters * kLine); !r) return r;
    if (auto r = heads_.allocate(device, sms); !r) return r;
    return allocate(records_, device, std::size_t{sms} * kRecordsPerSm, wic::Memory::pinned_host);
  }

  Result<> add_sites() {
    using wicprof::Pollers;
    using wicprof::WordMemory;
    const wic::SiteSpec specs[kSites] = {{"soak.device", WordMemory::device, Pollers::leader, false},
                                         {"soak.host", WordMemory::pinned_host, Pollers::leader, false},
                                         {"soak.warps", WordMemory::unknown, Pollers::each_thread, false},
                                         {"soak.meeting", WordMemory::device, Pollers::leader, true},
                                         {"soak.host_meeting", WordMemory::pinned_host, Pollers::leader, true}};
    for (std::uint32_t s = 0; s < kSites; ++s) {
      const auto site = runtime_->add_site(specs[s]);
      if (!site) return site.error();
      sites_[s] = *site;
    }
    return wicprof::ok();
  }

  Result<> go() {
    wic::RecordDrain drain(records_.data(), static_cast<std::uint32_t>(heads_.size()), kRecordsPerSm);
    std::atomic<bool> done{false};
    std::thread drainer([&] {
      while (!done.load()) {
        take_records(drain);
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
    });
    std::thread toggler([&] { toggle(done); });
    const wicprof::TimeNs begin = wicprof::now_ns();
    const Result<> launched = launch_until(begin + options_.longest);
    outcome_.seconds = static_cast<double>(wicprof::now_ns() - begin) * 1e-9;
    done.store(true);
    toggler.join();
    drainer.join();
    if (!launched) return launched;
    if (!toggled_) return toggled_;
    return account(drain);
  }

  Result<> launch_until(wicprof::TimeNs end) {
    while (outcome_.expected < options_.waits && outcome_.missed + outcome_.wrong == 0) {
      if (auto r = launch(); !r) return r;
      outcome_.out_of_time = outcome_.expected < options_.waits && wicprof::now_ns() > end;
      if (outcome_.out_of_time) break;
    }
    return wicprof::ok();
  }

  void take_records(wic::RecordDrain& drain) {
    drain.drain([this](const wic::DeviceRecord& record) {
      if (wic::record_kind(record) == wicprof::WaitEvent::kKind) {
        ++outcome_.wait_records;
        ++outcome_.by_strategy[wic::wait_event(record, 0).strategy];
      } else {
        ++outcome_.signal_records;
      }
    });
  }

  // Every millisecond, sets the strategy of the whole program or of one site; uses each strategy in turn, in random
  // order.
  void toggle(const std::atomic<bool>& done) {
    std::mt19937 random(11);
    std::vector<Way> ways = options_.ways;
    while (!done.load()) {
      std::shuffle(ways.begin(), ways.end(), random);
      for (std::size_t w = 0; w < ways.size() && !done.load(); ++w) {
        const std::uint32_t which = random() % (2 * kSites);
        const wicprof::SiteId site = which < kSites ? sites_[which] : wicprof::SiteId{0};
        if (auto r = runtime_->set_wait(site, {wicprof::Mode::park, ways[w].strategy}); !r) {
          if (ways[w].strategy == wicprof::StrategyId::naive && site != 0)
            continue;  // refused for words in host memory
          toggled_ = r;
          return;
        }
        ++outcome_.toggles;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  }

  Result<> launch() {
    SoakKernel kernel{};
    kernel.view = runtime_->view(0);
    kernel.view.record_sample_mask = 0;  // every wait
    kernel.view.ring_heads = heads_.device();
    kernel.view.records = records_.data();
    kernel.view.ring_capacity_log2 = std::countr_zero(kRecordsPerSm);
    std::copy(sites_.begin(), sites_.end(), kernel.sites);
    kernel.first = step_;
    kernel.steps = options_.steps;
    kernel.meetings = step_ / SoakKernel::kStepsPerMeeting;
    kernel.meet_on_host = launches_ % 2 == 1;
    kernel.longest_delay_ns = options_.longest_delay_ns;
    kernel.timeout_ns = options_.timeout_ns;
    kernel.device_lanes = device_lanes_.data();
    kernel.host_lanes = host_lanes_.data();
    kernel.meeting_words[0] = device_word_.data();
    kernel.meeting_words[1] = host_word_.data();
    kernel.counters = counters_.device();
    if (auto r = wic::launch(*stream_, shape_, kernel); !r) return r;
    if (auto r = counters_.fetch(*stream_); !r) return r;
    if (auto r = stream_->synchronize(); !r) return r;
    const std::uint64_t meetings = (step_ + options_.steps) / SoakKernel::kStepsPerMeeting - kernel.meetings;
    step_ += options_.steps;
    ++launches_;
    const std::uint64_t warps = shape_.threads / wic::kWarpSize;
    outcome_.expected += options_.steps * (shape_.blocks + odd_warp_pairs() * (warps - 1)) + meetings * shape_.blocks;
    outcome_.signals += std::uint64_t{options_.steps} * shape_.blocks + meetings;
    outcome_.satisfied += counters_[kSatisfied * kLine] - satisfied_;
    satisfied_ = counters_[kSatisfied * kLine];
    outcome_.missed = counters_[kMissed * kLine];
    outcome_.wrong = counters_[kWrong * kLine];
    return wicprof::ok();
  }

  // Number of pairs whose odd block polls with every thread.
  std::uint64_t odd_warp_pairs() const {
    std::uint64_t count = 0;
    for (std::uint32_t pair = 0; pair < shape_.blocks / 2; ++pair) count += pair / 2 % 2;
    return count;
  }

  Result<> account(wic::RecordDrain& drain) {
    if (auto r = heads_.fetch(*stream_); !r) return r;
    if (auto r = stream_->synchronize(); !r) return r;
    take_records(drain);
    std::vector<std::uint32_t> claimed;
    for (std::size_t sm = 0; sm < heads_.size(); ++sm) {
      claimed.push_back(heads_[sm].next);
      outcome_.claimed += heads_[sm].next;
    }
    drain.close(claimed);
    outcome_.lost = drain.lost();
    return wicprof::ok();
  }

  static constexpr std::uint32_t kRecordsPerSm = 4096;

  const Options& options_;
  Outcome outcome_;
  std::unique_ptr<wic::Runtime> runtime_;
  std::array<wicprof::SiteId, kSites> sites_{};
  wic::LaunchShape shape_;
  std::uint32_t step_ = 0, launches_ = 0, satisfied_ = 0;
  Result<> toggled_ = wicprof::ok();
  wic::Array<Lane> device_lanes_, host_lanes_;
  wic::Array<std::uint32_t> device_word_, host_word_;
  Mirrored<std::uint32_t> counters_;
  Mirrored<wic::RingHead> heads_;
  wic::Array<wic::DeviceRecord> records_;
  std::unique_ptr<wic::Stream> stream_;  // last: destroyed first, so its work ends before the memory is freed
};

// Adds a row that holds if `got` equals `wanted`; the ratio falls below 1 by the relative deviation.
void add_exact(const char* name, double got, const char* unit, const char* compared_to, double wanted, ClaimRow row,
               Claim& claim) {
  row.name = name;
  row.value = got;
  row.unit = unit;
  row.compared_to = compared_to;
  row.ratio = wanted == 0 ? (got == 0 ? 1.0 : 0.0) : 1.0 - std::abs(got - wanted) / wanted;
  row.bar = 1;
  claim.add(std::move(row));
}

void report(const Options& options, const Outcome& o, Claim& claim) {
  ClaimRow row;
  row.params = {{"devices", options.devices},
                {"blocks", std::int64_t{o.blocks}},
                {"toggles", static_cast<std::int64_t>(o.toggles)},
                {"seconds", o.seconds}};
  for (const wicprof::StrategyName& strategy : wicprof::kStrategies) {
    const std::uint64_t count = o.by_strategy[static_cast<std::size_t>(strategy.id)];
    if (count != 0) row.params["waits_" + std::string(strategy.name)] = static_cast<std::int64_t>(count);
  }
  const auto figure = [](std::uint64_t v) { return static_cast<double>(v); };
  ClaimRow waits = row;
  waits.name = "waits";
  waits.value = figure(o.expected);
  waits.unit = "waits";
  waits.compared_to = "the waits that were asked for";
  waits.ratio = figure(o.expected) / figure(options.waits);
  waits.bar = 1;
  claim.add(std::move(waits));
  add_exact("satisfied", figure(o.satisfied), "waits", "waits", figure(o.expected), row, claim);
  add_exact("missed_deadlines", figure(o.missed), "waits", "none", 0, row, claim);
  add_exact("wrong_data", figure(o.wrong), "hand-overs", "none", 0, row, claim);
  row.params["wait_records"] = static_cast<std::int64_t>(o.wait_records);
  row.params["signal_records"] = static_cast<std::int64_t>(o.signal_records);
  row.params["lost_records"] = static_cast<std::int64_t>(o.lost);
  add_exact("recorded_and_lost", figure(o.wait_records + o.signal_records + o.lost), "records", "waits and signals",
            figure(o.expected + o.signals), row, claim);
  add_exact("claimed", figure(o.claimed), "records", "waits and signals", figure(o.expected + o.signals), row, claim);
}

}  // namespace

int main(int argc, char** argv) {
  Claim claim("soak", "many waits under changing strategies, without a hang or a loss", argc, argv);
  Options options;
  options.devices = claim.option("devices", "simt:1");
  options.waits = static_cast<std::uint64_t>(claim.option("waits", 10'000'000));
  options.steps = static_cast<std::uint32_t>(claim.option("steps", 1000));
  options.longest_delay_ns = static_cast<std::uint32_t>(claim.option("longest-delay-ns", 100'000));
  options.timeout_ns = static_cast<std::uint64_t>(claim.option("timeout-ms", 5000)) * 1'000'000;
  options.longest = claim.option("seconds", 60) * wicprof::kSecond;
  std::string all;
  for (const wicprof::StrategyName& strategy : wicprof::kStrategies) {
    all += (all.empty() ? "" : ",") + std::string(strategy.name);
  }
  const auto ways = ways_from(claim.option("strategies", all));
  if (!ways) return sample::fail("soak", ways.error());
  options.ways = *ways;
  const auto outcome = Soak::run(options);
  if (!outcome) return sample::fail("soak", outcome.error());
  if (outcome->out_of_time) std::fprintf(stderr, "soak: the time limit passed before all waits were done\n");
  report(options, *outcome, claim);
  return claim.write();
}
