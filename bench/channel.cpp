// Channels compared with their building blocks: bandwidth with plain copies, the latency of a short message with a bare
// polled flag, messages per second, and both paths from the CPU to a device by message size. Directions: CPU to device,
// device to CPU and, with two devices, device to device.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "bench/channel_kernels.h"
#include "bench/claim.h"

namespace {

using wic::Array;
using wic::Channel;
using wic::ChannelSpec;
using wic::Device;
using wic::End;
using wic::Memory;
using wic::Path;
using wic::Stream;
using wic::Way;
using wicprof::Result;
using wicprof::TimeNs;
using namespace wicprof::bench;

constexpr TimeNs kTimeout = 5 * wicprof::kSecond;
constexpr double kBandwidthBar = 0.9;
constexpr std::int64_t kBarFrom = 1 << 20;
constexpr const char* kWayNames[] = {"naive", "poll", "park"};

struct Direction {
  const char* name;
  End producer, consumer;
};

// The amount of work, by kind of device: a GPU's amount would take hours on the CPU device.
struct Scale {
  std::int64_t largest = 0;          // bytes per message
  std::int64_t bandwidth_bytes = 0;  // per row
  std::int64_t min_messages = 0;     // per row: enough that messages in flight at the start of the timing hardly count
  std::int64_t max_messages = 0;     // per row
  std::int64_t rounds = 0;           // per ping-pong
  std::uint32_t threads = 0, most_parts = 0, rate_tags = 0;
};

std::string row_name(const char* what, const Direction& direction, Way way) {
  return std::string(what) + "_" + direction.name + "_" + kWayNames[static_cast<int>(way)];
}

wicprof::Error missed() { return wicprof::unavailable("a wait's deadline passed, or a message was wrong"); }

// A runtime, and streams and memory for kernels on its devices.
class Rig {
 public:
  static Result<std::unique_ptr<Rig>> make(const std::string& devices) {
    std::unique_ptr<Rig> rig(new Rig);
    wic::RuntimeOptions options;
    options.devices = devices;
    options.record = false;
    auto runtime = wic::Runtime::create(options);
    if (!runtime) return runtime.error();
    rig->runtime_ = *std::move(runtime);
    for (std::size_t d = 0; d < rig->runtime_->device_count(); ++d) {
      auto stream = rig->device(d).make_stream();
      if (!stream) return stream.error();
      auto copies = rig->device(d).make_stream();
      if (!copies) return copies.error();
      auto words = Array<std::uint32_t>::make(rig->device(d), kWords, Memory::device);
      if (!words) return words.error();
      auto read = Array<std::uint32_t>::make(rig->device(d), kHead, Memory::pinned_host);
      if (!read) return read.error();
      rig->streams_.push_back(*std::move(stream));
      rig->copies_.push_back(*std::move(copies));
      rig->words_.push_back(*std::move(words));
      rig->read_.push_back(*std::move(read));
    }
    return Result<std::unique_ptr<Rig>>(std::move(rig));
  }

  wic::Runtime& runtime() { return *runtime_; }
  Device& device(std::size_t d) { return runtime_->device(d); }
  Stream& stream(std::size_t d) { return *streams_[d]; }
  Stream& copies(std::size_t d) { return *copies_[d]; }
  std::uint32_t* missed(std::size_t d) { return words_[d].data(); }
  std::uint64_t* took(std::size_t d) { return reinterpret_cast<std::uint64_t*>(words_[d].data() + 2); }
  std::uint32_t* buffer(std::size_t d) { return words_[d].data() + 4; }
  std::uint32_t* sums(std::size_t d) { return words_[d].data() + kHead; }

  /// Waits for the device's kernel; returns the nanoseconds that it stored in took().
  Result<std::uint64_t> finish(std::size_t d) {
    if (auto r = streams_[d]->copy(read_[d].data(), words_[d].data(), kHead * 4); !r) return r.error();
    if (auto r = streams_[d]->synchronize(); !r) return r.error();
    if (read_[d][0] != 0) return ::missed();
    std::uint64_t ns = 0;
    std::memcpy(&ns, read_[d].data() + 2, sizeof ns);
    return ns;
  }

