#include <time.h>

#include <cmath>
#include <mutex>
#include <utility>

#include "common/host_team.h"
#include "field/apps.h"
#include "field/cpu_limit.h"
#include "field/queues/serve.h"
#include "wic/launch.h"

namespace sample {
namespace queues {
namespace {

using wic::Result;

constexpr std::uint32_t kLineWords = 32;
constexpr std::uint32_t kEntries = 1u << 20;

/// A thread that asks for values, one request at a time, at random queues of its own.
struct Client {
  std::uint32_t first = 0, count = 0;  ///< its queues
  std::uint64_t draws = 0;             ///< random numbers drawn so far
  std::vector<double> latency_ns;
  Result<> outcome = wic::ok();
};

class Server final : public App {
 public:
  static Result<std::unique_ptr<App>> make(wic::Runtime& runtime, const AppOptions& options) {
    std::unique_ptr<Server> app(new Server(runtime, options));
    if (Result<> opened = app->open(options); !opened) return opened.error();
    return Result<std::unique_ptr<App>>(std::unique_ptr<App>(std::move(app)));
  }

  Result<> step(std::uint32_t step) override;
  Result<> check() override { return wic::ok(); }  // each client checks each answer
  Traffic traffic() const override {
    const double requests = static_cast<double>(clients_.size()) * requests_per_step_;
    return {2 * requests, requests * (sizeof(Request) + sizeof(Response))};
  }
  Felt take_felt() override;
  std::vector<wic::SiteId> host_sites() const override { return {done_site_}; }
  std::string shape() const override {
    return std::to_string(queues_) + (queues_ == 1 ? " queue" : " queues") + " of " + std::to_string(shape_.threads) +
           " threads, " + std::to_string(clients_.size()) + " clients";
  }

 private:
  Server(wic::Runtime& runtime, const AppOptions& options)
      : runtime_(runtime), timeout_ns_(options.timeout_ns), team_(options.number("clients")) {}
  Result<> open(const AppOptions& options);
  Result<> add_sites(const AppOptions& options);
  Result<> open_memory(wic::Device& device);
  void serve(Client& client);
  Result<> ask(Client& client);
  void stop_blocks();

