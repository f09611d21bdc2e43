// Computing work beside waiters, compared with the same work without waiters, by memory of the flags, resource that
// bounds the work, and way of waiting. Waits are longer than the work by a random time, so that no strategy can predict
// their length. In rows `asleep` the waiters never poll: a lower bound for the cost of parking.
//
// Tables: `inside` (in blocks of 32 warps some warps compute and the others wait on one flag), `blocks` (half of the
// blocks of 256 threads wait, one polling thread each), `crowd` (like `blocks`, with few and with many waiters on one
// flag), `peer` (flags in another device's memory; needs two devices). Ways of waiting and absent waiters alternate.
// `--cases blocks_host_one` selects the rows that begin with that text.
#include "bench/interference.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <random>

#include "bench/claim.h"
#include "bench/ways.h"
#include "bench/work_memory.h"
#include "common/options.h"
#include "wic/launch.h"
#include "wic/runtime.h"

namespace {

using namespace wicprof::bench;
using wicprof::Result;

enum class Flags { device_one, device_lines, host_one, host_lines, peer_one, peer_lines };

constexpr const char* flags_name(Flags flags) {
  constexpr const char* kNames[] = {"device_one", "device_lines", "host_one", "host_lines", "peer_one", "peer_lines"};
  return kNames[static_cast<int>(flags)];
}
constexpr bool one_for_all(Flags f) { return f == Flags::device_one || f == Flags::host_one || f == Flags::peer_one; }
constexpr bool on_device(Flags f) { return f == Flags::device_one || f == Flags::device_lines; }
constexpr bool on_peer(Flags f) { return f == Flags::peer_one || f == Flags::peer_lines; }

// One case of a table.
struct Case {
  std::string table;
  Flags flags;
  Bound bound;
  bool peer_reads = false;  // the streamed data is in the other device's memory
  std::uint32_t threads = 0;
  std::uint32_t rows = 0;  // of sm_count blocks
  std::uint32_t computing_warps = 0;
  std::uint32_t waiters = 0;
  std::optional<double> bar = 1.02;  ///< of `auto`

  std::string name() const {
    return table + "_" + flags_name(flags) + "_" + (peer_reads ? "peer_reads" : std::string(bound_name(bound)));
  }
};

struct Options {
  std::string devices;
  std::int64_t rounds;
  double work_ns;
  std::uint64_t timeout_ns;
  std::vector<Way> ways;
};

// One of the alternating measurements.
struct Turn {
  std::string name;
  Waiting waiting;
  wicprof::SiteId site = 0;
  std::vector<double> span_ns = {}, block_ns = {};
  std::uint32_t missed = 0;
};

constexpr std::int64_t kRoundsOfSlow = 3;  // for ways of waiting that slow the work tenfold or more

template <class Kernel>
class Measurement {
 public:
  static Result<std::vector<Turn>> run(const Options& options, const Case& what, double& blocks_per_sm) {
    Measurement m(options, what);
    if (auto r = m.prepare(); !r) return r.error();
    if (auto r = m.calibrate(); !r) return r.error();
    for (std::int64_t round = -1; round < options.rounds; ++round) {  // round -1 warms up
      for (Turn& turn : m.turns_) {
        if (round >= kRoundsOfSlow && median(turn.span_ns) > 10 * median(m.turns_.front().span_ns)) continue;
        if (auto r = m.iterate(turn); !r) return r.error();
      }
      if (round < 0) {
        for (Turn& turn : m.turns_) m.forget_warm_up(turn);
      }
    }
    if (auto r = m.look_at_sms(blocks_per_sm); !r) return r.error();
    return Result<std::vector<Turn>>(std::move(m.turns_));
  }

 private:
  Measurement(const Options& options, const Case& what) : options_(options), case_(what), random_(2026) {}

