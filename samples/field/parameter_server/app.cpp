#include <algorithm>
#include <utility>

#include "common/host_team.h"
#include "common/ranks.h"
#include "common/transfer.h"
#include "field/apps.h"
#include "field/cpu_limit.h"
#include "field/parameter_server/gradient.h"
#include "wic/launch.h"

namespace sample {
namespace parameter_server {
namespace {

using wic::Result;

constexpr std::uint32_t kHeldMib = 256;         // a round that reads more reads its samples several times
constexpr std::uint32_t kCheckedPerRound = 64;  // gradients of each message; check() compares all of the last round

struct Worker {
  wic::Device* device = nullptr;
  wic::SiteId site = 0;
  wic::Array<std::uint32_t> parameters, arrived, gradients, ready;
  wic::Array<Quad> samples;
  std::unique_ptr<wic::Stream> stream;  // last: destroyed first, so its work ends before the memory is freed
};

class ParameterServer final : public App {
 public:
  static Result<std::unique_ptr<App>> make(wic::Runtime& runtime, const AppOptions& options) {
    std::unique_ptr<ParameterServer> app(new ParameterServer(runtime, options));
    if (Result<> opened = app->open(options); !opened) return opened.error();
    return Result<std::unique_ptr<App>>(std::unique_ptr<App>(std::move(app)));
  }

  Result<> step(std::uint32_t) override;
  Result<> check() override;
  Traffic traffic() const override {
    const double messages = static_cast<double>(workers_.size()) * shards_ * rounds_per_step_;
    return {messages, messages * per_shard_ * sizeof(std::uint32_t)};
  }
  Felt take_felt() override {
    Felt felt;
    felt.unit = "rounds";
    felt.work = static_cast<double>(round_ns_.size());
    felt.latency_ns = std::exchange(round_ns_, {});
    return felt;
  }
  std::string shape() const override {
    return std::to_string(workers_.size()) + " workers, " + std::to_string(shards_) + " server threads, " +
           std::to_string(shards_ * per_shard_) + " parameters, " + std::to_string(mib_) + " MiB of samples per round";
  }

 private:
  ParameterServer(wic::Runtime& runtime, const AppOptions& options)
      : runtime_(runtime),
        timeout_ns_(options.timeout_ns),
        shards_(options.number("shards")),
        cpus_(options.number("cpus")),
        team_(shards_) {}
  Result<> open(const AppOptions& options);
  Result<> open_worker(Worker& worker, std::uint32_t number, const AppOptions& options);
  Result<> launch_workers();
  Result<> serve(std::uint32_t shard);