  Result<std::unique_ptr<Channel>> channel(const Direction& direction, Way way, std::uint32_t tags, std::uint32_t bytes,
                                           Path path = Path::automatic) {
    const wicprof::WantedWait wait = way == Way::park
                                         ? wicprof::WantedWait{wicprof::Mode::park, wicprof::StrategyId::automatic}
                                         : wicprof::WantedWait{wicprof::Mode::poll, wicprof::StrategyId::poll};
    if (way != last_way_) {  // set_wait() would reset the strategy of a naive channel's site
      if (auto r = runtime_->set_wait(0, wait); !r) return r.error();
    }
    last_way_ = way;
    ChannelSpec spec;
    spec.name = "c" + std::to_string(++channels_);
    spec.producer = direction.producer;
    spec.consumer = direction.consumer;
    spec.tags = tags;
    spec.max_bytes = bytes;
    spec.way = way;
    spec.path = path;
    auto made = Channel::make(*runtime_, spec);
    if (!made) return made.error();
    return made;
  }

 private:
  static constexpr std::size_t kHead = 8, kWords = kHead + 256 * 1024;
  Rig() = default;

  std::unique_ptr<wic::Runtime> runtime_;
  std::vector<Array<std::uint32_t>> words_, read_;
  std::vector<std::unique_ptr<Stream>> streams_, copies_;
  int channels_ = 0;
  std::optional<Way> last_way_;
};

double seconds_since(TimeNs begin) { return static_cast<double>(wicprof::now_ns() - begin) * 1e-9; }

std::size_t index_of(End end) { return end.is_cpu() ? 0 : static_cast<std::size_t>(end.device); }

// Sends `cycles` messages per tag from end to end. Returns the seconds for the messages after the first eighth.
Result<double> stream_messages(Rig& rig, const Scale& scale, const Direction& direction, Channel& channel,
                               std::uint32_t cycles, bool read) {
  const std::uint32_t tags = channel.spec().tags, bytes = channel.spec().max_bytes;
  const std::uint32_t warm_up = cycles / 8;
  const std::size_t from = index_of(direction.producer), to = index_of(direction.consumer);
  const auto parts = static_cast<std::uint32_t>(std::clamp<std::int64_t>(bytes / (64 * 1024), 1, scale.most_parts));
  Array<std::byte> data;
  if (!direction.producer.is_cpu()) {
    auto made = Array<std::byte>::make(rig.device(from), bytes, Memory::device);
    if (!made) return made.error();
    data = *std::move(made);
  }
  if (!direction.consumer.is_cpu()) {
    const Sink sink{*channel.receiver(), cycles, read, rig.missed(to), rig.sums(to)};
    if (auto r = wic::launch(rig.stream(to), {tags, scale.threads}, sink); !r) return r.error();
  }
  TimeNs begin = wicprof::now_ns();
  if (!direction.producer.is_cpu()) {
    const Source source{*channel.sender(), data.data(), bytes, cycles, parts, rig.missed(from)};
    if (auto r = wic::launch(rig.stream(from), {tags * parts, scale.threads}, source); !r) return r.error();
  } else {
    for (std::uint32_t cycle = 1; cycle <= cycles; ++cycle) {
      if (cycle == warm_up + 1) begin = wicprof::now_ns();
      for (wic::Tag tag = 0; tag < tags; ++tag) {
        const auto place = channel.place(tag, cycle, kTimeout);
        if (place.data.empty()) return missed();
        if (auto r = channel.publish(tag, cycle, bytes); !r) return r.error();
      }
    }
  }
  if (direction.consumer.is_cpu()) {
    for (std::uint32_t cycle = 1; cycle <= cycles; ++cycle) {
      if (cycle == warm_up + 1) begin = wicprof::now_ns();
      for (wic::Tag tag = 0; tag < tags; ++tag) {
        if (channel.receive(tag, cycle, kTimeout).data.empty()) return missed();
        channel.release(tag, cycle);
      }
    }
  } else if (auto r = rig.stream(to).synchronize(); !r) {
    return r.error();
  }
  const double took = seconds_since(begin);
  for (const End end : {direction.producer, direction.consumer}) {
    if (end.is_cpu()) continue;
    if (auto r = rig.finish(index_of(end)); !r) return r.error();
  }
  // Between devices the CPU does not see the end of the warm-up, so all messages count.
  const bool all = !direction.producer.is_cpu() && !direction.consumer.is_cpu();
  return took * (all ? static_cast<double>(cycles - warm_up) / cycles : 1.0);
}

// The same bytes by the copy engine, without notification. Uses as many buffers as the channel, because repeated copies
// of a single buffer would come from the CPU's caches.
Result<double> plain_copies(Rig& rig, const Direction& direction, std::int64_t bytes, std::int64_t count,
                            std::uint32_t tags) {
  const auto size = static_cast<std::size_t>(bytes);
  const std::size_t buffers = std::size_t{2} * tags;
  const auto memory_of = [](End end) { return end.is_cpu() ? Memory::pinned_host : Memory::device; };
  const std::size_t from = index_of(direction.producer), to = index_of(direction.consumer);
  auto source = Array<std::byte>::make(rig.device(from), buffers * size, memory_of(direction.producer));
  if (!source) return source.error();
  auto target = Array<std::byte>::make(rig.device(to), buffers * size, memory_of(direction.consumer));
  if (!target) return target.error();
  Stream& stream = rig.copies(from);
  TimeNs begin = 0;
  for (std::int64_t i = -count / 8; i < count; ++i) {
    if (i == 0) {
      if (auto r = stream.synchronize(); !r) return r.error();
      begin = wicprof::now_ns();
    }
    const std::size_t at = static_cast<std::size_t>(i + count) % buffers * size;
    if (auto r = stream.copy(target->data() + at, source->data() + at, size); !r) return r.error();
  }
  if (auto r = stream.synchronize(); !r) return r.error();
  return seconds_since(begin);
}

// More tags between devices, so that the link stays busy while one tag's blocks wait for each other.
std::uint32_t bandwidth_tags(const Direction& direction) {
  return direction.producer.is_cpu() || direction.consumer.is_cpu() ? 4 : 8;
}
constexpr std::uint32_t kPathTags = 4;

Result<> bandwidth(Claim& claim, const std::string& devices, const Scale& scale, const Direction& direction) {
  auto rig = Rig::make(devices);
  if (!rig) return rig.error();
  const std::uint32_t tags = bandwidth_tags(direction);
  for (std::int64_t bytes = 4096; bytes <= scale.largest; bytes *= 4) {
    const std::int64_t messages = std::clamp<std::int64_t>(
        scale.bandwidth_bytes / bytes, std::min(scale.min_messages, scale.max_messages), scale.max_messages);
    const auto cycles = static_cast<std::uint32_t>(messages / tags);
    const std::map<std::string, Parameter> params{{"devices", devices},
                                                  {"bytes", bytes},
                                                  {"messages", std::int64_t{cycles} * tags},
                                                  {"tags", std::int64_t{tags}}};
    const auto copy = plain_copies(**rig, direction, bytes, messages, tags);
    if (!copy) return copy.error();
    const double copy_rate = static_cast<double>(bytes * messages) / *copy * 1e-9;
    ClaimRow plain;
    plain.name = "plain_copy_" + std::string(direction.name) + "_" + std::to_string(bytes);
    plain.params = params;
    plain.value = copy_rate;
    plain.unit = "GB/s";
    claim.add(plain);
    for (const Way way : {Way::park, Way::poll, Way::naive}) {
      if (way == Way::naive && bytes > 16 * 1024) continue;  // too slow: one thread takes the data, page by page
      const std::uint32_t fewer = way == Way::naive ? std::min(cycles, 64u) : cycles;
      auto channel = (*rig)->channel(direction, way, tags, static_cast<std::uint32_t>(bytes));
      if (!channel) return channel.error();
      // Data in the CPU's memory crosses the bus only when it is read.
      const bool read = direction.producer.is_cpu() && (*channel)->path() == Path::stores;
      const auto took = stream_messages(**rig, scale, direction, **channel, fewer, read);
      if (!took) return took.error();
      const double sent = static_cast<double>(bytes) * tags * (fewer - fewer / 8);
      ClaimRow row;
      row.name = row_name("bandwidth", direction, way) + "_" + std::to_string(bytes);
      row.params = params;
      row.params["messages"] = std::int64_t{fewer} * tags;
      row.value = sent / *took * 1e-9;
      row.unit = "GB/s";
      row.compared_to = plain.name;
      row.ratio = row.value / copy_rate;
      if (way == Way::park && bytes >= kBarFrom) row.bar = kBandwidthBar;
      claim.add(row);
      std::fprintf(stderr, "%s: %.2f GB/s, plain copy %.2f\n", row.name.c_str(), row.value, copy_rate);
    }
  }
  return wicprof::ok();
}

Result<> message_rate(Claim& claim, const std::string& devices, const Scale& scale, const Direction& direction) {
  auto rig = Rig::make(devices);
  if (!rig) return rig.error();
  for (const std::uint32_t bytes : {8u, 64u, 256u}) {
    double poll_rate = 0;
    for (const Way way : {Way::poll, Way::park, Way::naive}) {
      const std::int64_t most =
          way == Way::naive ? std::min<std::int64_t>(scale.max_messages, 4096) : scale.max_messages;
      const auto cycles = static_cast<std::uint32_t>(std::max<std::int64_t>(most / scale.rate_tags, 16));
      auto channel = (*rig)->channel(direction, way, scale.rate_tags, bytes);
      if (!channel) return channel.error();
      Scale narrow = scale;
      narrow.threads = 32;
      const auto took = stream_messages(**rig, narrow, direction, **channel, cycles, true);
      if (!took) return took.error();
      ClaimRow row;
      row.name = row_name("rate", direction, way) + "_" + std::to_string(bytes);
      row.params = {{"devices", devices},
                    {"bytes", std::int64_t{bytes}},
                    {"tags", std::int64_t{scale.rate_tags}},
                    {"messages", std::int64_t{cycles} * scale.rate_tags}};
      row.value = static_cast<double>(scale.rate_tags) * (cycles - cycles / 8) / *took * 1e-6;
      row.unit = "million messages/s";
      if (way == Way::poll) {
        poll_rate = row.value;
      } else {
        row.compared_to = row_name("rate", direction, Way::poll) + "_" + std::to_string(bytes);
        row.ratio = row.value / poll_rate;
      }
      claim.add(row);
      std::fprintf(stderr, "%s: %.3f million/s\n", row.name.c_str(), row.value);
    }
  }
  return wicprof::ok();
}

// Both paths from the CPU to a device, with a consumer that reads every byte: one message at a time, and several in
// flight.
Result<> paths(Claim& claim, const std::string& devices, const Scale& scale, const Direction& direction) {
  auto rig = Rig::make(devices);
  if (!rig) return rig.error();
  for (std::uint32_t bytes = 256; bytes <= std::min<std::int64_t>(scale.largest, 256 * 1024); bytes *= 2) {
    for (const std::uint32_t tags : {1u, kPathTags}) {
      double stores = 0;
      for (const Path path : {Path::stores, Path::engine}) {
        auto channel = (*rig)->channel(direction, Way::park, tags, bytes, path);
        if (!channel) return channel.error();
        const auto cycles = static_cast<std::uint32_t>(
            std::clamp<std::int64_t>(scale.bandwidth_bytes / 8 / bytes / tags, 16, scale.rounds));
        const auto took = stream_messages(**rig, scale, direction, **channel, cycles, true);
        if (!took) return took.error();
        ClaimRow row;
        const std::string size = "_" + std::to_string(bytes) + (tags == 1 ? "_one_tag" : "");
        row.name = (path == Path::stores ? "path_stores" : "path_engine") + size;
        row.params = {{"devices", devices}, {"bytes", std::int64_t{bytes}}, {"tags", std::int64_t{tags}}};
        row.value = *took / (static_cast<double>(tags) * (cycles - cycles / 8)) * 1e6;
        row.unit = "us/message";
        if (path == Path::stores) {
          stores = row.value;
        } else {
          row.compared_to = "path_stores" + size;
          row.ratio = row.value / stores;
        }
        claim.add(row);
        std::fprintf(stderr, "%s: %.2f us per message\n", row.name.c_str(), row.value);
      }
    }
  }
  return wicprof::ok();
}

struct Flags {
  Array<std::uint32_t> forth, back;  // each in the memory of its waiter
};

Result<Flags> make_flags(Rig& rig, const Direction& direction) {
  const bool with_cpu = direction.producer.is_cpu();
  const Memory where = with_cpu ? Memory::pinned_host : Memory::device;
  auto forth = Array<std::uint32_t>::make(rig.device(index_of(direction.consumer)), 32, where);
  if (!forth) return forth.error();
  auto back = Array<std::uint32_t>::make(rig.device(index_of(direction.producer)), 32, where);
  if (!back) return back.error();
  return Result<Flags>(Flags{*std::move(forth), *std::move(back)});
}

// Microseconds per half round of ping-pong with two bare flags.
Result<double> flag_latency(Rig& rig, const Scale& scale, const Direction& direction) {
  auto flags = make_flags(rig, direction);
  if (!flags) return flags.error();
  const std::size_t to = index_of(direction.consumer), from = index_of(direction.producer);
  const auto rounds = static_cast<std::uint32_t>(scale.rounds), warm_up = rounds / 8;
  FlagPingPong answer{flags->forth.data(), flags->back.data(), rounds, warm_up, false, rig.missed(to), rig.took(to)};
  if (auto r = wic::launch(rig.stream(to), {1, 32}, answer); !r) return r.error();
  double ns = 0;
  if (direction.producer.is_cpu()) {
    TimeNs begin = 0;
    const TimeNs deadline = wicprof::now_ns() + kTimeout;
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      if (round == warm_up + 1) begin = wicprof::now_ns();
      std::atomic_ref(flags->forth[0]).store(round, std::memory_order_release);
      while (std::atomic_ref(flags->back[0]).load(std::memory_order_acquire) != round) {
        if (wicprof::now_ns() > deadline) return missed();
      }
    }
    ns = static_cast<double>(wicprof::now_ns() - begin);
  } else {
    FlagPingPong ask{flags->back.data(), flags->forth.data(), rounds, warm_up, true, rig.missed(from), rig.took(from)};
    if (auto r = wic::launch(rig.stream(from), {1, 32}, ask); !r) return r.error();
    const auto took = rig.finish(from);
    if (!took) return took.error();
    ns = static_cast<double>(*took);
  }
  if (auto r = rig.finish(to); !r) return r.error();
  return ns / (rounds - warm_up) / 2 * 1e-3;
}