  Result<> prepare() {
    // A new runtime per case, so that all watch slots are free.
    if (auto r = open(runtime_, options_.devices); !r) return r;
    wic::Device& device = runtime_->device(0);
    sms_ = device.properties().sm_count;
    const bool inside = case_.computing_warps != 0;
    shape_ = {case_.rows * sms_, case_.threads,
              case_.bound == Bound::shared_memory
                  ? case_.threads * Work::kWordsPerThread * static_cast<std::uint32_t>(sizeof(std::uint32_t))
                  : 0};
    computing_ = inside ? shape_.blocks : shape_.blocks / 2;
    const auto resident = device.resident_blocks(shape_, wic::kernel_ref(Kernel{}));
    if (!resident) return resident.error();
    if (*resident < shape_.blocks) {
      return wicprof::unavailable(device.properties().name + " holds " + std::to_string(*resident) + " blocks of " +
                                  std::to_string(case_.threads) + " threads at once, fewer than the " +
                                  std::to_string(shape_.blocks) + " that wait for each other");
    }
    auto stream = device.make_stream();
    if (!stream) return stream.error();
    stream_ = *std::move(stream);
    wic::Device& reads_from = case_.peer_reads ? runtime_->device(1) : device;
    if (auto r = work_.allocate(device, reads_from, *stream_, case_.bound); !r) return r;
    wic::Device& flags_on = on_peer(case_.flags) ? runtime_->device(1) : device;
    const bool host = case_.flags == Flags::host_one || case_.flags == Flags::host_lines;
    if (auto r =
            allocate(flags_, flags_on, case_.waiters * kLine, host ? wic::Memory::pinned_host : wic::Memory::device);
        !r) {
      return r;
    }
    if (auto r = spans_.allocate(device, computing_); !r) return r;
    if (auto r = counters_.allocate(device, 3 * kLine); !r) return r;
    if (auto r = on_sm_.allocate(device, sms_); !r) return r;
    return add_turns(host);
  }

  Result<> add_turns(bool host) {
    turns_.push_back({"absent", Waiting::absent});
    const auto add = [this, host](const std::string& name, Waiting waiting) -> Result<> {
      const auto site =
          runtime_->add_site({"bench." + name,
                              host                   ? wicprof::WordMemory::pinned_host
                              : on_peer(case_.flags) ? wicprof::WordMemory::peer_device
                                                     : wicprof::WordMemory::device,
                              case_.computing_warps != 0 ? wicprof::Pollers::each_thread : wicprof::Pollers::leader,
                              one_for_all(case_.flags)});
      if (!site) return site.error();
      turns_.push_back({name, waiting, *site});
      return wicprof::ok();
    };
    for (const Way& way : options_.ways) {
      if (auto r = add(way.name, Waiting::wait); !r) return r;
      const auto set = runtime_->set_wait(turns_.back().site, {wicprof::Mode::park, way.strategy});
      if (set) continue;
      // The runtime refuses atomic polls of host memory, because they lose flags.
      if (way.strategy != wicprof::StrategyId::naive || !host) return set;
      turns_.pop_back();
    }
    if (on_device(case_.flags)) {
      if (auto r = add("bare_atomic", Waiting::atomic); !r) return r;
    }
    turns_.push_back({"asleep", Waiting::asleep});
    turns_.push_back({"absent_again", Waiting::absent});  // the difference between two equal measurements
    return wicprof::ok();
  }

  static void forget_warm_up(Turn& turn) {
    turn.span_ns.clear();
    turn.block_ns.clear();
  }

  // Chooses the amount of work that takes the requested time.
  Result<> calibrate() {
    amount_ = 16;
    Turn absent{"absent", Waiting::absent};
    for (int tries = 0; tries < 16; ++tries) {
      absent.span_ns.clear();
      for (int i = 0; i < 3; ++i) {
        if (auto r = iterate(absent); !r) return r;
      }
      const double factor = options_.work_ns / std::max(median(absent.span_ns), 1.0);
      if (factor > 0.8 && factor < 1.25) break;
      amount_ = static_cast<std::uint32_t>(std::clamp(amount_ * std::clamp(factor, 0.1, 8.0), 1.0, 1e9));
    }
    return wicprof::ok();
  }

  Result<> iterate(Turn& turn) {
    ++launch_;
    Kernel kernel{};
    kernel.view = runtime_->view(0);
    kernel.site = turn.site;
    kernel.launch = launch_;
    kernel.timeout_ns = options_.timeout_ns;
    kernel.sm_count = sms_;
    kernel.computing_warps = case_.computing_warps;
    kernel.computing = computing_;
    kernel.waiters = case_.waiters;
    kernel.waiting = turn.waiting;
    kernel.asleep_ns = static_cast<std::uint64_t>(options_.work_ns * 3 / 2);
    kernel.flags = flags_.data();
    kernel.flag_stride = one_for_all(case_.flags) ? 0 : kLine;
    kernel.extra_ns =
        static_cast<std::uint64_t>(std::uniform_real_distribution<double>(0, options_.work_ns / 2)(random_));
    kernel.work = work_.work(amount_);
    kernel.spans = spans_.device();
    kernel.starts = counters_.device();
    kernel.finished = counters_.device() + kLine;
    kernel.missed = counters_.device() + 2 * kLine;
    kernel.on_sm = on_sm_.device();
    if (auto r = wic::launch(*stream_, shape_, kernel); !r) return r;
    if (auto r = spans_.fetch(*stream_); !r) return r;
    if (auto r = counters_.fetch(*stream_); !r) return r;
    if (auto r = stream_->synchronize(); !r) return r;
    turn.missed += counters_[2 * kLine] - missed_;
    missed_ = counters_[2 * kLine];
    std::uint64_t first = spans_[0].begin_ns, last = 0;
    std::vector<double> blocks;
    for (std::size_t i = 0; i < spans_.size(); ++i) {
      first = std::min(first, spans_[i].begin_ns);
      last = std::max(last, spans_[i].end_ns);
      blocks.push_back(static_cast<double>(spans_[i].end_ns - spans_[i].begin_ns));
    }
    turn.span_ns.push_back(static_cast<double>(last - first));
    turn.block_ns.push_back(median(std::move(blocks)));
    return wicprof::ok();
  }

