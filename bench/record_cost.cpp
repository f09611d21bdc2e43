// The cost of recording a wait inside a kernel: waits on a word that is already set, with and without a record,
// compared with the bare check and two barriers that a wait replaces. Kernels alternate in one run.
#include <bit>
#include <cstdio>
#include <map>

#include "bench/claim.h"
#include "common/options.h"
#include "wic/launch.h"
#include "wic/runtime.h"

namespace {

constexpr std::uint32_t kThreads = 128;

// Every block waits `waits` times on a set word; thread 0 measures the time.
struct WaitLoop {
  wic::DeviceView view;
  wicprof::SiteId site;
  const std::uint32_t* word;
  std::uint32_t waits;
  bool bare;
  std::uint64_t* ns;  // one per block

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint64_t begin = thread.clock_ns();
    for (std::uint32_t i = 0; i < waits; ++i) {
      if (bare) {
        if (thread.index() == 0) {
          while (thread.load(word) == 0 && thread.clock_ns() - begin < 1'000'000'000) {
          }
        }
        thread.sync_block();
        thread.sync_block();
      } else {
        wic::wait_until(thread, view, wic::block_group(thread), site, i, word, wic::AtLeast{1}, 1'000'000'000);
      }
    }
    if (thread.index() == 0) ns[thread.block()] = thread.clock_ns() - begin;
  }
};

wicprof::Result<> measure(const std::string& devices, std::uint32_t waits, std::int64_t rounds,
                          wicprof::bench::Claim& claim) {
  wic::RuntimeOptions options;
  options.devices = devices;
  options.record = false;
  auto runtime = wic::Runtime::create(options);
  if (!runtime) return runtime.error();
  wic::Device& device = (*runtime)->device(0);
  const std::uint32_t sms = device.properties().sm_count;
  const auto site = (*runtime)->add_site({"bench.set", wicprof::WordMemory::device, wicprof::Pollers::leader, false});
  if (!site) return site.error();
  constexpr std::uint32_t kCapacity = 4096;
  auto stream = device.make_stream();
  if (!stream) return stream.error();
  auto word = wic::Array<std::uint32_t>::make(device, 32, wic::Memory::device);
  auto heads = wic::Array<wic::RingHead>::make(device, sms, wic::Memory::device);
  auto records = wic::Array<wic::DeviceRecord>::make(device, std::size_t{sms} * kCapacity, wic::Memory::pinned_host);
  auto ns = wic::Array<std::uint64_t>::make(device, std::size_t{4} * sms, wic::Memory::device);
  auto host_ns = wic::Array<std::uint64_t>::make(device, std::size_t{4} * sms, wic::Memory::pinned_host);
  if (!word || !heads || !records || !ns || !host_ns) return wicprof::unavailable("no memory for the benchmark");
  auto one = wic::Array<std::uint32_t>::make(device, 1, wic::Memory::pinned_host);
  if (!one) return one.error();
  (*one)[0] = 1;
  if (auto r = (*stream)->copy(word->data(), one->data(), sizeof(std::uint32_t)); !r) return r;

  wic::DeviceView recording = (*runtime)->view(0);
  recording.ring_heads = heads->data();
  recording.records = records->data();
  recording.ring_capacity_log2 = std::countr_zero(kCapacity);
  struct Way {
    const char* name;
    const wic::DeviceView view;
    bool bare;
  };
  const Way ways[] = {
      {"bare", (*runtime)->view(0), true}, {"unrecorded", (*runtime)->view(0), false}, {"recorded", recording, false}};
  for (const std::uint32_t blocks : {1u, sms, 4 * sms}) {
    std::map<std::string, std::vector<double>> per_wait;
    for (std::int64_t round = -1; round < rounds; ++round) {  // round -1 warms up
      for (const Way& way : ways) {
        const WaitLoop kernel{way.view, *site, word->data(), waits, way.bare, ns->data()};
        if (auto r = wic::launch(**stream, {blocks, kThreads}, kernel); !r) return r;
        if (auto r = (*stream)->copy(host_ns->data(), ns->data(), ns->bytes()); !r) return r;
        if (auto r = (*stream)->synchronize(); !r) return r;
        if (round < 0) continue;
        std::vector<double> all(host_ns->data(), host_ns->data() + blocks);
        per_wait[way.name].push_back(wicprof::bench::median(all) / waits);
      }
    }
    for (const Way& way : ways) {
      wicprof::bench::ClaimRow row;
      row.name = std::string("wait_") + way.name;
      row.params = {
          {"devices", devices}, {"blocks", std::int64_t{blocks}}, {"waits", std::int64_t{waits}}, {"rounds", rounds}};
      row.value = wicprof::bench::median(per_wait[way.name]);
      row.unit = "ns a wait";
      if (std::string(way.name) == "recorded") {
        row.compared_to = "wait_unrecorded";
        row.ratio = row.value / wicprof::bench::median(per_wait["unrecorded"]);
      }
      claim.add(row);
    }
  }
  return wicprof::ok();
}

}  // namespace

int main(int argc, char** argv) {
  wicprof::bench::Claim claim("record_cost", "the cost of recording a wait inside a kernel", argc, argv);
  const std::string devices = claim.option("devices", "simt:1");
  const std::int64_t waits = claim.option("waits", 1000);
  const std::int64_t rounds = claim.option("rounds", 11);
  if (const auto r = measure(devices, static_cast<std::uint32_t>(waits), rounds, claim); !r) {
    return sample::fail("record_cost", r.error());
  }
  return claim.write();
}