// Microseconds per half round of ping-pong with two channels.
Result<double> message_latency(Rig& rig, const Direction& direction, Way way, std::uint32_t rounds) {
  const Direction backward{"", direction.consumer, direction.producer};
  auto forth = rig.channel(direction, way, 1, 8);
  if (!forth) return forth.error();
  auto back = rig.channel(backward, way, 1, 8);
  if (!back) return back.error();
  const std::size_t to = index_of(direction.consumer), from = index_of(direction.producer);
  const std::uint32_t warm_up = rounds / 8;
  const PingPong answer{*(*forth)->receiver(), *(*back)->sender(), rounds,        warm_up, false,
                        rig.missed(to),        rig.took(to),       rig.buffer(to)};
  if (auto r = wic::launch(rig.stream(to), {1, 32}, answer); !r) return r.error();
  double ns = 0;
  if (direction.producer.is_cpu()) {
    TimeNs begin = 0;
    for (std::uint32_t cycle = 1; cycle <= rounds; ++cycle) {
      if (cycle == warm_up + 1) begin = wicprof::now_ns();
      const std::uint32_t message[2] = {cycle, cycle};
      const auto sent = (*forth)->send(0, cycle, message, sizeof message, kTimeout);
      if (!sent) return sent.error();
      const auto answered = (*back)->receive(0, cycle, kTimeout);
      std::uint32_t number = 0;
      if (answered.data.size() == 8) std::memcpy(&number, answered.data.data(), 4);
      if (number != cycle) return missed();
      (*back)->release(0, cycle);
    }
    ns = static_cast<double>(wicprof::now_ns() - begin);
  } else {
    const PingPong ask{*(*back)->receiver(), *(*forth)->sender(), rounds,          warm_up, true,
                       rig.missed(from),     rig.took(from),      rig.buffer(from)};
    if (auto r = wic::launch(rig.stream(from), {1, 32}, ask); !r) return r.error();
    const auto took = rig.finish(from);
    if (!took) return took.error();
    ns = static_cast<double>(*took);
  }
  if (auto r = rig.finish(to); !r) return r.error();
  return ns / (rounds - warm_up) / 2 * 1e-3;
}