  // The maximum number of computing blocks on an SM, averaged over launches.
  Result<> look_at_sms(double& most) {
    if (auto r = on_sm_.fetch(*stream_); !r) return r;
    if (auto r = stream_->synchronize(); !r) return r;
    most = 0;
    for (std::size_t i = 0; i < on_sm_.size(); ++i) most = std::max(most, static_cast<double>(on_sm_[i]) / launch_);
    return wicprof::ok();
  }

  const Options& options_;
  const Case& case_;
  std::mt19937 random_;
  std::unique_ptr<wic::Runtime> runtime_;
  std::uint32_t sms_ = 0, computing_ = 0, amount_ = 0, launch_ = 0, missed_ = 0;
  wic::LaunchShape shape_;
  WorkMemory work_;
  wic::Array<std::uint32_t> flags_;
  Mirrored<Span> spans_;
  Mirrored<std::uint32_t> counters_, on_sm_;
  std::vector<Turn> turns_;
  std::unique_ptr<wic::Stream> stream_;  // last: destroyed first, so its work ends before the memory is freed
};

constexpr Bound kBounds[] = {Bound::fp32, Bound::streaming, Bound::shared_memory, Bound::l2_latency};

Result<std::vector<Case>> cases_of(const std::string& tables, const wic::Device& device, std::size_t devices) {
  const bool gpu = device.properties().kind == wicprof::DeviceKind::cuda;
  const std::uint32_t sms = device.properties().sm_count;
  // On the CPU device use the fewest warps that show the effect.
  const std::uint32_t block = gpu ? 256 : 64;
  const std::uint32_t half = 4 * sms;
  std::vector<Case> cases;
  const auto add_blocks = [&](const char* table, Flags flags) {
    for (const Bound bound : kBounds) cases.push_back({table, flags, bound, false, block, 8, 0, half});
  };
  for (std::size_t begin = 0; begin < tables.size();) {
    const std::size_t end = std::min(tables.find(',', begin), tables.size());
    const std::string table = tables.substr(begin, end - begin);
    begin = end + 1;
    if (table == "inside") {
      for (const Bound bound : kBounds) {
        cases.push_back(
            {"inside", Flags::device_one, bound, false, gpu ? 1024u : 128u, 2, gpu ? 8u : 1u, 2 * sms, 1.01});
      }
    } else if (table == "blocks") {
      for (const Flags flags : {Flags::device_lines, Flags::device_one, Flags::host_one, Flags::host_lines}) {
        add_blocks("blocks", flags);
      }
    } else if (table == "crowd") {
      for (const Flags flags : {Flags::host_one, Flags::device_one}) {
        for (const Bound bound : {Bound::streaming, Bound::l2_latency}) {
          cases.push_back({"few", flags, bound, false, block, 8, 0, half - 4, std::nullopt});
          cases.push_back({"many", flags, bound, false, gpu ? 64u : 32u, 32, 0, 4 * half - 16, std::nullopt});
        }
      }
    } else if (table == "peer") {
      if (devices < 2) return wicprof::bad_input("table peer needs two devices: --devices cuda:0,cuda:1");
      for (const Flags flags : {Flags::peer_one, Flags::peer_lines}) {
        add_blocks("peer", flags);
        cases.push_back({"peer", flags, Bound::streaming, true, block, 8, 0, half});
      }
    } else {
      return wicprof::bad_input("there is no table '" + table + "'; --tables takes inside, blocks, crowd and peer");
    }
  }
  return Result<std::vector<Case>>(std::move(cases));
}

template <Bound kBound>
Result<std::vector<Turn>> measure(const Options& options, const Case& what, double& blocks_per_sm) {
  if (what.computing_warps != 0) {
    return Measurement<InterferenceKernel<1024, 2, Roles::inside, kBound>>::run(options, what, blocks_per_sm);
  }
  if constexpr (kBound == Bound::streaming || kBound == Bound::l2_latency) {
    if (what.rows == 32) {
      return Measurement<InterferenceKernel<64, 32, Roles::whole_blocks, kBound>>::run(options, what, blocks_per_sm);
    }
  }
  return Measurement<InterferenceKernel<256, 8, Roles::whole_blocks, kBound>>::run(options, what, blocks_per_sm);
}

Result<std::vector<Turn>> measure(const Options& options, const Case& what, double& blocks_per_sm) {
  switch (what.bound) {
    case Bound::fp32:
      return measure<Bound::fp32>(options, what, blocks_per_sm);
    case Bound::streaming:
      return measure<Bound::streaming>(options, what, blocks_per_sm);
    case Bound::shared_memory:
      return measure<Bound::shared_memory>(options, what, blocks_per_sm);
    default:
      return measure<Bound::l2_latency>(options, what, blocks_per_sm);
  }
}

void report(const Options& options, const Case& what, const std::vector<Turn>& turns, double blocks_per_sm,
            Claim& claim) {
  const auto of = [&](const char* name) {
    return std::find_if(turns.begin(), turns.end(), [&](const Turn& turn) { return turn.name == name; });
  };
  const double absent = median(of("absent")->span_ns);
  const double absent_block = median(of("absent")->block_ns);
  for (const Turn& turn : turns) {
    ClaimRow row;
    row.name = what.name() + "_" + turn.name;
    row.params = {{"devices", options.devices},
                  {"table", what.table},
                  {"flags", flags_name(what.flags)},
                  {"bound_by", what.peer_reads ? "peer_reads" : std::string(bound_name(what.bound))},
                  {"way", turn.name},
                  {"threads_a_block", std::int64_t{what.threads}},
                  {"waiting_groups", std::int64_t{what.waiters}},
                  {"computing_warps_a_block", std::int64_t{what.computing_warps}},
                  {"most_computing_blocks_on_an_sm", blocks_per_sm},
                  {"rounds", static_cast<std::int64_t>(turn.span_ns.size())},
                  {"missed_deadlines", std::int64_t{turn.missed}}};
    row.value = median(turn.span_ns) * 1e-6;
    row.unit = "ms from the first computing block's begin to the last one's end";
    if (turn.name != "absent") {
      row.compared_to = what.name() + "_absent";
      row.ratio = median(turn.span_ns) / absent;
      row.params["median_block_ratio"] = median(turn.block_ns) / absent_block;
    }
    if (turn.name == "auto") {
      row.bar = what.bar;
      row.at_most = true;
      if (of("poll") != turns.end()) row.params["poll_ratio"] = median(of("poll")->span_ns) / absent;
    }
    claim.add(std::move(row));
  }
}

Result<> run(const Options& options, const std::string& tables, const std::string& wanted, Claim& claim) {
  std::vector<Case> cases;
  {
    const auto devices = wic::open_devices(options.devices);
    if (!devices) return devices.error();
    auto all = cases_of(tables, *devices->front(), devices->size());
    if (!all) return all.error();
    cases = *std::move(all);
  }
  std::erase_if(cases, [&](const Case& what) { return !what.name().starts_with(wanted); });
  if (cases.empty()) return wicprof::bad_input("no row of these tables begins with '" + wanted + "'");
  for (const Case& what : cases) {
    double blocks_per_sm = 0;
    const auto turns = measure(options, what, blocks_per_sm);
    if (!turns) return turns.error();
    for (const Turn& turn : *turns) {
      std::fprintf(stderr, "%s %s: %.3f ms\n", what.name().c_str(), turn.name.c_str(), median(turn.span_ns) * 1e-6);
      if (turn.missed != 0) {
        return wicprof::unavailable(what.name() + ": " + std::to_string(turn.missed) + " deadlines passed under " +
                                    turn.name);
      }
    }
    report(options, what, *turns, blocks_per_sm, claim);
  }
  return wicprof::ok();
}

}  // namespace

int main(int argc, char** argv) {
  Claim claim("interference", "computing work beside waiters, by memory of their flags and way of waiting", argc, argv);
  Options options;
  options.devices = claim.option("devices", "simt:1");
  const std::string tables = claim.option("tables", "inside,blocks,crowd");
  const std::string wanted = claim.option("cases", "");
  const std::string strategies = claim.option(
      "strategies", known_names("poll,leader_bar_sync,leader_mbarrier,leader_mbarrier_hint,shared_watch,auto,naive"));
  options.rounds = claim.option("rounds", 15);
  options.work_ns = static_cast<double>(claim.option("work-us", 1500)) * 1e3;
  options.timeout_ns = static_cast<std::uint64_t>(claim.option("timeout-ms", 2000)) * 1'000'000;
  const auto ways = ways_from(strategies);
  if (!ways) return sample::fail("interference", ways.error());
  options.ways = *ways;
  if (const auto r = run(options, tables, wanted, claim); !r) return sample::fail("interference", r.error());
  return claim.write();
}