  wic::Runtime& runtime_;
  const std::uint64_t timeout_ns_;
  const std::uint32_t shards_, cpus_;
  std::uint32_t per_shard_ = 0, rounds_per_step_ = 0, round_ = 0, mib_ = 0, passes_ = 1;
  wic::LaunchShape shape_;
  HostTeam<> team_;
  std::vector<Result<>> outcomes_;  // per shard
  std::vector<double> round_ns_;
  wic::Array<std::uint32_t> parameters_;  // pinned host memory
  std::vector<std::uint32_t> before_;     // the last round
  std::vector<std::uint32_t> sums_;       // of the gradients of a round
  std::vector<Worker> workers_;
};

Result<> ParameterServer::open(const AppOptions& options) {
  const std::uint32_t parameters = options.size != 0 ? options.size : options.on_gpu ? 1u << 20 : 1u << 12;
  per_shard_ = std::max(1u, parameters / shards_);
  rounds_per_step_ = options.number("rounds") != 0 ? options.number("rounds") : options.on_gpu ? 20 : 3;
  mib_ = options.number("data") != 0 ? options.number("data") : options.on_gpu ? 16 * kHeldMib : 1;
  passes_ = std::max(1u, mib_ / kHeldMib);
  const auto threads = choose_threads(options, 256, 256);
  if (!threads) return threads.error();
  const std::uint32_t sms = runtime_.device(0).properties().sm_count;
  shape_ = {options.blocks != 0 ? options.blocks : options.on_gpu ? 2 * sms : 2, *threads};
  const std::size_t count = std::size_t{shards_} * per_shard_;
  auto held = wic::Array<std::uint32_t>::make(runtime_.device(0), count, wic::Memory::pinned_host);
  if (!held) return held.error();
  parameters_ = *std::move(held);
  for (std::size_t i = 0; i < count; ++i) parameters_[i] = scrambled(i);
  before_.resize(count);
  sums_.resize(count);
  outcomes_.assign(shards_, wic::ok());
  workers_.resize(options.number("workers"));
  for (std::uint32_t w = 0; w < workers_.size(); ++w) {
    if (auto r = open_worker(workers_[w], w, options); !r) return r;
  }
  return wic::ok();
}

Result<> ParameterServer::open_worker(Worker& worker, std::uint32_t number, const AppOptions& options) {
  const auto device = static_cast<std::uint32_t>(number % runtime_.device_count());
  worker.device = &runtime_.device(device);
  // A site per worker: the first in turn is waited for much longer than those after it.
  wic::SiteSpec spec;
  spec.name = options.prefix + "ps.gradient" + std::to_string(number);
  spec.word_memory = wic::WordMemory::pinned_host;
  spec.releasing = static_cast<wic::SiteEnd>(wic::kFirstDeviceEnd + device);
  spec.waiting = wic::kHostEnd;
  const auto site = runtime_.add_site(spec);
  if (!site) return site.error();
  worker.site = *site;
  const std::size_t count = parameters_.size(), lines = std::size_t{shards_} * kLineWords;
  const std::size_t samples = (std::size_t{std::min(mib_, kHeldMib)} << 20) / sizeof(Quad);
  auto held = wic::Array<Quad>::make(*worker.device, samples, wic::Memory::device);
  if (!held) return held.error();
  auto parameters = wic::Array<std::uint32_t>::make(*worker.device, count, wic::Memory::device);
  auto arrived = wic::Array<std::uint32_t>::make(*worker.device, lines, wic::Memory::device);
  auto gradients = wic::Array<std::uint32_t>::make(*worker.device, count, wic::Memory::pinned_host);
  auto ready = wic::Array<std::uint32_t>::make(*worker.device, lines, wic::Memory::pinned_host);
  for (const auto* array : {&parameters, &arrived, &gradients, &ready}) {
    if (!*array) return array->error();
  }
  auto stream = worker.device->make_stream();
  if (!stream) return stream.error();
  worker.samples = *std::move(held);
  worker.parameters = *std::move(parameters);
  worker.arrived = *std::move(arrived);
  worker.gradients = *std::move(gradients);
  worker.ready = *std::move(ready);
  worker.stream = *std::move(stream);
  return wic::ok();
}

Result<> ParameterServer::step(std::uint32_t) {
  for (std::uint32_t i = 0; i < rounds_per_step_; ++i) {
    const wic::TimeNs begin = wic::now_ns();
    ++round_;
    if (auto r = launch_workers(); !r) return r;
    team_.run([this](std::uint32_t shard, std::uint32_t) {
      static_cast<void>(outcomes_[shard] = serve(shard));  // nvcc: the class is nodiscard
    });
    for (const Result<>& outcome : outcomes_) {
      if (!outcome) return outcome;
    }
    round_ns_.push_back(static_cast<double>(wic::now_ns() - begin));
  }
  return wic::ok();
}

Result<> ParameterServer::launch_workers() {
  for (std::uint32_t w = 0; w < workers_.size(); ++w) {
    const Worker& worker = workers_[w];
    Gradient kernel{};
    kernel.site = runtime_.site(worker.site, timeout_ns_, w % runtime_.device_count());
    kernel.worker = w;
    kernel.round = round_;
    kernel.shards = shards_;
    kernel.per_shard = per_shard_;
    kernel.parameters = worker.parameters.data();
    kernel.gradients = worker.gradients.data();
    kernel.samples = worker.samples.data();
    kernel.sample_count = static_cast<std::uint32_t>(worker.samples.size());
    kernel.passes = passes_;
    kernel.arrived = worker.arrived.data();
    kernel.ready = worker.ready.data();
    kernel.sink = worker.arrived.data() + 1;
    if (auto r = worker.stream->copy(worker.parameters.data(), parameters_.data(), parameters_.bytes()); !r) return r;
    if (auto r = wic::launch(*worker.stream, shape_, kernel); !r) return r;
  }
  return wic::ok();
}

// Waits for the shard's gradients of all workers, and adds them to the parameters.
Result<> ParameterServer::serve(std::uint32_t shard) {
  const CpuLimit limit(cpus_);
  const std::size_t base = std::size_t{shard} * per_shard_;
  for (std::uint32_t w = 0; w < workers_.size(); ++w) {
    const wic::WaitResult wait =
        runtime_.wait_until(workers_[w].site, round_, &workers_[w].ready[std::size_t{shard} * kLineWords],
                            wic::AtLeast{round_}, static_cast<wic::TimeNs>(timeout_ns_));
    if (!wait) {
      return wic::failed("a deadline passed: shard " + std::to_string(shard) + " waited at ps.gradient" +
                         std::to_string(w) + " in round " + std::to_string(round_));
    }
    const std::uint32_t* const gradients = workers_[w].gradients.data() + base;
    for (std::uint32_t k = 0; k < kCheckedPerRound; ++k) {
      const std::size_t i = (std::size_t{round_} * kCheckedPerRound + k) % per_shard_;
      if (gradients[i] == gradient_of(parameters_[base + i], w)) continue;
      return wic::failed("worker " + std::to_string(w) + " sent a wrong gradient of parameter " +
                         std::to_string(base + i) + " in round " + std::to_string(round_));
    }
    for (std::size_t i = 0; i < per_shard_; ++i) sums_[base + i] = (w == 0 ? 0 : sums_[base + i]) + gradients[i];
  }
  // Not before all workers have taken the old parameters.
  for (std::size_t i = base; i < base + per_shard_; ++i) {
    before_[i] = parameters_[i];
    parameters_[i] += sums_[i];
  }
  return wic::ok();
}

Result<> ParameterServer::check() {
  for (std::size_t i = 0; i < before_.size() && round_ > 0; ++i) {
    std::uint32_t expected = before_[i];
    for (std::uint32_t w = 0; w < workers_.size(); ++w) expected += gradient_of(before_[i], w);
    if (parameters_[i] == expected) continue;
    return wic::failed("parameter " + std::to_string(i) + " is " + std::to_string(parameters_[i]) + " after round " +
                       std::to_string(round_) + ", should be " + std::to_string(expected));
  }
  return wic::ok();
}

}  // namespace
}  // namespace parameter_server

const AppInfo& parameter_server_info() {
  static const AppInfo info{
      "field_parameter_server",
      "threads on the CPU add up the gradients that workers on GPUs send, and wait for each round of them",
      "parameters (default: 4096, on a GPU 2^20)",
      "simt:1",
      1,
      {{"workers", "workers, in turn on the devices", "2", 1, 16},
       {"shards", "server threads, with a part of the parameters each", "2", 1, parameter_server::kMaxShards},
       {"data", "MiB of samples that a worker reads in a round; 0 = 1, on a GPU 4096", "0", 0, 1u << 20},
       {"rounds", "rounds per step of the program; 0 = 3, on a GPU 20", "0", 0, 1u << 16},
       {"cpus", "CPUs that the server threads share; 0 = all", "0", 0, 1'024}},
      &parameter_server::ParameterServer::make,
      {},
      nullptr,
      "only host threads wait, and they poll in one way",
      kFieldNoRival};
  return info;
}

}  // namespace sample