Result<> latency(Claim& claim, const std::string& devices, const Scale& scale, const Direction& direction) {
  auto rig = Rig::make(devices);
  if (!rig) return rig.error();
  constexpr int kRepeats = 5;
  std::vector<double> flag;
  std::map<Way, std::vector<double>> by_way;
  for (int i = 0; i < kRepeats; ++i) {
    const auto bare = flag_latency(**rig, scale, direction);
    if (!bare) return bare.error();
    flag.push_back(*bare);
    for (const Way way : {Way::park, Way::poll, Way::naive}) {
      const auto rounds =
          static_cast<std::uint32_t>(way == Way::naive ? std::max<std::int64_t>(scale.rounds / 16, 16) : scale.rounds);
      const auto took = message_latency(**rig, direction, way, rounds);
      if (!took) return took.error();
      by_way[way].push_back(*took);
    }
  }
  const std::map<std::string, Parameter> params{
      {"devices", devices}, {"bytes", std::int64_t{8}}, {"rounds", scale.rounds}};
  ClaimRow bare;
  bare.name = std::string("latency_flag_") + direction.name;
  bare.params = params;
  bare.value = median(flag);
  bare.unit = "us";
  claim.add(bare);
  for (const auto& [way, took] : by_way) {
    ClaimRow row;
    row.name = row_name("latency", direction, way);
    row.params = params;
    row.value = median(took);
    row.unit = "us";
    row.compared_to = bare.name;
    row.ratio = row.value / bare.value;
    claim.add(row);
    std::fprintf(stderr, "%s: %.2f us, a flag %.2f\n", row.name.c_str(), row.value, bare.value);
  }
  return wicprof::ok();
}

}  // namespace