  wic::Runtime& runtime_;
  const std::uint64_t timeout_ns_;
  std::uint32_t queues_ = 0, requests_per_step_ = 0, hops_ = 0, stride_ = 0, cpus_ = 0;
  double think_ns_ = 0;
  wic::LaunchShape shape_;
  wic::SiteId doorbell_site_ = 0, done_site_ = 0;
  HostTeam<> team_;
  std::vector<Client> clients_;
  std::vector<std::uint32_t> sent_;  // per queue
  wic::Array<std::uint32_t> doorbells_, done_, served_, table_;
  wic::Array<Request> requests_;
  wic::Array<Response> responses_;
  std::unique_ptr<Neighbour> neighbour_;
  std::unique_ptr<RankQueue> queue_;  // last: destroyed first, so its work ends before the memory is freed
};

Result<> Server::open(const AppOptions& options) {
  wic::Device& device = runtime_.device(0);
  queues_ = options.size != 0 ? options.size : options.on_gpu ? 256 : 4;
  requests_per_step_ = options.number("requests") != 0 ? options.number("requests") : options.on_gpu ? 500 : 10;
  hops_ = options.number("hops");
  think_ns_ = options.number("think") * 1e3;
  cpus_ = options.number("cpus");
  stride_ = options.way == Way::naive ? 1 : kLineWords;
  // A GPU holds 1,024 such blocks beside a neighbour.
  const auto threads = choose_threads(options, kKeys / 2, kKeys);
  if (!threads) return threads.error();
  shape_ = {queues_, *threads};
  const std::uint32_t clients = options.number("clients");
  if (queues_ < clients) return wic::bad_input("each client needs a queue: raise --size or lower --clients");
  clients_.resize(clients);
  for (std::uint32_t c = 0; c < clients; ++c) {
    clients_[c].first = part_begin(queues_, clients, c);
    clients_[c].count = part_begin(queues_, clients, c + 1) - clients_[c].first;
  }
  sent_.assign(queues_, 0);
  const auto kind = Neighbour::kind_of(options.more.at("neighbour"));
  if (!kind) return kind.error();
  auto neighbour = Neighbour::make(device, *kind, 1, timeout_ns_);
  if (!neighbour) return neighbour.error();
  neighbour_ = *std::move(neighbour);
  const Serve kernel{};
  const std::vector<wic::PlannedLaunch> together{{shape_, wic::kernel_ref(kernel)}, neighbour_->planned()};
  if (auto r = wic::check_co_resident(device, together); !r) return r;
  if (auto r = add_sites(options); !r) return r;
  return open_memory(device);
}

Result<> Server::add_sites(const AppOptions& options) {
  wic::SiteSpec spec;
  spec.name = options.prefix + "queues.doorbell";
  spec.word_memory = wic::WordMemory::pinned_host;
  spec.releasing = wic::kHostEnd;
  spec.waiting = wic::kFirstDeviceEnd;
  spec.group_warps = shape_.threads / wic::kWarpSize;
  const auto doorbell = runtime_.add_site(spec);
  if (!doorbell) return doorbell.error();
  spec.name = options.prefix + "queues.done";
  spec.releasing = wic::kFirstDeviceEnd;
  spec.waiting = wic::kHostEnd;
  spec.group_warps = 0;
  const auto done = runtime_.add_site(spec);
  if (!done) return done.error();
  doorbell_site_ = *doorbell;
  done_site_ = *done;
  return wic::ok();
}

Result<> Server::open_memory(wic::Device& device) {
  const auto host = wic::Memory::pinned_host;
  const std::size_t lines = std::size_t{queues_} * kLineWords;
  auto doorbells = wic::Array<std::uint32_t>::make(device, lines, host);
  auto done = wic::Array<std::uint32_t>::make(device, lines, host);
  auto served = wic::Array<std::uint32_t>::make(device, queues_, wic::Memory::device);
  auto table = wic::Array<std::uint32_t>::make(device, kEntries, wic::Memory::device);
  for (const auto* array : {&doorbells, &done, &served, &table}) {
    if (!*array) return array->error();
  }
  auto requests = wic::Array<Request>::make(device, queues_, host);
  if (!requests) return requests.error();
  auto responses = wic::Array<Response>::make(device, queues_, host);
  if (!responses) return responses.error();
  auto queue = RankQueue::make(device);
  if (!queue) return queue.error();
  doorbells_ = *std::move(doorbells);
  done_ = *std::move(done);
  served_ = *std::move(served);
  table_ = *std::move(table);
  requests_ = *std::move(requests);
  responses_ = *std::move(responses);
  queue_ = std::make_unique<RankQueue>(*std::move(queue));
  if (auto r = wic::launch(queue_->stream(), {64, shape_.threads}, FillTable{table_.data(), kEntries}); !r) return r;
  return queue_->stream().synchronize();
}

Result<> Server::step(std::uint32_t) {
  Serve kernel{};
  kernel.doorbell_site = runtime_.site(doorbell_site_, timeout_ns_);
  kernel.done_site = runtime_.site(done_site_, timeout_ns_);
  kernel.doorbells = doorbells_.data();
  kernel.doorbell_stride = stride_;
  kernel.done = done_.data();
  kernel.requests = requests_.data();
  kernel.responses = responses_.data();
  kernel.served = served_.data();
  kernel.table = table_.data();
  kernel.entries = kEntries;
  kernel.hops = hops_;
  kernel.failure = queue_->failure();
  kernel.neighbour = neighbour_->next_run();
  for (std::uint32_t q = 0; q < queues_; ++q) requests_[q].stop = 0;
  if (auto r = wic::launch(queue_->stream(), shape_, kernel); !r) return r;
  if (auto r = neighbour_->start(); !r) return r;
  team_.run([this](std::uint32_t member, std::uint32_t) { serve(clients_[member]); });
  stop_blocks();
  if (auto r = queue_->close(); !r) return r;
  const auto failure = queue_->finish();
  if (!failure) return failure.error();
  const Result<> beside = neighbour_->finish();
  for (const Client& client : clients_) {
    if (!client.outcome) return client.outcome;
  }
  if (failure->missed != 0) {
    return wic::failed("a deadline passed: queue " + std::to_string(failure->tag) +
                       " waited at queues.doorbell; raise --timeout if the machine is busy");
  }
  return beside;
}

void Server::stop_blocks() {
  for (std::uint32_t q = 0; q < queues_; ++q) {
    const std::uint32_t number = ++sent_[q];
    requests_[q].stop = number;
    runtime_.signal(doorbell_site_, number, &doorbells_[std::size_t{q} * stride_], number);
  }
}

void Server::serve(Client& client) {
  const CpuLimit limit(cpus_);
  for (std::uint32_t i = 0; i < requests_per_step_ && client.outcome; ++i) {
    static_cast<void>(client.outcome = ask(client));  // nvcc: the class is nodiscard
  }
}

// Thinks, sends a request, waits for the answer and checks it.
Result<> Server::ask(Client& client) {
  const std::uint64_t salt = std::uint64_t{client.first} << 40;
  const auto draw = [&] { return mix(salt + client.draws++); };
  if (think_ns_ > 0) {
    const double uniform = (static_cast<double>(draw() >> 11) + 1) * 0x1p-53;
    const auto ns = static_cast<long>(std::min(-std::log(uniform), 8.0) * think_ns_);
    const timespec pause{ns / 1'000'000'000, ns % 1'000'000'000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
  }
  const std::uint32_t q = client.first + static_cast<std::uint32_t>(draw() % client.count);
  const std::uint64_t seed = draw();
  Request& request = requests_[q];
  for (std::uint32_t i = 0; i < kKeys; ++i) request.keys[i] = scrambled(seed + i);
  const std::uint32_t number = ++sent_[q];
  const wic::TimeNs begin = wic::now_ns();
  runtime_.signal(doorbell_site_, number, &doorbells_[std::size_t{q} * stride_], number,
                  wic::Payload::contiguous(std::uint64_t{q} * sizeof(Request), sizeof(request.keys)));
  const wic::WaitResult answered = runtime_.wait_until(done_site_, number, &done_[std::size_t{q} * kLineWords],
                                                       wic::AtLeast{number}, static_cast<wic::TimeNs>(timeout_ns_));
  if (!answered) {
    return wic::failed("a deadline passed: a client waited at queues.done for queue " + std::to_string(q));
  }
  client.latency_ns.push_back(static_cast<double>(wic::now_ns() - begin));
  for (std::uint32_t i = 0; i < kKeys; ++i) {
    const std::uint32_t value =
        walk(request.keys[i], hops_, kEntries, [](std::uint32_t place) { return scrambled(place); });
    if (responses_[q].values[i] != value) {
      return wic::failed("queue " + std::to_string(q) + " answered request " + std::to_string(number) +
                         " wrongly: value " + std::to_string(i) + " is " + std::to_string(responses_[q].values[i]) +
                         ", should be " + std::to_string(value));
    }
  }
  return wic::ok();
}

Felt Server::take_felt() {
  Felt felt;
  felt.unit = "requests";
  for (Client& client : clients_) {
    felt.latency_ns.insert(felt.latency_ns.end(), client.latency_ns.begin(), client.latency_ns.end());
    client.latency_ns.clear();
  }
  felt.work = static_cast<double>(felt.latency_ns.size());
  felt.beside_unit = neighbour_->unit();
  felt.beside = neighbour_->take_work();
  return felt;
}

}  // namespace
}  // namespace queues

const AppInfo& queues_info() {
  static const AppInfo info{
      "field_queues",
      "a persistent kernel as a server: blocks wait for doorbells in host memory, clients for answers",
      "queues, with a block each (default: 4, on a GPU 256)",
      "simt:1",
      1,
      {{"clients", "threads that send requests", "2", 1, 64},
       {"think", "mean microseconds between an answer and the client's next request", "100", 0, 1'000'000},
       {"hops", "lookups per key", "4", 1, 1'000},
       {"requests", "requests of a client per step; 0 = 10, on a GPU 500", "0", 0, 1u << 20},
       {"neighbour", Neighbour::kHelp, "memory"},
       {"cpus", "CPUs that the clients share; 0 = all", "0", 0, 1'024}},
      &queues::Server::make,
      {},
      "doorbells side by side, 32 of them on a line",
      nullptr,
      kFieldNoRival};
  return info;
}

}  // namespace sample