int main(int argc, char** argv) {
  Claim claim("channel", "channels: bandwidth, message rate and latency by direction and way", argc, argv);
  const std::string devices = claim.option("devices", "simt:1");
  const std::string only = claim.option("only", "all");  // bandwidth, rate, paths or latency
  const bool gpu = devices.starts_with("cuda");
  const Scale scale = gpu ? Scale{16 << 20, std::int64_t{1} << 30, 512, 65'536, 4'000, 512, 16, 32}
                          : Scale{64 << 10, 1 << 20, 64, 256, 64, 32, 2, 8};
  auto probe = Rig::make(devices);
  if (!probe) {
    std::fprintf(stderr, "channel: %s\n", probe.error().message.c_str());
    return 3;
  }
  std::vector<Direction> directions{{"cpu_gpu", End::cpu(), End::on(0)}, {"gpu_cpu", End::on(0), End::cpu()}};
  if ((*probe)->runtime().device_count() > 1) directions.push_back({"gpu_gpu", End::on(0), End::on(1)});
  probe->reset();
  const auto run = [&](const char* part, auto measure, const Direction& direction) {
    if (only != "all" && only != part) return true;
    const Result<> done = measure(claim, devices, scale, direction);
    if (!done) std::fprintf(stderr, "channel: %s %s: %s\n", part, direction.name, done.error().message.c_str());
    return static_cast<bool>(done);
  };
  bool all = true;
  for (const Direction& direction : directions) {
    all = run("bandwidth", bandwidth, direction) && all;
    all = run("rate", message_rate, direction) && all;
    // A round trip covers both directions, so gpu_cpu would repeat cpu_gpu.
    if (std::string(direction.name) != "gpu_cpu") all = run("latency", latency, direction) && all;
  }
  all = run("paths", paths, directions[0]) && all;
  const int status = claim.write();
  return all ? status : 3;
}
